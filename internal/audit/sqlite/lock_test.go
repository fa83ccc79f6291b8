package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

// Without the look behind the links both have the file open, and the chain gets two ends.
func TestAHeldFileIsHeldByAllItsNames(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	link := func(target, name string) string {
		t.Helper()
		name = filepath.Join(other, name)
		must(t, os.Symlink(target, name))
		return name
	}
	path, secret := filepath.Join(home, "audit.db"), audittest.Secret(t)
	byDir := filepath.Join(link(home, "dir"), "audit.db")
	// The first one makes the file.
	for i, first := range []string{byDir, path} {
		s, err := Open(t.Context(), first, secret, Options{Worker: "first"})
		must(t, err)
		if i == 0 {
			link(path, "file.db")
		}
		for _, second := range []string{path, byDir, filepath.Join(other, "file.db")} {
			opened, err := Open(t.Context(), second, secret, Options{Worker: "second"})
			if held, ok := errors.AsType[*audit.HeldError](err); !ok || held.Store != second {
				t.Errorf("%s is open, and %s is opened with %v", first, second, err)
			}
			if err == nil {
				if err := opened.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		must(t, s.Close())
	}
}
