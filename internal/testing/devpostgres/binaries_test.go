package devpostgres

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// install makes empty programs in a directory of that name and returns it.
func install(t *testing.T, dir string, programs ...string) string {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	for _, name := range programs {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	return dir
}

func TestTheServerOfThePathIsTakenFirst(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PATH", root)
	patterns := []string{filepath.Join(root, "*/bin")}
	if _, err := findBinaries(patterns); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("where none is installed: %v", err)
	}
	install(t, filepath.Join(root, "9/bin"), "initdb", "postgres")
	newest := install(t, filepath.Join(root, "15/bin"), "initdb", "postgres")
	install(t, filepath.Join(root, "16/bin"), "psql") // only a client
	if got, err := findBinaries(patterns); err != nil || got != newest {
		t.Errorf("got %q, %v, want %q", got, err, newest)
	}
	mine := install(t, filepath.Join(root, "mine"), "initdb", "postgres")
	t.Setenv("PATH", mine)
	if got, err := findBinaries(patterns); err != nil || got != mine {
		t.Errorf("got %q, %v, want %q", got, err, mine)
	}
}
