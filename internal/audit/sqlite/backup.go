package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	driver "modernc.org/sqlite"
)

// Backup copies the store at path, as it is at one moment, into a new file that only its owner may read. A worker may be
// writing meanwhile and is not held up. It fails where the target exists, and leaves no half copy behind.
func Backup(ctx context.Context, path, target string) error {
	if err := copyStore(ctx, path, target, false); err != nil {
		return fmt.Errorf("back up the audit store %s into %s: %w", path, target, err)
	}
	return nil
}

// copyStore copies a store of this worker's schema, or also of an older one.
func copyStore(ctx context.Context, path, target string, older bool) error {
	from, err := sql.Open("sqlite", source(path, "ro"))
	if err != nil {
		return err
	}
	if err = checkVersion(ctx, from); err == nil || older && errors.Is(err, errOlderSchema) {
		err = copyTo(ctx, from, target)
	}
	return errors.Join(err, from.Close())
}

// copyTo copies a store into a new file, and leaves none where that fails.
func copyTo(ctx context.Context, from *sql.DB, target string) error {
	file, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(file.Close(), copyInto(ctx, from, target)); err == nil {
		err = oneFile(ctx, target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(target))
	}
	return nil
}

// copyInto copies all pages in one step, which is one reading transaction: what is committed meanwhile is not in the copy.
func copyInto(ctx context.Context, db *sql.DB, target string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		backup, err := c.(interface {
			NewBackup(target string) (*driver.Backup, error)
		}).NewBackup(source(target, "rw", "synchronous(FULL)"))
		if err != nil {
			return err
		}
		more, err := backup.Step(-1)
		if err == nil && more {
			err = errors.New("it did not come to its end")
		}
		return errors.Join(err, backup.Finish())
	})
}

// oneFile makes a copy readable without files next to it, until a worker opens it.
func oneFile(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", source(path, "rw", "synchronous(FULL)"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
	return errors.Join(err, db.Close())
}
