package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) {
	if os.Getenv("PROCESS_TEST_PARENT") != "" {
		beParent()
	}
	goleak.VerifyTestMain(m)
}

// beParent is what the test binary does when the test below runs it: it starts a child and waits to be killed.
func beParent() {
	cmd := exec.Command("sh", "-c", "echo $$; exec sleep 1000")
	cmd.Stdout = os.Stdout
	if _, err := Start(cmd); err != nil {
		fmt.Fprintln(os.Stdout, err)
	}
	select {}
}

// shell is a running shell script. Its output ends when the last process that holds it has ended.
type shell struct {
	*Process
	out *bufio.Reader
}

// start runs a script and returns once it has printed a line.
func start(t *testing.T, script string) shell {
	t.Helper()
	read, write, err := os.Pipe()
	check.Must(t, err)
	t.Cleanup(func() { _ = read.Close() })
	check.Must(t, read.SetReadDeadline(time.Now().Add(20*time.Second)))
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout = write
	p, err := Start(cmd)
	_ = write.Close()
	check.Must(t, err)
	t.Cleanup(func() { _ = p.Kill() })
	s := shell{p, bufio.NewReader(read)}
	if _, err := s.out.ReadString('\n'); err != nil {
		t.Fatalf("the script printed no line: %v", err)
	}
	return s
}

// allGone fails where a process that inherited the script's output still runs.
func (s shell) allGone(t *testing.T) {
	t.Helper()
	if _, err := io.ReadAll(s.out); err != nil {
		t.Errorf("a child still runs: %v", err)
	}
}

func TestStopEndsAProcessAndItsChildren(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		grace    time.Duration
		byItself bool
	}{
		"it listens":        {"sleep 1000 & echo started; wait", 20 * time.Second, true},
		"it does not":       {`trap "" TERM; echo started; while :; do sleep 1000; done`, 50 * time.Millisecond, false},
		"it ends by itself": {"echo started", 20 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, c.script)
			if err := s.Stop(c.grace); (err == nil) != c.byItself {
				t.Fatalf("ended by itself: %v, error: %v", c.byItself, err)
			}
			if s.Alive() {
				t.Error("it counts as alive")
			}
			s.allGone(t)
			check.Must(t, s.Stop(time.Second))
		})
	}
}

func TestServeFailsWithTheEndOfTheLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	never := func(context.Context) bool { return false }
	_, err := Serve(t.Context(), exec.Command("sh", "-c", "echo the disk is full; exit 3"), log, never)
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Serve(ctx, exec.Command("sleep", "1000"), log, never); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := Serve(t.Context(), exec.Command("/no/such/program"), log, never); err == nil {
		t.Error("a program that is missing is no error")
	}
}
