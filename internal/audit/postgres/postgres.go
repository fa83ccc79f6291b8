// Package postgres is the audit store on PostgreSQL, for several workers at once. It needs PostgreSQL 13 or newer.
//
// Everything it has is in the schema analyze_retry. The worker needs no more than the role that deploy/postgres makes:
// that one can add records and read them, and can neither change nor remove any.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hospital.example/analyze-retry/internal/audit"
)

// chains is how many the schema makes.
const chains = 4

// store is an [audit.Store] on PostgreSQL. It is made by [Open] or [OpenReadOnly] and safe for use by several
// goroutines. It outlives its connections: after a restart of the server it goes on by itself.
type store struct {
	pool   *pgxpool.Pool
	secret *audit.Secret // nil where the store is read-only
	name   string        // the server and the database, for errors
	heads  sync.Map      // the heads that this store wrote last, by chain

	publishing sync.Mutex
	leader     *pgx.Conn // holds the lock of the one who publishes; nil while we do not lead
}

// Open opens the store at a URL (postgres://user:password@host:port/database) for reading and writing. An empty
// database gets its tables, if the role may do that, for this tenant, or for any where that is empty. Without sslmode
// in the URL a server on another machine must prove itself by TLS.
//
// It refuses a store of another version, key or tenant. No error of this package holds a password.
func Open(ctx context.Context, url string, secret *audit.Secret, tenant string) (audit.Store, error) {
	config, err := parse(url, secret == nil)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("audit store: %w", err)
	}
	conn := config.ConnConfig
	s := &store{
		pool: pool, secret: secret,
		name: "postgres://" + net.JoinHostPort(conn.Host, strconv.Itoa(int(conn.Port))) + "/" + conn.Database,
	}
	if err := s.prepare(ctx, url, tenant); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("audit store %s: %w", s.name, err)
	}
	return s, nil
}

// OpenReadOnly opens the store of a tenant for questions only, or of any where that is empty: it changes nothing, needs no key, and
// every write fails. A role that may only read is enough.
func OpenReadOnly(ctx context.Context, url, tenant string) (audit.Store, error) {
	return Open(ctx, url, nil, tenant)
}

// prepare makes the tables where there are none, and settles key and tenant.
func (s *store) prepare(ctx context.Context, url, tenant string) error {
	version, err := versionOf(ctx, s.pool)
	if err == nil && version == 0 && s.secret != nil {
		version, err = schemaVersion, Migrate(ctx, url)
	}
	if code := sqlstate(err); code == noPrivilege || code == noSchema {
		version, err = 0, nil
	}
	if err == nil {
		err = checkVersion(version)
	}
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		made := false
		if s.secret != nil {
			made, err = s.settle(ctx, tx, "key", s.secret.Public().ID(), audit.WrongKey)
		}
		for n := 1; err == nil && made && n <= chains; n++ {
			head := s.secret.Head(audit.NewChain(n), time.Now())
			_, err = tx.Exec(ctx, setHead+" AND signature = ''", head.Chain, head.Seq, head.Hash[:], head.At, head.Signature)
		}
		if err == nil && tenant != "" {
			_, err = s.settle(ctx, tx, "tenant", tenant, audit.WrongTenant)
		}
		return err
	})
}

// settle notes what a new store is made with, or compares it with that of an old one. A store to be read is never new.
func (s *store) settle(ctx context.Context, tx pgx.Tx, name, given string, wrong func(store, given string) error) (made bool, err error) {
	if s.secret != nil {
		noted, err := tx.Exec(ctx, "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, given)
		if err != nil || noted.RowsAffected() > 0 {
			return true, err
		}
	}
	var stored string
	err = tx.QueryRow(ctx, "SELECT value FROM meta WHERE name = $1", name).Scan(&stored)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err == nil && stored != given:
		err = wrong(stored, given)
	}
	return false, err
}

// poolTimeout is how long Close waits for the pool. That waits for 15 s itself for the end of a connection whose query was
// given up, which never comes if the connection is half-open.
const poolTimeout = 2 * time.Second

// Close ends all connections. It waits for those in use, up to poolTimeout. The server ends what is left.
func (s *store) Close() error {
	closed := make(chan struct{})
	go func() {
		s.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(poolTimeout):
	}
	return nil
}

// wrap says which store an error is about and what was being done, and sees to it that the other connections of a
// server that has gone are not tried one by one.
func (s *store) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	if own, ok := errors.AsType[ownError](err); ok {
		return own.error
	}
	switch sqlstate(err) {
	case "", readOnlyTransaction, adminShutdown, crashShutdown:
		s.pool.Reset()
	}
	return fmt.Errorf("audit store %s: %s: %w", s.name, doing, err)
}

// ownError is an error that the store returns as it is: of a visit, or one that its users know.
type ownError struct{ error }

func own(err error) error {
	if err == nil {
		return nil
	}
	return ownError{err}
}

// The SQLSTATEs that mean something to us.
const (
	readOnlyTransaction = "25006" // after a failover, on what is a standby now
	noSchema            = "3F000" // none of the search_path may be used
	noPrivilege         = "42501"
	adminShutdown       = "57P01"
	crashShutdown       = "57P02"
)

// sqlstate is the code with which the server refused, "" where it was not the server.
func sqlstate(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code
	}
	return ""
}
