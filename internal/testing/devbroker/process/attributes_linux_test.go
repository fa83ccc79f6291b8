package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestOnlyADetachedProcessOutlivesItsParent(t *testing.T) {
	for mode, survives := range map[string]bool{"bound": false, "detached": true} {
		t.Run(mode, func(t *testing.T) {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			parent := exec.Command(os.Args[0])
			parent.Env = append(os.Environ(), "PROCESS_TEST_PARENT="+mode)
			parent.Stdout = write
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			_ = write.Close()
			out := bufio.NewReader(read)
			var child int
			if _, err := fmt.Fscanln(out, &child); err != nil {
				t.Fatalf("the child did not start: %v", err)
			}
			defer func() { _ = syscall.Kill(-child, syscall.SIGKILL) }()
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait()
			patience := 20 * time.Second
			if survives {
				patience = 200 * time.Millisecond
			}
			if err := read.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			// The child holds the other end of the pipe: it is at its end only when the child is.
			if _, err := out.ReadByte(); os.IsTimeout(err) != survives {
				t.Errorf("the child lives: %v, want %v (%v)", os.IsTimeout(err), survives, err)
			}
		})
	}
}
