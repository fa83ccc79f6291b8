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
	// Worker is the name under which the holder of the file is shown to a process that is refused.
	Worker string
	// Tenant is the one that a new store is made for. A store of another is refused. Empty for any.
	Tenant string
	// Signed are heads that the key is known to have signed. A store without these records is not opened, nor made.
	Signed []audit.Head
	// NewTrail opens it all the same, and also where the process before has left such a head behind.
	NewTrail bool
}

// store is the audit store in one file. It is made by [Open] or [OpenReadOnly].
type store struct {
	path   string
	secret *audit.Secret // nil where the store is read-only

	read    *sql.DB
	hold    *hold
	place   *place        // this and hold are nil where the store is read-only
	turn    chan struct{} // holds a token during a write
	writer  *writer       // nil until the first write, and after a failed one
	opened  bool
	closed  bool // these need the turn
	leading atomic.Bool

	rounds, firstFailures, retried *sql.Stmt

	// acknowledged is the head of the last commit that was reported done, rescued that the log of a file that is not in
	// its place was brought into the file. Both need the turn.
	acknowledged audit.Head
	rescued      bool
}

// Open opens the store for reading and writing, and makes it where it is not there. The file and the two next to it are
// readable for their owner only. It fails with a [*audit.HeldError] where another process has the store, a
// [*audit.MissingError] where the key has signed records that the store does not have, or a [*audit.BrokenError] where the
// last record is not the one that the signed head names.
func Open(ctx context.Context, path string, secret *audit.Secret, o Options) (audit.Store, error) {
	h, err := holdFile(path, o.Worker)
	if err != nil {
		return nil, err
	}
	s := &store{path: path, secret: secret, hold: h, turn: make(chan struct{}, 1)}
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(s.failed(err), s.Close())
	}
	s.opened = true
	return s, nil
}

func (s *store) open(ctx context.Context, o Options) (err error) {
	var signed []audit.Head
	if !o.NewTrail {
		if signed = o.Signed; s.secret.Public().CheckHead(s.hold.lastHead) {
			signed = audit.Latest(signed, s.hold.lastHead)
		}
	}
	if err := s.refuseLost(signed, o.NewTrail); err != nil {
		return err
	}
	if err := private(s.path); err != nil {
		return err
	}
	if s.place, err = newPlace(s.path, s.hold.file); err != nil {
		return err
	}
	if err := makeTables(ctx, s.path); err != nil {
		return err
	}
	if s.read, err = s.place.pool("ro"); err != nil {
		return err
	}
	limit(s.read)
	if err := s.checkSmall(ctx); err != nil {
		return err
	}
	if s.writer, err = openWriter(ctx, s.place, s.secret); err != nil {
		return err
	}
	if o.Tenant != "" {
		if err := s.writer.settle(ctx, metaTenant, o.Tenant, audit.WrongTenant); err != nil {
			return err
		}
	}
	if err := errors.Join(audit.Compare(ctx, s, signed), s.place.settle()); err != nil {
		return err
	}
	s.acknowledged = s.writer.head
	return s.prepare(ctx)
}

// refuseLost refuses to make a store where there was one, and to open a file that is itself a mount.
func (s *store) refuseLost(signed []audit.Head, newTrail bool) error {
	if isMountPoint(s.hold.file) {
		return errors.New("the file is a mount of its own: mount its directory instead, because SQLite's log lies next to it, and would not be kept where the file is")
	}
	if info, err := os.Stat(s.path); err == nil && info.Size() > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := (audit.State{Heads: signed}).Missing(nil); err != nil {
		return err
	}
	if log, err := os.Stat(s.hold.file + "-wal"); err == nil && log.Size() > 0 && !newTrail {
		return fmt.Errorf("there is a write-ahead log (%s-wal) but no store: put the store back in its place, or move the log away", s.hold.file)
	}
	return nil
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
	stray, inOrder := false, s.opened && s.writer != nil // without a writer nobody knows what the file has
	if s.place != nil && s.opened {
		err := s.stayInPlace(context.Background())
		stray, errs = err != nil, append(errs, err)
	}
	if s.writer != nil && stray { // while the readers are there: the last connection tidies up by name
		s.writer.keepLog()
		errs = append(errs, s.writer.close())
		s.writer = nil
	}
	for _, question := range []*sql.Stmt{s.rounds, s.firstFailures, s.retried} {
		if question != nil {
			errs = append(errs, question.Close())
		}
	}
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
		s.writer = nil
	}
	if s.place != nil { // not before SQLite has closed it
		errs = append(errs, s.place.open.Close())
	}
	if s.hold != nil {
		errs = append(errs, s.hold.release(inOrder && !stray))
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

// commit is write; the caller must have the turn. It fails where the file is not in its place, before the transaction or after it:
// what it has stored is then in a file that the next process does not open.
func (s *store) commit(ctx context.Context, do func(context.Context, *writer) error) error {
	if s.writer != nil {
		if err := s.stayInPlace(ctx); err != nil {
			return err
		}
	}
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
	if err := s.stayInPlace(ctx); err != nil {
		return err
	}
	if s.acknowledged.Seq != s.writer.seq {
		s.acknowledged = s.writer.head
		s.hold.note(s.acknowledged)
	}
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

// limit bounds the readers.
func limit(db *sql.DB) {
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
}
