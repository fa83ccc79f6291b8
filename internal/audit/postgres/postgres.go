// Package postgres is the audit store on PostgreSQL, for several workers at once. It needs PostgreSQL 13 or
// newer.
//
// Everything it has is in the schema analyze_retry. The worker needs no more than the role that
// deploy/postgres makes: that one can add records and read them, and can neither change nor remove any.
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
	"hospital.example/analyze-retry/internal/audit/reading"
)

// chains is how many the schema makes.
const chains = 4

// store is an [audit.Store] on PostgreSQL. It is made by [Open] or [OpenReadOnly] and safe for use by several
// goroutines. It outlives its connections: after a restart of the server it goes on by itself.
type store struct {
	reading.Reader

	pool  *pgxpool.Pool
	name  string   // the server and the database, for errors
	heads sync.Map // the heads that this store wrote last, by chain
}

// Open opens the store at a URL (postgres://user:password@host:port/database) for reading and writing. An
// empty database gets its tables, if the role may do that. Without sslmode in the URL a server on another
// machine must prove itself by TLS. It refuses a store of another version or key. No error of this package
// holds a password.
func Open(ctx context.Context, url string, secret *audit.Secret) (audit.Store, error) {
	return open(ctx, url, secret, false)
}

// OpenReadOnly opens the store for questions only: it changes nothing, and every write fails. A role that may
// only read is enough. With the store's own secret it sees rows of claims that were changed by hand.
func OpenReadOnly(ctx context.Context, url string, secret *audit.Secret) (audit.Store, error) {
	return open(ctx, url, secret, true)
}

func open(ctx context.Context, url string, secret *audit.Secret, readOnly bool) (audit.Store, error) {
	config, err := parse(url, readOnly)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("audit store: %w", err)
	}
	conn := config.ConnConfig
	server := net.JoinHostPort(conn.Host, strconv.Itoa(int(conn.Port)))
	s := &store{pool: pool, name: "postgres://" + server + "/" + conn.Database}
	s.Reader = reading.Reader{
		DB: database{pool}, Secret: secret, Snapshot: s.snapshot, Failed: s.wrap, Dialect: dialect,
	}
	there, err := hasTables(ctx, s.DB)
	if err == nil && !there && !readOnly {
		there, err = true, Migrate(ctx, url)
	}
	if code := sqlstate(err); code == noPrivilege || code == noSchema || err == nil && !there {
		err = errors.New("its tables are missing, or not open to this role: " +
			"run `worker audit migrate` as the owner (deploy/postgres)")
	}
	if err == nil && !readOnly {
		err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return s.settle(ctx, tx) })
	}
	if err == nil && readOnly {
		err = s.Trust(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("audit store %s: %w", s.name, err)
	}
	return s, nil
}

// settle signs the beginnings of a new store's chains, or compares the key with that of an old one.
func (s *store) settle(ctx context.Context, tx pgx.Tx) error {
	given := s.Secret.Public().ID()
	made, err := tx.Exec(ctx,
		"INSERT INTO meta (name, value) VALUES ('key', $1) ON CONFLICT DO NOTHING", given)
	if err != nil {
		return err
	}
	if made.RowsAffected() == 0 {
		key, err := reading.Meta(ctx, database{tx}, "key")
		if err != nil || key == given {
			return err
		}
		return audit.WrongKey(key, given)
	}
	for n := 1; err == nil && n <= chains; n++ {
		h := s.Secret.Head(audit.Beginning(n), time.Now())
		_, err = tx.Exec(ctx, setHead+" AND signature = ''", h.Chain, h.Seq, h.Hash[:], h.At, h.Signature)
	}
	return err
}

// poolTimeout is how long Close waits for the pool. That waits for 15 s itself for the end of a connection
// whose query was given up, which never comes if the connection is half-open.
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

// wrap says which store an error is about and what was being done. What comes next is tried over a new
// connection: the server may have gone, or be a standby now.
func (s *store) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	s.pool.Reset()
	return fmt.Errorf("audit store %s: %s: %w", s.name, doing, err)
}

// The SQLSTATEs that mean something to us.
const (
	noSchema    = "3F000" // none of the search_path may be used
	noPrivilege = "42501"
)

// sqlstate is the code with which the server refused, "" where it was not the server.
func sqlstate(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code
	}
	return ""
}

// dialect is how the tables are read.
var dialect = reading.Dialect{
	Chains: chains,
	RowKey: "claim_id",
	Row:    func(_ context.Context, _ reading.Database, claimID string) (any, error) { return claimID, nil },
	Alike:  "1, 2, 3, 4, 5, 6, 7",
	Backlog: `SELECT coalesce(sum(heads.seq - published), 0)::bigint, min(records.at)
		FROM outbox JOIN heads USING (chain)
			LEFT JOIN records ON records.chain = outbox.chain AND records.seq = published + 1
		WHERE EXISTS (SELECT FROM meta WHERE name = 'queue')`,
	Expired: `SELECT heads.chain, last.seq, last.hash, last.seq - coalesce(cuts.seq, 0)
		FROM heads LEFT JOIN cuts USING (chain) CROSS JOIN LATERAL (
			SELECT seq, hash FROM records WHERE chain = heads.chain AND seq < coalesce(
				(SELECT seq FROM records WHERE chain = heads.chain AND id >=
					(SELECT id FROM records WHERE at >= $1 ORDER BY id LIMIT 1) ORDER BY seq LIMIT 1),
				heads.seq + 1) ORDER BY seq DESC LIMIT 1
		) AS last ORDER BY chain`,
}

// database is what is asked by pgx.
type database struct {
	asked interface {
		Query(ctx context.Context, query string, arguments ...any) (pgx.Rows, error)
	}
}

func (d database) Read(ctx context.Context, row reading.Row, query string, args ...any) error {
	rows, _ := d.asked.Query(ctx, query, args...) // each returns its error
	return each(row)(rows)
}

// each reads the rows of an answer.
func each(row reading.Row) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, row.Into, row.Each)
		return err
	}
}

// snapshot calls read with the store as it is at one moment, for as long as it takes.
func (s *store) snapshot(ctx context.Context, read func(reading.Database) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.pool, options, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		return read(database{tx})
	})
}
