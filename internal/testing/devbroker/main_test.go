package devbroker

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// onlyPrograms makes these shell scripts, by name, the only programs on the PATH besides a few of the system's.
func onlyPrograms(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range []string{"sh", "cat", "cp", "mkdir", "sleep", "tar", "gzip"} {
		for _, from := range []string{"/bin/", "/usr/bin/"} {
			if _, err := os.Stat(from + tool); err == nil {
				check.Must(t, os.Symlink(from+tool, filepath.Join(dir, tool)))
				break
			}
		}
	}
	for name, script := range scripts {
		program(t, filepath.Join(dir, name), script)
	}
	t.Setenv("PATH", dir)
	t.Setenv("JAVA_HOME", "")
}

// program writes an executable shell script.
func program(t *testing.T, path, script string) {
	t.Helper()
	check.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	check.Must(t, err)
	return string(raw)
}
