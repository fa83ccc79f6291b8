package process

import (
	"context"
	"errors"
	"fmt"
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

func TestStopKillsAProcessThatDoesNotEnd(t *testing.T) {
	for script, byItself := range map[string]bool{
		`echo started; exec sleep 1000`:                           true,
		`trap "" TERM; echo started; while :; do sleep 0.1; done`: false,
	} {
		log := filepath.Join(t.TempDir(), "log")
		started := func(context.Context) bool { return LogTail(log) != "" }
		p, err := Serve(t.Context(), exec.Command("sh", "-c", script), log, started)
		check.Must(t, err)
		grace := 20 * time.Second
		if !byItself {
			grace = 50 * time.Millisecond
		}
		if err := p.Stop(grace); (err == nil) != byItself || p.Alive() {
			t.Errorf("%s: ended by itself: %v, error: %v, alive: %v", script, byItself, err, p.Alive())
		}
		check.Must(t, p.Stop(time.Second)) // it has ended
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
