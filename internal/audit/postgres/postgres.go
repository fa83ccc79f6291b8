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
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hospital.example/analyze-retry/internal/audit"
)

// store is an [audit.Store] on PostgreSQL. It is made by [Open] or [OpenReadOnly] and safe for use by several
// goroutines. It outlives its connections: after a restart of the server it goes on by itself.
type store struct {
	pool   *pgxpool.Pool
	secret *audit.Secret // nil where the store is read-only
	name   string        // the server and the database, for errors

	mu     sync.Mutex
	heads  map[int]audit.Head // the heads that this store wrote last, by chain
	bad    []int32            // chains that are not extended, because they were tampered with
	leader *leader            // nil while we do not lead
}

// Options are what a store may be given in addition to its address. The zero value is of use.
type Options struct {
	// Worker is the name under which the server's views and logs show us. It defaults to analyze-retry.
	Worker string
	// Tenant is the one that a new store is made for. A store of another is refused. Empty for any.
	Tenant string
}

// Open opens the store at a URL (postgres://user:password@host:port/database) for reading and writing. An empty
// database gets its tables, if the role may do that. Without sslmode in the URL
// a server on another machine must prove itself by TLS.
//
// It refuses a store that a newer worker wrote, or another key. No error of this package holds a password.
func Open(ctx context.Context, url string, secret *audit.Secret, o Options) (audit.Store, error) {
	config, err := parse(url, o, secret == nil)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("audit store: %w", err)
	}
	conn := config.ConnConfig
	s := &store{
		pool: pool, secret: secret, heads: map[int]audit.Head{},
		name: "postgres://" + net.JoinHostPort(conn.Host, strconv.Itoa(int(conn.Port))) + "/" + conn.Database,
	}
	if err := s.prepare(ctx, url, o.Tenant); err != nil {
		pool.Close()
		return nil, fmt.Errorf("audit store %s: %w", s.name, err)
	}
	return s, nil
}

// OpenReadOnly opens the store of a tenant for questions only, or of any where that is empty: it changes nothing, needs no key, and
// every write fails. A role that may only read is enough.
func OpenReadOnly(ctx context.Context, url, tenant string) (audit.Store, error) {
	return Open(ctx, url, nil, Options{Tenant: tenant})
}

// prepare makes the tables where there are none, and compares key and tenant with the store's. Of a store to be read it checks version and
// tenant.
func (s *store) prepare(ctx context.Context, url, tenant string) error {
	version, mayCreate, err := schema(ctx, s.pool)
	if err != nil {
		return err
	}
	if version == 0 && mayCreate && s.secret != nil {
		if err := Migrate(ctx, url); err != nil {
			return err
		}
	} else if err := checkVersion(version); err != nil {
		return err
	}
	if tenant != "" {
		if err := s.settle(ctx, "tenant", tenant, audit.WrongTenant); err != nil {
			return err
		}
	}
	if s.secret == nil {
		return nil
	}
	if err := s.settle(ctx, "key", s.secret.Public().ID(), audit.WrongKey); err != nil {
		return err
	}
	return nil
}

// settle notes what a new store is made with, by its name in meta, and compares that of an old one. A store to be read notes nothing.
func (s *store) settle(ctx context.Context, name, given string, wrong func(store, given string) error) error {
	if s.secret != nil {
		if _, err := s.pool.Exec(ctx, "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, given); err != nil {
			return err
		}
	}
	var stored string
	err := s.pool.QueryRow(ctx, "SELECT value FROM meta WHERE name = $1", name).Scan(&stored)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err == nil && stored != given:
		return wrong(stored, given)
	}
	return err
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

// Probe makes a write: a row that comes and goes in one synced transaction, in the way of nobody. It goes the way of an
// Append, in two round trips too, so that it fails where a pooler in between takes no transaction, and takes the same
// locks, so that it fails where a lock on a table holds those up.
func (s *store) Probe(ctx context.Context) error {
	return s.wrap("probe", s.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		var begin, commit pgx.Batch
		begin.Queue("BEGIN")
		begin.Queue("INSERT INTO records (seq) SELECT 0 WHERE false")
		begin.Queue("INSERT INTO outbox (id) SELECT 0 WHERE false")
		begin.Queue("INSERT INTO unanswered (id) SELECT 0 WHERE false")
		begin.Queue("UPDATE heads SET seq = 0 WHERE false")
		if err := conn.SendBatch(ctx, &begin).Close(); err != nil {
			return err // one that is still in a transaction is closed by its release
		}
		queueWrite(&commit)
		commit.Queue("COMMIT")
		return conn.SendBatch(ctx, &commit).Close()
	}))
}

// queueWrite makes a transaction one that writes, and leaves nothing behind.
func queueWrite(b *pgx.Batch) {
	b.Queue("INSERT INTO probe (at) VALUES (now())")
	b.Queue("DELETE FROM probe")
}

// wrap says which store an error is about and what was being done, and sees to it that the other connections of a
// server that has gone are not tried one by one.
func (s *store) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || slices.Contains(endsSessions, answer.Code) {
		s.pool.Reset()
	}
	return fmt.Errorf("audit store %s: %s: %w", s.name, doing, err)
}

// The SQLSTATEs that mean something to us.
const (
	uniqueViolation      = "23505"
	readOnlyTransaction  = "25006" // after a failover, on what is a standby now
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	noPrivilege          = "42501"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
)

// endsSessions are those after which no connection is worth keeping.
var endsSessions = []string{adminShutdown, crashShutdown, readOnlyTransaction}

// sqlstate is the code with which the server refused, "" where it was not the server.
func sqlstate(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code
	}
	return ""
}
