//go:build servers

package devqueue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
)

const parentVariable = "DEVQUEUE_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parentVariable) != "" {
		beParent()
	}
	goleak.VerifyTestMain(m)
}

func start(t *testing.T) *Server {
	t.Helper()
	s, err := StartRabbitMQ(t.Context())
	check.Must(t, err)
	t.Cleanup(func() {
		check.Must(t, s.Close())
		if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
			t.Errorf("the server's directory is left behind: %v", err)
		}
	})
	return s
}

func TestRabbitMQLetsNoStrangerIn(t *testing.T) {
	s := start(t)
	if s.answers(t.Context(), strings.Replace(s.URL(), s.password, "wrong", 1)) {
		t.Error("without the password it answers")
	}
}

func TestRabbitMQIsStoppedInOrderAndStartedAgain(t *testing.T) {
	s := start(t)
	before := time.Now()
	check.Must(t, s.Stop())
	if time.Since(before) >= stopGrace {
		t.Error("it had to be killed")
	}
	check.Must(t, s.Stop())
	check.Must(t, s.Restart(t.Context()))
	if !s.answers(t.Context(), s.URL()) {
		t.Error("it does not answer")
	}
}

func TestAMissingRabbitMQNamesThePackageToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := findRabbitMQ(t.TempDir()); !errors.Is(err, ErrNoRabbitMQ) {
		t.Errorf("got %v", err)
	}
}

// beParent is what the test binary does when the test below runs it: it starts a server and waits to be killed.
func beParent() {
	s, err := StartRabbitMQ(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, s.dir, s.PID(), s.companion.PID())
	select {}
}

func TestAServerDiesWithATestProcessThatIsKilled(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"=yes")
	out, err := parent.StdoutPipe()
	check.Must(t, err)
	check.Must(t, parent.Start())
	var dir string
	var server, companion int
	if _, err := fmt.Fscanln(bufio.NewReader(out), &dir, &server, &companion); err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	defer os.RemoveAll(dir)
	check.Must(t, parent.Process.Kill())
	_ = parent.Wait()
	awaitGone(t, server)
	awaitGone(t, companion)
}

// awaitGone waits until a process that is not our child runs no more. A dead one has no command line.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	check.Await(t, fmt.Sprintf("process %d ends", pid), func() bool {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err != nil || len(raw) == 0
	})
}
