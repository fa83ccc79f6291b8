package devbroker

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// verify compares a file with its pinned checksum. A file that differs is removed, so that it is not taken for good
// the next time.
func verify(path, sha string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != sha {
		return errors.Join(
			fmt.Errorf("%w: %s has sha256 %s, expected %s; it was removed", errChecksum, filepath.Base(path), got, sha),
			os.Remove(path),
		)
	}
	return nil
}

// untar unpacks a tar.gz below dir.
func untar(path, dir string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	for archive := tar.NewReader(unzipped); ; {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		switch entry.Typeflag {
		case tar.TypeDir:
		case tar.TypeReg:
			if err := writeEntry(dir, entry.Name, entry.FileInfo().Mode(), archive); err != nil {
				return fmt.Errorf("unpack %s: %w", path, err)
			}
		default:
			return fmt.Errorf("unpack %s: %q is neither a file nor a folder", path, entry.Name)
		}
	}
}

// unzip unpacks a zip file (a Python wheel is one) below dir.
func unzip(path, dir string) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer archive.Close()
	for _, entry := range archive.File {
		if entry.FileInfo().IsDir() {
			continue
		}
		content, err := entry.Open()
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		err = errors.Join(writeEntry(dir, entry.Name, entry.Mode(), content), content.Close())
		if err != nil {
			return fmt.Errorf("unpack %s: %w", path, err)
		}
	}
	return nil
}

// writeEntry writes one file of an archive. A name that leads out of dir is refused.
func writeEntry(dir, name string, mode fs.FileMode, content io.Reader) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%q leads out of the archive", name)
	}
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600|mode.Perm()&0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}
