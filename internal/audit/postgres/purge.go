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
	// setCut never puts a cut back, where two purges meet.
	setCut = `INSERT INTO cuts (chain, seq, hash, at, signature) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, at = excluded.at,
			signature = excluded.signature WHERE cuts.seq < excluded.seq`

	// removeRecords removes the first records of a chain, and that their events are yet to be published.
	removeRecords = `WITH passed AS (UPDATE outbox SET published = greatest(published, $2) WHERE chain = $1)
		DELETE FROM records WHERE chain = $1 AND seq <= $2`
)

// Purge implements [audit.Store]. The worker's role may remove nothing, so it is for the owner of the tables.
func (s *store) Purge(ctx context.Context, before time.Time, dry bool) (removed []audit.Purged, err error) {
	if s.Secret == nil && !dry {
		return nil, s.wrap("purge", errors.New("it was opened for reading only"))
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, longer); err != nil {
			return err
		}
		if removed, err = s.Expired(ctx, database{tx}, before); err != nil || dry {
			return err
		}
		return s.remove(ctx, tx, removed)
	})
	if sqlstate(err) == noPrivilege {
		err = fmt.Errorf("%w: only the owner of the tables may remove records: "+
			"name that role in RETRY_DATABASE_URL", err)
	}
	if err != nil {
		return nil, s.wrap("purge", err)
	}
	return removed, nil
}

// remove removes records and leaves cuts. The trigger lets the owner of the tables alone do that, and only
// so.
func (s *store) remove(ctx context.Context, tx pgx.Tx, all []audit.Purged) error {
	if _, err := tx.Exec(ctx, "SET LOCAL analyze_retry.purging = 'yes'"); err != nil {
		return err
	}
	for _, p := range all {
		cut := s.Secret.Cut(p, time.Now())
		set, err := tx.Exec(ctx, setCut, cut.Chain, cut.Seq, cut.Hash[:], cut.At, cut.Signature)
		if err == nil && set.RowsAffected() == 0 {
			err = errors.New("another purge has removed these records")
		}
		if err == nil {
			_, err = tx.Exec(ctx, removeRecords, p.Chain, p.Through)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
