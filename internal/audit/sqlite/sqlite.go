// Package sqlite keeps the audit records in one SQLite file, for one worker process.
//
// One connection writes, and every transaction is synced to disk before it is reported done (WAL, synchronous=FULL).
// A few connections read beside it, so that no question holds up a decision.
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
	"time"

	"github.com/gofrs/flock"
	_ "modernc.org/sqlite" // the driver

	"hospital.example/analyze-retry/internal/audit"
)

// readers is how many questions are answered at the same time.
const readers = 4

// Options are what a store may be given beside its path and key. The zero value is of use.
type Options struct {
	// Worker is the name under which the holder of the file is shown to whoever is refused.
	Worker string
}

// Store is the audit store in one file. It is made by [Open] or [OpenReadOnly].
type Store struct {
	path   string
	secret *audit.Secret // nil where the store is read-only

	read    *sql.DB
	lock    *flock.Flock
	turn    chan struct{} // holds a token while somebody writes
	writer  *writer       // nil until the first write, and after a failed one
	closed  bool          // both are for whoever has the turn
	leading atomic.Bool
	noted   atomic.Bool // there may be deaths to be ended by an Append
	died    bool        // the process before this one has not closed the store

	rounds, firstFailures *sql.Stmt
}

var _ audit.Store = (*Store)(nil)

// Open opens the store for reading and writing, and makes or migrates it as needed. The file and the two beside it are
// readable for their owner only. It fails with a [*audit.HeldError] where another process has the store, a
// [*audit.NewerSchemaError], a [*audit.WrongKeyError], or a [*audit.BrokenError] where the last record is not the one
// that the signed head names.
func Open(ctx context.Context, path string, secret *audit.Secret, o Options) (*Store, error) {
	lock, err := hold(path, o.Worker)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, secret: secret, lock: lock, turn: make(chan struct{}, 1)}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := private(s.path); err != nil {
		return s.failed(err)
	}
	if err := migrate(ctx, s.path); err != nil {
		return s.failed(err)
	}
	s.read = openReaders(s.path)
	if err := s.checkSmall(ctx); err != nil {
		return err
	}
	w, err := openWriter(ctx, s.path, s.secret)
	if err != nil {
		return s.failed(err)
	}
	s.writer = w
	if err := s.begin(ctx, w); err != nil {
		return s.failed(err)
	}
	return s.prepare(ctx)
}

// prepare prepares what jobs wait for.
func (s *Store) prepare(ctx context.Context) (err error) {
	if s.rounds, err = s.read.PrepareContext(ctx, selectRounds); err != nil {
		return s.failed(err)
	}
	if s.firstFailures, err = s.read.PrepareContext(ctx, selectFirstFailures); err != nil {
		return s.failed(err)
	}
	return nil
}

// OpenReadOnly opens a store for reading, also while a worker writes to it. It takes no lock and changes nothing; the
// methods that write fail.
func OpenReadOnly(ctx context.Context, path string) (*Store, error) {
	s := &Store{path: path, turn: make(chan struct{}, 1)}
	if _, err := os.Stat(path); err != nil {
		return nil, s.failed(err)
	}
	s.read = openReaders(path)
	if err := checkVersion(ctx, s.read); err != nil {
		return nil, errors.Join(s.failed(err), s.Close())
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the use of the store and lets another process have it. A write under way is waited for, without end where the
// disk hangs: whoever stops puts a bound to that.
func (s *Store) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	var errs []error
	for _, question := range []*sql.Stmt{s.rounds, s.firstFailures} {
		if question != nil && !s.closed {
			errs = append(errs, question.Close())
		}
	}
	if s.read != nil && !s.closed {
		errs = append(errs, s.read.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.exec(context.Background(), clearRunning), s.writer.close())
		s.writer = nil
	}
	if s.lock != nil && !s.closed {
		errs = append(errs, release(s.lock))
	}
	s.closed = true
	if err := errors.Join(errs...); err != nil {
		return s.failed(err)
	}
	return nil
}

// write calls do with the writing connection, inside a transaction that is committed if do returns nil. After any error
// the connection is given up: what the file holds is then read anew, and a sync that failed is not taken for done when
// it is asked for again.
//
// Once begun, a transaction is not interrupted: it takes milliseconds.
func (s *Store) write(ctx context.Context, do func(context.Context, *writer) error) error {
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
	ctx = context.WithoutCancel(ctx)
	if s.writer == nil {
		w, err := openWriter(ctx, s.path, s.secret)
		if err != nil {
			return s.failed(err)
		}
		s.writer = w
	}
	if err := s.writer.transact(ctx, do); err != nil {
		_ = s.writer.close() // the transaction's error is the one that tells something
		s.writer = nil
		return s.failed(err)
	}
	return nil
}

// Probe tells whether the store takes writes, by making one.
func (s *Store) Probe(ctx context.Context) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, "INSERT OR REPLACE INTO meta (name, value) VALUES ('probe', ?)", time.Now().UTC().Format(time.RFC3339Nano))
		return err
	})
}

func (s *Store) failed(err error) error { return fmt.Errorf("audit store %s: %w", s.path, err) }

// private makes the file if there is none, and lets only its owner have it and the two beside it. SQLite gives those
// the same mode when it makes them.
func private(path string) error {
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

func openReaders(path string) *sql.DB {
	db, err := sql.Open("sqlite", source(path, "ro"))
	if err != nil {
		panic(err) // only where there is no such driver
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return db
}
