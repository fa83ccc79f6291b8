// Package exhaustive tries the SQLite store at thousands of places: each byte, each moment, each long history. One goroutine
// opens one store after the other, so the race detector would make that ten times slower and find nothing. `make test`
// therefore runs this package without it.
package exhaustive

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/testing/check"
)

// TestMain runs the tests or, with childPath in the environment, the worker whose power is cut.
func TestMain(m *testing.M) {
	path := os.Getenv(childPath)
	if path == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := child(path, os.Getenv(childKey)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func open(t *testing.T, path string, secret *audit.Secret) audit.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, secret, sqlite.Options{Worker: "test"})
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, s.Close()) })
	return s
}

// memoryDir returns a directory that no disk makes slow, if there is one.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "audit-") //nolint:usetesting // t.TempDir is on the disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
