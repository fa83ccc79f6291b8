package devbroker

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tarball writes a tar.gz with one file, or with whatever else the header says.
func tarball(t *testing.T, header tar.Header, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive.tar.gz")
	file, err := os.Create(path)
	must(t, err)
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	header.Size = int64(len(content))
	must(t, archive.WriteHeader(&header))
	_, err = archive.Write([]byte(content))
	must(t, errors.Join(err, archive.Close(), zipped.Close(), file.Close()))
	return path
}

func TestUnpackingKeepsContentAndTheExecutableBit(t *testing.T) {
	dir := t.TempDir()
	must(t, untar(tarball(t, tar.Header{Name: "a/b/run", Mode: 0o755}, "hello"), dir))
	if got := read(t, filepath.Join(dir, "a/b/run")); got != "hello" {
		t.Errorf("content %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, "a/b/run")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
}

func TestAnArchiveThatLeadsOutOfItsDirectoryIsRefused(t *testing.T) {
	for _, name := range []string{"../out", "a/../../out", "/out"} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "dir")
			zipped := filepath.Join(t.TempDir(), "archive.zip")
			file, err := os.Create(zipped)
			must(t, err)
			archive := zip.NewWriter(file)
			_, err = archive.Create(name)
			must(t, errors.Join(err, archive.Close(), file.Close()))

			for what, err := range map[string]error{
				"tar": untar(tarball(t, tar.Header{Name: name, Mode: 0o644}, "x"), dir),
				"zip": unzip(zipped, dir),
			} {
				if err == nil || !strings.Contains(err.Error(), "leads out") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(parent, "*")); len(left) > 0 {
				t.Errorf("written: %v", left)
			}
		})
	}
}

func TestALinkInAnArchiveIsRefused(t *testing.T) {
	dir := t.TempDir()
	err := untar(tarball(t, tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, ""), dir)
	if err == nil || !strings.Contains(err.Error(), "neither a file nor a folder") {
		t.Errorf("got %v", err)
	}
}

func TestAFileWithAnotherChecksumIsRefusedAndRemoved(t *testing.T) {
	const shaOfHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "hello")
	must(t, verify(path, shaOfHello))
	write(t, path, "Hello")
	err := verify(path, shaOfHello)
	if !errors.Is(err, errChecksum) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there (%v)", err)
	}
}
