package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
)

// leadLock is the advisory lock of the process that publishes.
const leadLock = "4097083628"

// Lead implements [audit.Outbox] by a session advisory lock. It is held by a connection of its own, and ends with it:
// when the process dies, the server restarts, or the network is cut and the server notices (half a minute).
func (s *store) Lead(ctx context.Context) (release func(), err error) {
	if s.secret == nil {
		return nil, s.wrap("lead", errReadOnly)
	}
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, s.wrap("lead", err)
	}
	conn := pooled.Hijack()
	var leads bool
	if err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+leadLock+")").Scan(&leads); err == nil && !leads {
		closeConn(conn)
		return nil, audit.ErrNotLeading
	}
	if err == nil {
		_, err = conn.Exec(ctx, "INSERT INTO meta (name, value) VALUES ('queue', now()) ON CONFLICT DO NOTHING")
	}
	if err != nil {
		closeConn(conn)
		return nil, s.wrap("lead", err)
	}
	l := &leader{conn: conn}
	s.lead(l)
	return sync.OnceFunc(func() {
		s.lead(nil)
		l.Lock()
		defer l.Unlock()
		closeConn(conn, unlock)
	}), nil
}

func (s *store) lead(l *leader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leader = l
}

// leader is the connection that holds the lock, while we lead.
type leader struct {
	sync.Mutex
	conn *pgx.Conn
}

// unlock releases the lock. The end of the connection would too, but only when the server gets to it.
const unlock = "SELECT pg_advisory_unlock(" + leadLock + ")"

// closeTimeout is how long the server may take over the end of a connection.
const closeTimeout = time.Second

// closeConn closes a connection, after some last statements. It is gone in any case, so nobody needs their errors.
func closeConn(conn *pgx.Conn, last ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, statement := range last {
		_, _ = conn.Exec(ctx, statement)
	}
	_ = conn.Close(ctx)
}

// outbox gives do a connection. While we lead it is the one that holds the lock, so that nothing is read or removed by a
// process that has lost it without noticing.
func (s *store) outbox(ctx context.Context, do func(*pgx.Conn) error) error {
	s.mu.Lock()
	l := s.leader
	s.mu.Unlock()
	if l == nil {
		conn, err := s.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		return do(conn.Conn())
	}
	l.Lock()
	defer l.Unlock()
	if l.conn.IsClosed() {
		return errors.New("the connection that held the lead is lost")
	}
	return do(l.conn)
}

func (s *store) Unpublished(ctx context.Context, after int64, limit int) (records []audit.Record, err error) {
	err = s.outbox(ctx, func(conn *pgx.Conn) error {
		rows, _ := conn.Query(ctx, "SELECT "+columns+" FROM outbox JOIN records USING (id) WHERE outbox.id > $1 ORDER BY outbox.id LIMIT $2", after, limit)
		records, err = collect(rows)
		return err
	})
	return records, s.wrap("read the outbox", err)
}

func (s *store) Published(ctx context.Context, ids []int64) error {
	return s.wrap("clear the outbox", s.outbox(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DELETE FROM outbox WHERE id = ANY ($1::bigint[])", ids)
		return err
	}))
}

func (s *store) Backlog(ctx context.Context) (waiting int64, oldest time.Time, err error) {
	var at *time.Time
	err = s.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM outbox),
		(SELECT at FROM records WHERE id = (SELECT min(id) FROM outbox))`).Scan(&waiting, &at)
	return waiting, utc(at), s.wrap("read the outbox", err)
}

func (s *store) Unanswered(ctx context.Context, ids []int64) ([]int64, error) {
	still, err := list(ctx, s.pool, pgx.RowTo[int64], "SELECT id FROM unanswered WHERE id = ANY ($1::bigint[]) ORDER BY id", ids)
	return still, s.wrap("read what is unanswered", err)
}

// collect returns all records of an answer.
func collect(rows pgx.Rows) (records []audit.Record, err error) {
	err = each(rows, func(r *audit.Record) error { records = append(records, *r); return nil })
	return records, err
}
