package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Backup copies the store at path, as it is at one moment, into a new file that only its owner may read. A
// worker may be writing meanwhile and is not held up. It fails where the target exists, and leaves no half
// copy behind.
func Backup(ctx context.Context, path, target string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	from := unopened(path)
	defer from.Close()
	if err := from.openReader(ctx); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	file, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = from.read.ExecContext(ctx, "VACUUM INTO ?", target); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(target))
	}
	return audit.SyncDir(filepath.Dir(target))
}

// Restored is what a restore has found and done.
type Restored struct {
	audit.Verified

	// Aside is where the store is now that was at the path; "" where there was none.
	Aside string
}

// Restore puts a copy of a backup in the place of the store at path, when the copy's trail is found in order.
// The store that was there is moved aside with its log, never removed. It fails with [audit.ErrHeld] next to
// a worker, and with a [*audit.BrokenError] where the backup's trail does not hold; then nothing is changed.
func Restore(ctx context.Context, path, backup string, public audit.Public) (done Restored, err error) {
	file := path
	if is, statErr := os.Stat(path); statErr == nil {
		if of, err := os.Stat(backup); err == nil && os.SameFile(is, of) {
			return done, errors.New("the backup is the store itself")
		}
		p, holdErr := hold(path)
		if holdErr != nil {
			return done, holdErr
		}
		defer func() { err = errors.Join(err, p.release()) }()
		file = p.file
	}
	now := time.Now().UTC().Format("20060102T150405.000000Z")
	fresh, aside := file+".restoring-"+now, file+".before-restore-"+now
	defer os.Remove(fresh) // after the rename there is none
	if err := Backup(ctx, backup, fresh); err != nil {
		return done, err
	}
	s, err := OpenReadOnly(ctx, fresh, nil)
	if err != nil {
		return done, err
	}
	if done.Verified, err = audit.Verify(ctx, s, public, nil); err != nil {
		err = fmt.Errorf("the backup is not in order, and nothing was changed: %w", err)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return done, err
	}
	if err := swap(file, fresh, aside); err != nil {
		return done, err
	}
	if _, err := os.Stat(aside); err == nil {
		done.Aside = aside
	}
	return done, nil
}

// swap moves the store and what lies next to it aside, as far as they are there, and the fresh one in its
// place. The store goes first: after an end in between, a log without its store is refused at the next start,
// and a store without its log is not.
func swap(file, fresh, aside string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(file+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(fresh, file); err != nil {
		return err
	}
	return audit.SyncDir(filepath.Dir(file))
}
