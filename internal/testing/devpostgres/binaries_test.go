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
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheServerIsFoundOutsideThePathAndTheNewestIsTaken(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PATH", root)
	install(t, filepath.Join(root, "9/bin"), "initdb", "postgres")
	want := install(t, filepath.Join(root, "15/bin"), "initdb", "postgres")
	install(t, filepath.Join(root, "16/bin"), "psql") // only a client
	if got, err := findBinaries([]string{filepath.Join(root, "*/bin")}); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestTheServerOfThePathIsTakenFirst(t *testing.T) {
	root := t.TempDir()
	install(t, filepath.Join(root, "16/bin"), "initdb", "postgres")
	want := install(t, filepath.Join(root, "mine"), "initdb", "postgres")
	t.Setenv("PATH", want)
	if got, err := findBinaries([]string{filepath.Join(root, "*/bin")}); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestAMissingServerIsReportedWithThePackageToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := findBinaries(nil); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
}
