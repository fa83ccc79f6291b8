// Package readfile reads the files that settings name.
package readfile

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// maxSize is the size in bytes up to which files are read. The authorities that systems trust take about
// 250 KB.
const maxSize = 1 << 20

// Read returns the content and the mode of a regular file of at most 1 MiB. Symbolic links are followed. What
// is no regular file is not opened: a pipe without a writer would hang the start. Errors are of type
// [*fs.PathError].
func Read(path string) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	refused := &fs.PathError{Op: "read", Path: path}
	switch {
	case info.IsDir():
		refused.Err = errors.New("it is a directory, not a file")
	case !info.Mode().IsRegular():
		refused.Err = errors.New("it is a pipe or a device, not a file")
	case info.Size() > maxSize:
		refused.Err = errors.New("it is larger than 1 MiB")
	default:
		content, err := os.ReadFile(path)
		return content, info.Mode(), err
	}
	return nil, 0, refused
}

// Exposed reports whether a file with this mode is open to users other than its owner and group, or lets its
// group change it. Its group may read it: that is how Kubernetes mounts a Secret for a container that is not
// root. Windows has no such modes.
func Exposed(mode fs.FileMode) bool { return runtime.GOOS != "windows" && mode.Perm()&0o027 != 0 }

// Authorities reads the certificates of a PEM file, of which there must be at least one.
func Authorities(path string) (*x509.CertPool, error) {
	text, _, err := Read(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", path)
	}
	return pool, nil
}
