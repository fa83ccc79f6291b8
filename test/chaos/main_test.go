package chaos

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

	"hospital.example/analyze-retry/internal/devpostgres"
)

// binary is the worker under test, built with the points at which a row can break it (internal/faults).
var binary string

// long says that the long form of every row is asked for.
var long = os.Getenv("CHAOS") == "long"

// either is a figure of a row: the one of the short form or that of the long one.
func either(short, inLong int) int {
	if long {
		return inLong
	}
	return short
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "chaos-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "worker")
	if err := buildWorker(); err != nil {
		return 1, err
	}
	code = devpostgres.Main{M: m}.Run()
	return code, errors.Join(stopShared(), goleak.Find(), table.write())
}

func buildWorker() error {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // a first build compiles everything
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-tags", "faults", "-buildvcs=false", "-o", binary, "hospital.example/analyze-retry/cmd/worker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the worker: %w\n%s", err, out)
	}
	return nil
}
