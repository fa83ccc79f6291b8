package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"hospital.example/analyze-retry/internal/audit"
)

// place is the database file, held for this process. A commit counts only if the next process opens the same
// files.
type place struct {
	file string // without links; the log lies next to it
	lock *flock.Flock
	made bool // the file was not there
	// open are the files as they were opened, by name.
	open map[string]fs.FileInfo
}

// hold takes the file until release or the process' end, however that comes, and makes it where it is not
// there: empty, for its owner only. It fails with [audit.ErrHeld] where another process has it.
func hold(path string) (*place, error) {
	made, err := private(path)
	if err != nil {
		return nil, err
	}
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	p := &place{file: file, made: made, open: map[string]fs.FileInfo{}}
	p.lock = flock.New(lockName(file), flock.SetPermissions(0o600))
	held, err := p.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the file: %w", err)
	}
	if !held {
		return nil, audit.ErrHeld
	}
	if err := p.note(file); err != nil {
		return nil, errors.Join(err, p.release())
	}
	return p, nil
}

// private makes the file if there is none, and lets only its owner have it and the two next to it. SQLite
// gives those the same mode when it makes them. It makes none next to the log of one that is lost. made
// reports that there was none.
func private(path string) (made bool, err error) {
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		if _, err := os.Stat(path); err != nil {
			return false, fmt.Errorf("there is a write-ahead log (%s-wal) but no store: "+
				"put the store back in its place, or move the log away", path)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		return true, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(file, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}

// note notes the present file of a name.
func (p *place) note(name string) (err error) {
	if p.open[name], err = os.Stat(name); err != nil {
		return err
	}
	return p.check()
}

// check returns an error if what is open is not what the next process would open.
func (p *place) check() error {
	for name, was := range p.open {
		now, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s was moved away or removed while it was in use: "+
				"put it back, or stop this worker and restore (worker audit restore)", name)
		case err != nil:
			return err
		case !os.SameFile(now, was):
			return fmt.Errorf("another file was put in the place of %s while it was in use, "+
				"and is not written to: put the right one back, or restart this worker", name)
		case links(now) > 1:
			return fmt.Errorf("%s has %d names (hard links); "+
				"by another name it would have another log, and one of the two would be lost: "+
				"find them (find / -xdev -samefile %[1]s) and remove all but one", name, links(now))
		}
	}
	return nil
}

// release lets another process have the file, and removes one that was made and got no tables. SQLite must
// have closed it: its own locks end with any descriptor of the file.
func (p *place) release() error {
	if now, err := os.Stat(p.file); err == nil && p.made && now.Size() == 0 {
		_ = os.Remove(p.file) // or it stays, which does no harm
	}
	return p.lock.Close()
}
