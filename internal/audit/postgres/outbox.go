package postgres

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
)

// leadLock is the advisory lock of the process that publishes.
const leadLock = "4097083628"

// lead is a session advisory lock. It is held by a connection of its own, and ends with it: when the process
// dies, the server restarts, or the network is cut and the server notices (half a minute). All is read and
// moved on by that connection, so that a process that has lost the lock without noticing does neither.
type lead struct {
	*store

	conn *pgx.Conn
}

func (s *store) Lead(ctx context.Context) (audit.Lead, error) {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, s.wrap("lead", err)
	}
	conn := pooled.Hijack()
	var leads bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+leadLock+")").Scan(&leads)
	if err == nil && leads {
		_, err = conn.Exec(ctx,
			"INSERT INTO meta (name, value) VALUES ('queue', now()) ON CONFLICT DO NOTHING")
	}
	if err != nil || !leads {
		closeConn(conn)
		return nil, cmp.Or(s.wrap("lead", err), audit.ErrNotLeading)
	}
	return lead{s, conn}, nil
}

func (l lead) Release() { closeConn(l.conn) }

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

// The records of a chain are committed in its order, so one place for each chain tells those apart that are
// published.
const (
	selectUnpublished = ` FROM (SELECT waiting.* FROM outbox CROSS JOIN LATERAL (
		SELECT * FROM records WHERE chain = outbox.chain AND seq > published ORDER BY seq LIMIT $1
		) AS waiting) AS of_all ORDER BY id LIMIT $1`

	setPublished = `UPDATE outbox SET published = seq FROM (
		SELECT chain, max(seq) AS seq FROM records WHERE id = ANY ($1::bigint[]) GROUP BY chain
		) AS done WHERE outbox.chain = done.chain AND published < seq`
)

func (l lead) Unpublished(ctx context.Context, limit int) ([]audit.Record, error) {
	waiting, err := l.Records(ctx, database{l.conn}, reading.Select+selectUnpublished, limit)
	return waiting, l.wrap("read the outbox", err)
}

func (l lead) Published(ctx context.Context, ids []int64) error {
	err := database{l.conn}.Read(ctx, reading.One(), setPublished, ids)
	return l.wrap("move the outbox on", err)
}
