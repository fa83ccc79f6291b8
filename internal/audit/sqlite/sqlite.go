// Package sqlite keeps the audit records in one SQLite file, for one worker process.
//
// One connection writes, and every transaction is synced to disk before it is reported done (WAL, synchronous=FULL).
// A few connections read at the same time, so that no question holds up a decision.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver

	"hospital.example/analyze-retry/internal/audit"
)

// readers is how many questions are answered at the same time.
const readers = 4

// Options are what a store may be given in addition to its path and key. The zero value is of use.
type Options struct {
	// Tenant is the one that a new store is made for. A store of another is refused. Empty for any.
	Tenant string
}

// store is the audit store in one file. It is made by [Open] or [OpenReadOnly].
type store struct {
	path   string
	secret *audit.Secret // nil where the store is read-only

	read    *sql.DB
	place   *place        // nil where the store is read-only
	turn    chan struct{} // holds a token during a write
	writer  *writer       // nil until the first write, and after a failed one
	closed  bool
	stored  int64 // how far the chain was at the last commit that was reported done; these need the turn
	leading atomic.Bool

	rounds, firstFailures, retried *sql.Stmt
}

// Open opens the store for reading and writing, and makes it where it is not there. The file and the two next to it are
// readable for their owner only. It fails with a [*audit.HeldError] where another process has the store, or a
// [*audit.BrokenError] where the last record is not the one that the signed head names.
func Open(ctx context.Context, path string, secret *audit.Secret, o Options) (audit.Store, error) {
	s := &store{path: path, secret: secret, turn: make(chan struct{}, 1)}
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(s.failed(err), s.Close())
	}
	return s, nil
}

func (s *store) open(ctx context.Context, o Options) (err error) {
	if err := private(s.path); err != nil {
		return err
	}
	if s.place, err = hold(s.path); err != nil {
		return err
	}
	if err := makeTables(ctx, s.path); err != nil {
		return err
	}
	if s.read, err = sql.Open("sqlite", source(s.path, "ro")); err != nil {
		return err
	}
	limit(s.read)
	if err := s.checkSmall(ctx); err != nil {
		return err
	}
	if s.writer, err = openWriter(ctx, s.path, s.secret); err != nil {
		return err
	}
	s.stored = s.writer.seq
	if o.Tenant != "" {
		if err := s.writer.settle(ctx, metaTenant, o.Tenant, audit.WrongTenant); err != nil {
			return err
		}
	}
	if err := s.place.note(s.place.file + "-wal"); err != nil {
		return err
	}
	return s.prepare(ctx)
}

// prepare prepares what jobs wait for.
func (s *store) prepare(ctx context.Context) (err error) {
	if s.rounds, err = s.read.PrepareContext(ctx, selectRounds); err == nil {
		s.firstFailures, err = s.read.PrepareContext(ctx, selectFirstFailures)
	}
	if err == nil {
		s.retried, err = s.read.PrepareContext(ctx, selectRetried)
	}
	return err
}

// OpenReadOnly opens the store of a tenant for reading, or of any where that is empty, also while a worker writes to it. It takes no
// lock and changes nothing; the methods that write fail.
func OpenReadOnly(ctx context.Context, path, tenant string) (audit.Store, error) {
	s := &store{path: path, turn: make(chan struct{}, 1)}
	if err := s.openReadOnly(ctx, tenant); err != nil {
		return nil, errors.Join(s.failed(err), s.Close())
	}
	return s, nil
}

func (s *store) openReadOnly(ctx context.Context, tenant string) (err error) {
	if _, err := os.Stat(s.path); err != nil {
		return err
	}
	if s.read, err = sql.Open("sqlite", source(s.path, "ro")); err != nil {
		return err
	}
	limit(s.read)
	if err := checkVersion(ctx, s.read); err != nil {
		return err
	}
	stored, there, err := readMeta(ctx, s.read, metaTenant)
	if err != nil {
		return err
	}
	if there && tenant != "" && stored != tenant {
		return audit.WrongTenant(stored, tenant)
	}
	return s.prepare(ctx)
}

// Close ends the use of the store and lets another process have it. A write under way is waited for, without end where the
// disk hangs: the caller puts a bound to that. A store that is not in its place is an error.
func (s *store) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, question := range []*sql.Stmt{s.rounds, s.firstFailures, s.retried} {
		if question != nil {
			errs = append(errs, question.Close())
		}
	}
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
	}
	return s.failed(errors.Join(errs...))
}

// write calls do with the writing connection, inside a transaction that is committed if do returns nil. After any error
// the connection is given up: what the file holds is then read anew, and a sync that failed is not taken for done when
// it is asked for again.
//
// Once begun, a transaction is not interrupted: it takes milliseconds.
func (s *store) write(ctx context.Context, do func(context.Context, *writer) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return s.failed(ctx.Err())
	}
	if s.secret == nil || s.closed {
		return s.failed(errors.New("not open for writing"))
	}
	if err := ctx.Err(); err != nil {
		return s.failed(err)
	}
	return s.failed(s.commit(context.WithoutCancel(ctx), do))
}

// commit is write; the caller must have the turn. It fails where the file is not in its place after the transaction: what that has
// stored is then in a file that the next process does not open.
func (s *store) commit(ctx context.Context, do func(context.Context, *writer) error) (err error) {
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
	s.stored = s.writer.seq
	return nil
}

// reopen opens the writer again, and makes sure that all is there that was reported done.
func (s *store) reopen(ctx context.Context) error {
	if err := s.place.check(); err != nil {
		return err
	}
	w, err := openWriter(ctx, s.path, s.secret)
	if err != nil {
		return err
	}
	if w.seq < s.stored {
		return errors.Join(fmt.Errorf("what was stored is not in the file any more: it had %d records and has %d: stop this worker and restore a backup (worker audit restore)",
			s.stored, w.seq), w.close())
	}
	s.writer = w
	return nil
}

// failed says which store an error is about. A [*audit.HeldError] names the file itself; nil stays nil.
func (s *store) failed(err error) error {
	if _, held := errors.AsType[*audit.HeldError](err); held || err == nil {
		return err
	}
	return fmt.Errorf("audit store %s: %w", s.path, err)
}

// private makes the file if there is none, and lets only its owner have it and the two next to it. SQLite gives those
// the same mode when it makes them. It makes none next to the log of one that is lost.
func private(path string) error {
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("there is a write-ahead log (%s-wal) but no store: put the store back in its place, or move the log away", path)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(file, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// source is the driver's name for the file.
func source(path, mode string, pragmas ...string) string {
	query := url.Values{"mode": {mode}, "_pragma": append([]string{"busy_timeout(1000)"}, pragmas...)}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}).String()
}

// limit bounds the readers.
func limit(db *sql.DB) {
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
}
