// Package sqlite keeps the audit records in one SQLite file, for one worker process.
//
// One connection writes, and every transaction is synced to disk before it is reported done (WAL,
// synchronous=FULL). A few connections read at the same time, so that no question holds up a decision.
package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // schema.sql
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
	"hospital.example/analyze-retry/internal/text"
)

// readers is how many questions are answered at the same time.
const readers = 4

// store is the audit store in one file. It is made by [Open] or [OpenReadOnly].
type store struct {
	reading.Reader

	path   string
	read   *sql.DB
	place  *place                    // nil where the store is read-only or closed
	turn   chan struct{}             // holds a token during a write
	writer *writer                   // nil until the first write, and after a failed one
	stored int64                     // the end of the chain at the last commit reported done; these need turn
	rows   atomic.Pointer[claimRows] // as a reader last read them, nil before
}

// Open opens the store for reading and writing, and makes it where it is not there. The file and the two next
// to it are readable for their owner only. key returns the store's key; it is called when the file is held
// for this process, so that of two first starts at once one makes the key, and fresh reports that the store
// has no tables yet.
//
// It fails with [audit.ErrHeld] where another process has the store, or a [*audit.BrokenError] where the last
// record is not the one that the signed head names.
func Open(
	ctx context.Context, path string, key func(fresh bool) (*audit.Secret, error),
) (audit.Store, error) {
	s := unopened(path)
	if err := s.open(ctx, key); err != nil {
		return nil, errors.Join(s.failed(err), s.Close())
	}
	return s, nil
}

func unopened(path string) *store {
	s := &store{path: path, turn: make(chan struct{}, 1)}
	s.Dialect, s.Row, s.Snapshot = dialect, s.row, s.snapshot
	s.Failed = func(_ string, err error) error { return s.failed(err) }
	return s
}

func (s *store) open(ctx context.Context, key func(fresh bool) (*audit.Secret, error)) (err error) {
	if s.place, err = hold(s.path); err != nil {
		return err
	}
	if s.Secret, err = key(s.place.open[s.place.file].Size() == 0); err != nil {
		return err
	}
	if s.writer, err = openWriter(ctx, s.path, s.Secret); err != nil {
		return err
	}
	if err := s.writer.makeTables(ctx); err != nil {
		return err
	}
	// From here on a reader is connected, so that the log stays while the writer is opened anew.
	if err := s.openReader(ctx); err != nil {
		return err
	}
	if err := s.writer.load(ctx); err != nil {
		return err
	}
	s.stored = s.writer.end.Seq
	return s.place.note(s.place.file + "-wal")
}

// OpenReadOnly opens the store for reading, also while a worker writes to it. It takes no lock and changes
// nothing; the methods that write fail. With the store's own secret it sees rows of claims that were changed
// by hand.
func OpenReadOnly(ctx context.Context, path string, secret *audit.Secret) (audit.Store, error) {
	s := unopened(path)
	s.Secret = secret
	_, err := os.Stat(path)
	if err == nil {
		err = s.openReader(ctx)
	}
	if err == nil {
		err = s.Trust(ctx)
	}
	if err != nil {
		return nil, errors.Join(s.failed(err), s.Close())
	}
	return s, nil
}

// tables makes the tables of a store.
//
//go:embed schema.sql
var tables string

// schemaVersion is their version.
const schemaVersion = 10

// openReader opens the connections of the readers, and refuses a store of another version. Each has a cache
// of 256 KiB: the usual 2 MB takes 4.4 in memory and serves no question sooner, as each reads a page once.
func (s *store) openReader(ctx context.Context) (err error) {
	if s.read, err = sql.Open("sqlite", source(s.path, "ro", "cache_size(-256)")); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	s.DB = database{s.read}
	var version int64
	err = s.DB.Read(ctx, reading.One(&version), "SELECT version FROM schema_version")
	if fault, is := errors.AsType[*driver.Error](err); is {
		switch fault.Code() & 0xff {
		case lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY:
			return fmt.Errorf("SQLite must write beside the file in order to read it, and may not: "+
				"copy it, with its -wal if there is one, to a place of your own (%w)", fault)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", text.Messagef("not an audit store, or one that is not complete"), err)
	case version != schemaVersion:
		return audit.WrongSchema(version, schemaVersion)
	}
	return nil
}

// Close ends the use of the store and lets another process have it. A write under way is waited for, without
// end where the disk hangs: the caller puts a bound to that. A store that is not in its place is an error.
func (s *store) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	var errs []error
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.writer != nil { // the last connection, which copies the log into the file
		if err := s.place.check(); err != nil {
			s.writer.keepLog()
			errs = append(errs, err)
		}
		errs = append(errs, s.writer.close())
		s.writer = nil
	}
	if s.place != nil {
		errs = append(errs, s.place.release())
		s.place = nil
	}
	return s.failed(errors.Join(errs...))
}

// write calls do with the writing connection, inside a transaction that is committed if do returns nil. After
// any error the connection is given up: what the file holds is then read anew, and a sync that failed is not
// taken for done when it is asked for again. It fails where the file is not in its place after the
// transaction: what that has stored is then in a file that the next process does not open.
//
// Once begun, a transaction is not interrupted: it takes milliseconds.
func (s *store) write(ctx context.Context, do func(context.Context, *writer) error) (err error) {
	defer func() { err = s.failed(err) }()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.place == nil {
		return errors.New("not open for writing")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if s.writer == nil {
		if err := s.reopen(ctx); err != nil {
			return err
		}
	}
	if err := s.writer.transact(ctx, do); err != nil {
		_ = s.writer.close() // the transaction's error is the cause
		s.writer = nil
		return err
	}
	if err := s.place.check(); err != nil {
		return err
	}
	s.stored = s.writer.end.Seq
	return nil
}

// reopen opens the writer again, and makes sure that all is there that was reported done.
func (s *store) reopen(ctx context.Context) error {
	if err := s.place.check(); err != nil {
		return err
	}
	w, err := openWriter(ctx, s.path, s.Secret)
	if err != nil {
		return err
	}
	if err = w.load(ctx); err == nil && w.end.Seq < s.stored {
		err = fmt.Errorf("what was stored is not in the file any more: it had %d records and has %d: "+
			"stop this worker and restore a backup (worker audit restore)", s.stored, w.end.Seq)
	}
	if err != nil {
		return errors.Join(err, w.close())
	}
	s.writer = w
	return nil
}

// failed says which store an error is about; nil stays nil.
func (s *store) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", text.Messagef("audit store %s", s.path), err)
}

// source is the driver's name for the file, with pragmas such as "synchronous(FULL)".
func source(path, mode string, pragmas ...string) string {
	query := url.Values{
		"mode":                 {mode},
		"_time_integer_format": {"unix_micro"},
		"_pragma":              append(pragmas, "busy_timeout(1000)"),
	}
	file := (&url.URL{Path: path}).EscapedPath()
	return (&url.URL{Scheme: "file", Opaque: file, RawQuery: query.Encode()}).String()
}
