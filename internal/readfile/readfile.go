// Package readfile reads the files that settings name: keys, certificates, secrets, policies. It never waits
// for a file: a pipe without a writer would hang the start.
package readfile

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// MaxPEM is the size in bytes up to which PEM files are read. The authorities that systems trust take about
// 250 KB.
const MaxPEM = 1 << 20

// Read returns the content and the mode of a regular file of at most limit bytes. Symbolic links are
// followed. What is no regular file is refused without being read. Errors are of type [*fs.PathError].
func Read(path string, limit int64) ([]byte, fs.FileMode, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // O_NONBLOCK keeps a pipe from waiting
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	fail := func(problem string) ([]byte, fs.FileMode, error) {
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: errors.New(problem)}
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return fail("it is a " + cmp.Or(kinds[info.Mode().Type()], "special file") + ", not a regular file")
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, 0, err
	}
	if int64(len(content)) > limit {
		return fail(fmt.Sprintf("it is larger than %d KiB", limit>>10))
	}
	return content, info.Mode(), nil
}

var kinds = map[fs.FileMode]string{fs.ModeDir: "directory", fs.ModeNamedPipe: "pipe"}

// Exposed reports whether a file with this mode is open to users other than its owner and group, or lets its
// group change it. Its group may read it: that is how Kubernetes mounts a Secret for a container that is not
// root. Windows has no such modes.
func Exposed(mode fs.FileMode) bool { return runtime.GOOS != "windows" && mode.Perm()&0o027 != 0 }

// Pair reads a certificate and its key, both PEM, as tls.LoadX509KeyPair does.
func Pair(certificatePath, keyPath string) (tls.Certificate, error) {
	certificate, _, err := Read(certificatePath, MaxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, _, err := Read(keyPath, MaxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certificate, key)
}

// Authorities reads the certificates of a PEM file, of which there must be at least one.
func Authorities(path string) (*x509.CertPool, error) {
	text, _, err := Read(path, MaxPEM)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", path)
	}
	return pool, nil
}
