package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/devbroker"
)

// What all tests share: the worker's binary, the directory of its logs, and the broker of the ordinary cases.
var (
	binary string
	logs   string
	shared *broker
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

// run brings up what the tests share. Whatever is missing is an error: a suite that is skipped proves nothing.
func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // a first run fetches the broker
	defer cancel()
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary, logs = filepath.Join(dir, "worker"), dir
	if err := buildWorker(ctx); err != nil {
		return 1, err
	}
	if shared, err = startBroker(ctx, devbroker.Options{Records: true}); err != nil {
		return 1, err
	}
	code = m.Run()
	return code, errors.Join(shared.stop(), findInLogs("panic", "DATA RACE"), goleak.Find())
}

func buildWorker(ctx context.Context) error {
	build := exec.CommandContext(ctx, "go", "build", "-race", "-buildvcs=false", "-o", binary, "hospital.example/analyze-retry/cmd/worker")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the worker (the race detector needs a C compiler): %w\n%s", err, out)
	}
	return nil
}

// findInLogs fails where a worker of any test wrote one of the words.
func findInLogs(words ...string) error {
	files, err := filepath.Glob(filepath.Join(logs, "*.log"))
	for _, file := range files {
		err = errors.Join(err, findInLog(file, words))
	}
	return err
}
