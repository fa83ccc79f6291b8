package devpostgres

import (
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// programs makes a directory with executable files.
func programs(t *testing.T, dir string, names ...string) string {
	t.Helper()
	check.Must(t, os.MkdirAll(dir, 0o755))
	for _, name := range names {
		check.Must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	return dir
}

func TestTheServerOfThePathComesFirst(t *testing.T) {
	root := t.TempDir()
	newest := programs(t, root+"/18/bin", "initdb", "postgres")
	programs(t, root+"/9/bin", "initdb", "postgres")
	programs(t, root+"/19/bin", "initdb") // the clients alone
	mine := programs(t, root+"/mine", "initdb", "postgres")
	links := programs(t, root+"/links")
	check.Must(t, os.Symlink(mine+"/initdb", links+"/initdb"))
	for _, c := range []struct{ path, pattern, want string }{
		{links, root + "/*/bin", mine},
		{root, root + "/*/bin", newest},
		{root, root + "/19/bin", ""},
	} {
		t.Setenv("PATH", c.path)
		if got, err := installed([]string{c.pattern}); got != c.want || err != nil {
			t.Errorf("with PATH %s: %q, %v; want %q", c.path, got, err, c.want)
		}
	}
}
