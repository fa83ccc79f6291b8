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

// What all tests share: the worker's binary and the directory of its logs.
var binary, logs string

// lanes run two tests at a time. Most use the broker of their lane and move its clock; those that start one of their own count
// as busy.
var lanes = suite.NewLanes(2, func() (*broker, error) {
	return startBroker(context.Background(), devbroker.Options{Records: true})
})

func TestMain(m *testing.M) {
	os.Exit(suite.Run("e2e", func(dir string) (int, error) {
		binary, logs = filepath.Join(dir, "worker"), dir
		if err := buildWorker(); err != nil {
			return 1, err
		}
		code := m.Run()
		return code, errors.Join(lanes.Close(), findInLogs("panic", "DATA RACE"), goleak.Find())
	}))
}

func buildWorker() error {
	ctx, cancel := context.WithTimeout(context.Background(), suite.SetupTimeout)
	defer cancel()
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
