package sqlite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"hospital.example/analyze-retry/internal/audit"
)

// hold takes the store for this process, until release or the process' end, however that comes. The file beside the
// store says who has it.
func hold(path, worker string) (*flock.Flock, error) {
	file, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("audit store %s: its lock: %w", path, err)
	}
	lock := flock.New(file+".lock", flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("audit store %s: its lock: %w", path, err)
	}
	if !held {
		holder, _ := os.ReadFile(lock.Path()) // the message does without it
		return nil, &audit.HeldError{Store: path, Holder: cmp.Or(string(bytes.TrimSpace(holder)), "another process")}
	}
	host, _ := os.Hostname() // likewise
	text := fmt.Sprintf("worker %q, process %d on %s, since %s\n", worker, os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	if err := os.WriteFile(lock.Path(), []byte(text), 0o600); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("audit store %s: its lock: %w", path, err)
	}
	return lock, nil
}

// resolve follows links, or one file would have a lock for each of the names by which it is opened. Of a file that is yet
// to be made it is the directory that may be a link.
func resolve(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// release leaves the file, empty: removing it would let two processes hold two files of that name.
func release(lock *flock.Flock) error {
	_ = os.Truncate(lock.Path(), 0)
	return lock.Close()
}
