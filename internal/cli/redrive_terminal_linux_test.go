package cli_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// terminal makes the test's standard input and error a terminal, and returns the other side of it.
func terminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	ask := func(request uintptr, value *int32) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	var locked, number int32
	ask(syscall.TIOCSPTLCK, &locked)
	ask(syscall.TIOCGPTN, &number)
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	before := os.Stdin
	t.Cleanup(func() { os.Stdin = before })
	os.Stdin = slave
	return master
}

func TestAtATerminalNothingIsSentBeforeSomebodyHasSaidYes(t *testing.T) {
	for said, want := range map[string]int{"yes": 2, "y": 0, "": 0, "no": 0} {
		h := openHospital(t)
		keyboard := terminal(t)
		if _, err := keyboard.WriteString(said + "\n"); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := h.redrive(t, "--class", "UNKNOWN")
		if n := len(h.messages()); n != want || (code == 0) != (want > 0) {
			t.Errorf("%q: sent %d messages, want %d; exit code %d", said, n, want, code)
		}
		if !strings.HasPrefix(stdout, "STATUS") || !strings.Contains(stderr, "Send 2 claims again now, at most 10/s? Type yes: ") {
			t.Errorf("%q: asked %q, and listed %s", said, stderr, stdout)
		}
		if echo, err := bufio.NewReader(keyboard).ReadString('\n'); err != nil || strings.TrimSpace(echo) != said {
			t.Errorf("the terminal shows %q, %v", echo, err)
		}
	}
}
