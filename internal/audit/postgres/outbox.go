package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
)

// leadLock is the advisory lock of the process that publishes.
const leadLock = "4097083628"

// Lead implements [audit.Store] by a session advisory lock. It is held by a connection of its own, and ends
// with it: when the process dies, the server restarts, or the network is cut and the server notices (half a
// minute).
func (s *store) Lead(ctx context.Context) (release func(), err error) {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, s.wrap("lead", err)
	}
	conn := pooled.Hijack()
	var leads bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+leadLock+")").Scan(&leads)
	if err == nil && !leads {
		err = audit.ErrNotLeading
	}
	if err == nil {
		_, err = conn.Exec(ctx,
			"INSERT INTO meta (name, value) VALUES ('queue', now()) ON CONFLICT DO NOTHING")
	}
	if err != nil {
		closeConn(conn)
		return nil, s.wrap("lead", err)
	}
	s.lead(conn)
	return sync.OnceFunc(func() {
		s.lead(nil)
		closeConn(conn)
	}), nil
}

// lead sets the connection that holds the lock, nil for none, once it is not in use.
func (s *store) lead(conn *pgx.Conn) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.leader = conn
}

// closeTimeout is how long the server may take over the end of a connection.
const closeTimeout = time.Second

// closeConn closes a connection. Its end would release a lock too, but only when the server gets to it. It is
// gone in any case, so the errors are dropped.
func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock_all()")
	_ = conn.Close(ctx)
}

// publish gives do a connection. While we lead it is the one that holds the lock, so that nothing is read or
// removed by a process that has lost it without noticing.
func (s *store) publish(do func(database) error) error {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	if s.leader == nil {
		return do(database{s.pool})
	}
	return do(database{s.leader})
}

// The records of a chain are committed in its order, so one place for each chain tells those apart that are
// published.
const (
	selectUnpublished = ` FROM (SELECT waiting.* FROM outbox CROSS JOIN LATERAL (
		SELECT * FROM records WHERE chain = outbox.chain AND seq > published ORDER BY seq LIMIT $1
		) AS waiting) AS of_all ORDER BY id LIMIT $1`

	// setPublished moves each place on as far as no record is left out.
	setPublished = `UPDATE outbox SET published = through FROM (
		SELECT chain, max(seq) AS through FROM (
			SELECT chain, seq, published + row_number() OVER (PARTITION BY chain ORDER BY seq) AS next
			FROM records JOIN outbox USING (chain) WHERE id = ANY ($1::bigint[]) AND seq > published
		) AS done WHERE seq = next GROUP BY chain) AS run WHERE outbox.chain = run.chain`
)

// Unpublished implements [audit.Store].
func (s *store) Unpublished(ctx context.Context, limit int) (waiting []audit.Record, err error) {
	err = s.publish(func(from database) error {
		waiting, err = s.Records(ctx, from, s.Select()+selectUnpublished, limit)
		return err
	})
	return waiting, s.wrap("read the outbox", err)
}

// Published implements [audit.Store].
func (s *store) Published(ctx context.Context, ids []int64) error {
	err := s.publish(func(in database) error { return in.Read(ctx, reading.One(), setPublished, ids) })
	return s.wrap("move the outbox on", err)
}
