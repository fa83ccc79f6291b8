package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/test/suite"
)

// What all tests share: the worker's binary, the directory of its logs, and the broker of the ordinary cases.
var (
	binary string
	logs   string
	shared *broker
)

func TestMain(m *testing.M) {
	os.Exit(suite.Run("e2e", func(dir string) (int, error) { return run(m, dir) }))
}

// run brings up what the tests share. Whatever is missing is an error: a suite that is skipped proves nothing.
func run(m *testing.M, dir string) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), suite.SetupTimeout)
	defer cancel()
	binary, logs = filepath.Join(dir, "worker"), dir
	if err := buildWorker(ctx); err != nil {
		return 1, err
	}
	if shared, err = startBroker(ctx, devbroker.Options{Records: true}); err != nil {
		return 1, err
	}
	code = m.Run()
	return code, errors.Join(shared.Close(), findInLogs("panic", "DATA RACE"), goleak.Find())
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
