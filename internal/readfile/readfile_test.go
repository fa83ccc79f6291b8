package readfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hospital.example/analyze-retry/internal/readfile"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.WriteFile(at("file"), []byte("x"), 0o640), os.Symlink(at("file"), at("link")),
		os.Symlink(at("pipe"), at("link to pipe")), os.Mkdir(at("dir"), 0o700), os.Symlink(at("loop"), at("loop"))); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", at("socket"))
	check.Must(t, err)
	defer listener.Close()
	for path, want := range map[string]string{
		at("file"):         "",
		at("link"):         "",
		at("pipe"):         "it is a pipe, not a regular file",
		at("link to pipe"): "it is a pipe, not a regular file",
		at("socket"):       "no such device or address",
		at("dir"):          "it is a directory, not a regular file",
		at("none"):         "no such file or directory",
		at("loop"):         "too many levels of symbolic links",
		"/dev/zero":        "it is a special file, not a regular file",
		"a\x00b":           "invalid argument",
	} {
		content, mode, err := readfile.Read(path, 10)
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

// A pipe that takes a file's place after the first look must not hang the open.
func TestAnOpenPipeIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	path, next, file, pipe := filepath.Join(dir, "path"), filepath.Join(dir, "next"), filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	check.Must(t, errors.Join(os.WriteFile(file, []byte("x"), 0o600), syscall.Mkfifo(pipe, 0o600), os.Link(file, path)))
	stop, swapped := make(chan struct{}), make(chan error, 1)
	go func() { // something is always at the path
		for {
			select {
			case <-stop:
				swapped <- nil
				return
			default:
			}
			for _, one := range []string{pipe, file} {
				if err := errors.Join(os.Link(one, next), os.Rename(next, path)); err != nil {
					swapped <- err
					return
				}
			}
		}
	}()
	var read, refused int
	for range 20_000 { // a read that waits for the other end of the pipe ends with the test's own time-out
		if _, _, err := readfile.Read(path, 10); err == nil {
			read++
		} else {
			refused++
		}
	}
	close(stop)
	check.Must(t, <-swapped)
	if read == 0 || refused == 0 {
		t.Errorf("%d read, %d refused; want some of both", read, refused)
	}
}

func TestTheSizeIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for size, want := range map[int]string{1 << 20: "", 1<<20 + 1: "it is larger than 1024 KiB"} {
		check.Must(t, os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600))
		content, _, err := readfile.Read(path, readfile.MaxPEM)
		if want == "" && (err != nil || len(content) != size) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes: %d read, %v", size, len(content), err)
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
