// Package readfile reads the files that settings name: keys, certificates, secrets, policies. It never waits for a file: a
// pipe without a writer would hang the start.
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

// MaxPEM is the size in bytes up to which PEM files are read. The authorities that systems trust take about 250 KB.
const MaxPEM = 1 << 20

// Read returns the content and the mode of a regular file of at most limit bytes. Symbolic links are followed. What is no
// regular file is refused without being read. Errors are of type [*fs.PathError] and say what the file is instead.
func Read(path string, limit int64) ([]byte, fs.FileMode, error) {
	fail := func(err error) ([]byte, fs.FileMode, error) {
		if fault, ok := errors.AsType[*fs.PathError](err); ok {
			err = fault.Err
		}
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	// To open some devices has an effect, so the first look is without opening. The file may be another one by the time it
	// is opened: O_NONBLOCK keeps a pipe from waiting, and the second look is at what is open.
	info, err := os.Stat(path)
	if err == nil {
		err = regular(info.Mode())
	}
	if err != nil {
		return fail(err)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fail(err)
	}
	defer file.Close()
	if info, err = file.Stat(); err == nil {
		err = regular(info.Mode())
	}
	if err != nil {
		return fail(err)
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return fail(err)
	case int64(len(content)) > limit:
		return fail(fmt.Errorf("it is larger than %s", size(limit)))
	}
	return content, info.Mode(), nil
}

// Exposed reports whether a file with this mode is open to users other than its owner and group, or lets its group change
// it. Its group may read it: that is how Kubernetes mounts a Secret for a container that is not root. Windows has no such
// modes.
func Exposed(mode fs.FileMode) bool { return runtime.GOOS != "windows" && mode.Perm()&0o027 != 0 }

// CheckMode returns an error with what to do about a file that is [Exposed], nil for another one.
func CheckMode(path string, mode fs.FileMode) error {
	if !Exposed(mode) {
		return nil
	}
	return fmt.Errorf("the file has mode %04o, so that not only its owner and group can read it, or its group can change it; run: chmod g-w,o= %s", mode.Perm(), path)
}

var kinds = map[fs.FileMode]string{
	fs.ModeDir: "directory", fs.ModeNamedPipe: "pipe", fs.ModeSocket: "socket", fs.ModeDevice: "device", fs.ModeDevice | fs.ModeCharDevice: "device",
}

func regular(mode fs.FileMode) error {
	if mode.IsRegular() {
		return nil
	}
	return fmt.Errorf("it is a %s, not a regular file", cmp.Or(kinds[mode.Type()], "special file"))
}

func size(limit int64) string {
	if limit%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", limit>>20)
	}
	return fmt.Sprintf("%d KiB", limit>>10)
}

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
