package cli_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/testing/check"
)

// terminal makes the test's standard input a terminal, and returns the other side of it.
func terminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	check.Must(t, err)
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
	check.Must(t, err)
	t.Cleanup(func() { _ = slave.Close() })
	before := os.Stdin
	t.Cleanup(func() { os.Stdin = before })
	os.Stdin = slave
	return master
}

func TestBulkRedriveAsksForYes(t *testing.T) {
	for said, want := range map[string]int{"yes": 2, "y": 0, "": 0, "no": 0} {
		h := openHospital(t)
		keyboard := terminal(t)
		if _, err := keyboard.WriteString(said + "\n"); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := h.run(t, ordered("--rule", "unknown")...)
		if n := len(h.messages()); n != want || (code == 0) != (want > 0) {
			t.Errorf("%q: sent %d messages, want %d; exit code %d", said, n, want, code)
		}
		if !strings.HasPrefix(stdout, "STATUS") || !strings.Contains(stderr, "Send 2 claims again, at most 600 a minute? Type yes: ") {
			t.Errorf("%q: asked %q, and listed %s", said, stderr, stdout)
		}
		if echo, err := bufio.NewReader(keyboard).ReadString('\n'); err != nil || strings.TrimSpace(echo) != said {
			t.Errorf("the terminal shows %q, %v", echo, err)
		}
	}
}

// The list is of a moment ago, and an answer takes its time.
func TestClaimIsJudgedAgainBeforeItIsSent(t *testing.T) {
	h := openHospital(t)
	keyboard := terminal(t)
	set(t, h.settings...)
	question, asks := io.Pipe()
	var out bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- cli.RunAt(t.Context(), func() time.Time { return today }, []string{"redrive", "--rule", "unknown", "--reason", "why", "--operator", "maria"}, &out, asks)
		_ = asks.Close()
	}()
	asked := bufio.NewReader(question)
	if text, err := asked.ReadString('?'); err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	accepts := ended{audit.KindSubmitted, late, "2026-01-12T10:00:00Z", 4, 3, "2026-01-12T08:40:00Z"}.record()
	accepts.Cluster, accepts.JobKey = "zeebe", 4711
	h.add(t, h.store, accepts)
	if _, err := keyboard.WriteString("yes\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, asked); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 1 || !strings.Contains(out.String(), "refused      "+late+" invalid_retry_state: the insurer accepted it") {
		t.Errorf("exit code %d, output %s", code, out.String())
	}
	if sent := h.messages(); len(sent) != 1 || sent[0].CorrelationKey != later {
		t.Errorf("sent %v", sent)
	}
}
