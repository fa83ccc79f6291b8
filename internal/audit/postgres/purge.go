package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
)

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
