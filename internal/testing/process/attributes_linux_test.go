package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAProcessDiesWithItsParent(t *testing.T) {
	read, write, err := os.Pipe()
	check.Must(t, err)
	defer read.Close()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "PROCESS_TEST_PARENT=1")
	parent.Stdout = write
	check.Must(t, parent.Start())
	_ = write.Close()
	out := bufio.NewReader(read)
	var child int
	if _, err := fmt.Fscanln(out, &child); err != nil {
		t.Fatalf("the child did not start: %v", err)
	}
	defer func() { _ = syscall.Kill(child, syscall.SIGKILL) }()
	check.Must(t, parent.Process.Kill())
	_ = parent.Wait()
	check.Must(t, read.SetReadDeadline(time.Now().Add(20*time.Second)))
	// The child holds the other end of the pipe: it is at its end only when the child is.
	if _, err := out.ReadByte(); os.IsTimeout(err) {
		t.Error("the child lives")
	}
}
