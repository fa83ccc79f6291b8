package readfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hospital.example/analyze-retry/internal/config/readfile"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	check.Must(t, errors.Join(
		syscall.Mkfifo(at("pipe"), 0o600),
		os.WriteFile(at("file"), []byte("x"), 0o640),
		os.WriteFile(at("large"), []byte(strings.Repeat("x", 1<<20+1)), 0o600),
		os.Symlink(at("file"), at("link")),
	))
	for path, want := range map[string]string{
		at("file"):  "",
		at("link"):  "",
		at("large"): "it is larger than 1 MiB",
		at("pipe"):  "it is a pipe or a device, not a file",
		"/dev/zero": "it is a pipe or a device, not a file",
		dir:         "it is a directory, not a file",
		at("none"):  "no such file or directory",
	} {
		content, mode, err := readfile.Read(path)
		if want == "" {
			if err != nil || string(content) != "x" || mode != 0o640 {
				t.Errorf("%s: %q, mode %v, %v", path, content, mode, err)
			}
			continue
		}
		fault, is := errors.AsType[*fs.PathError](err)
		if !is || fault.Path != path || fault.Err.Error() != want || content != nil {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

func TestFilesOpenToOthersAreExposed(t *testing.T) {
	for mode, want := range map[fs.FileMode]bool{
		0o600: false, 0o640: false, 0o604: true, 0o620: true, 0o601: true, 0o602: true,
	} {
		if got := readfile.Exposed(mode); got != want {
			t.Errorf("%04o: exposed %v", mode, got)
		}
	}
}
