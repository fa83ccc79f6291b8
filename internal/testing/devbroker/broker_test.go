package devbroker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// starts counts the attempts of a start.
func starts(ctx context.Context, dir string) (attempts int, err error) {
	_, err = Start(ctx, Options{Dir: dir, Progress: func(line string) {
		if strings.HasPrefix(line, "starting") {
			attempts++
		}
	}})
	return attempts, err
}

func TestOnlyALostPortIsTriedAgain(t *testing.T) {
	const lost, other = `echo "Address already in use"; exit 1`, `echo "the disk is full"; exit 1`
	for name, c := range map[string]struct {
		log    string // of earlier starts
		script string
		want   int
	}{
		"a lost port each time":              {"", lost, startAttempts},
		"another failure":                    {"", other, 1},
		"another failure after a lost port":  {"", `if mkdir "$0.lost" 2>/dev/null; then ` + lost + `; fi; ` + other, 2},
		"a port that was lost the last time": {"Address already in use\n", other, 1},
	} {
		t.Run(name, func(t *testing.T) {
			fakeDocker(t, c.script)
			dir := t.TempDir()
			check.Must(t, os.WriteFile(filepath.Join(dir, "broker.log"), []byte(c.log), 0o644))
			if got, err := starts(t.Context(), dir); got != c.want || err == nil {
				t.Errorf("%d attempts, want %d: %v", got, c.want, err)
			}
		})
	}
}

func TestAStartThatIsCancelledIsNotTriedAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	logged := filepath.Join(t.TempDir(), "logged")
	check.Must(t, syscall.Mkfifo(logged, 0o600))
	fakeDocker(t, `echo "Address already in use"; echo >"`+logged+`"; exec sleep 1000`)
	go func() {
		_, _ = os.ReadFile(logged) // until the container has written it
		cancel()
	}()
	if got, err := starts(ctx, t.TempDir()); got != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d attempts: %v", got, err)
	}
}
