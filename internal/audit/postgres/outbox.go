package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

const (
	setCut = `INSERT INTO cuts (chain, seq, hash, at, signature) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, at = excluded.at,
			signature = excluded.signature`

	// purging begins a purge: one at a time, so that no cut is put back. The trigger lets the owner of the
	// tables alone remove records, and only so.
	purging = `SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; LOCK TABLE cuts IN EXCLUSIVE MODE;
		SET LOCAL analyze_retry.purging = 'yes'`

	// removeRecords removes the first records of a chain, and that their events are yet to be published.
	removeRecords = `WITH passed AS (UPDATE outbox SET published = greatest(published, $2) WHERE chain = $1)
		DELETE FROM records WHERE chain = $1 AND seq <= $2`
)

// Purge implements [audit.Store]. The worker's role may remove nothing, so it is for the owner of the tables.
func (s *store) Purge(ctx context.Context, before time.Time, dry bool) (removed []audit.Purged, err error) {
	if s.Secret == nil && !dry {
		return nil, s.wrap("purge", errors.New("it was opened for reading only"))
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if !dry {
			_, err = tx.Exec(ctx, purging)
		}
		if err == nil {
			removed, err = s.Expired(ctx, database{tx}, before)
		}
		if err != nil || dry {
			return err
		}
		var all pgx.Batch
		for _, p := range removed {
			cut := s.Secret.Cut(p, time.Now())
			all.Queue(setCut, cut.Chain, cut.Seq, cut.Hash[:], cut.At, cut.Signature)
			all.Queue(removeRecords, p.Chain, p.Through)
		}
		return tx.SendBatch(ctx, &all).Close()
	})
	if sqlstate(err) == noPrivilege {
		err = fmt.Errorf("%w: only the owner of the tables may remove records: "+
			"name that role in RETRY_DATABASE_URL", err)
	}
	return removed, s.wrap("purge", err)
}
