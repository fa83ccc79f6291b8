package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
)

// selectPurge finds, of each chain whose oldest record was decided before $1, the first record that stays: because it was
// decided from $2 on, or its event is yet to be published; and the one before that, the last that goes.
const selectPurge = `SELECT first.chain, first.seq, coalesce(stays.seq - 1, last.seq), coalesce(goes.hash, ''),
		first.at, coalesce(goes.at, '0001-01-01'), coalesce(stays.at < $1, false), coalesce(waits, false)
	FROM heads
	CROSS JOIN LATERAL (SELECT chain, seq, at FROM records WHERE chain = heads.chain ORDER BY seq LIMIT 1) AS first
	CROSS JOIN LATERAL (SELECT seq FROM records WHERE chain = heads.chain ORDER BY seq DESC LIMIT 1) AS last
	LEFT JOIN LATERAL (
		SELECT seq, at, waits FROM records CROSS JOIN LATERAL (
			SELECT EXISTS (SELECT FROM meta WHERE name = 'queue') AND EXISTS (SELECT FROM outbox WHERE id = records.id) AS waits) AS event
		WHERE chain = heads.chain AND (at >= $2 OR waits) ORDER BY seq LIMIT 1
	) AS stays ON true
	LEFT JOIN records AS goes ON goes.chain = heads.chain AND goes.seq = coalesce(stays.seq - 1, last.seq)
	WHERE first.at < $1 ORDER BY first.chain`

// Purge implements [audit.Store]. The worker's role may remove nothing, so it is for the owner of the tables.
func (s *store) Purge(ctx context.Context, before time.Time, dry bool) ([]audit.Purged, error) {
	if s.secret == nil && !dry {
		return nil, s.wrap("purge", errors.New("it was opened for reading only"))
	}
	oldest := before
	if err := s.Open(ctx, func(_ string, state *audit.State) error {
		if state.Opened.Before(oldest) {
			oldest = state.Opened
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var all []audit.Purged
	err := s.snapshot(ctx, func(tx pgx.Tx) (err error) {
		rows, _ := tx.Query(ctx, selectPurge, before, oldest) // CollectRows returns its error
		all, err = pgx.CollectRows(rows, scanPurged)
		return err
	})
	if err == nil && !dry {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return s.remove(ctx, tx, all) })
	}
	if sqlstate(err) == noPrivilege {
		err = fmt.Errorf("%w: only the owner of the tables may remove records: name that role in RETRY_DATABASE_URL", err)
	}
	if err != nil {
		return nil, s.wrap("purge", err)
	}
	return all, nil
}

func scanPurged(row pgx.CollectableRow) (p audit.Purged, err error) {
	var old, waits bool
	err = row.Scan(&p.Chain, &p.From, &p.Through, fixed(p.Hash[:]), &p.Oldest, &p.Newest, &old, &waits)
	if p.Newest.IsZero() {
		p.Oldest = p.Newest
	}
	switch {
	case old && waits:
		p.Held = audit.HeldByOutbox
	case old:
		p.Held = audit.HeldByClaim
	}
	return p, err
}

// setCut never puts a cut back, where two purges meet.
const setCut = `INSERT INTO cuts (chain, through, hash, at, signature) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (chain)
	DO UPDATE SET through = excluded.through, hash = excluded.hash, at = excluded.at, signature = excluded.signature
	WHERE cuts.through < excluded.through`

// remove removes records and leaves cuts. The trigger lets the owner of the tables alone do that, and only so.
func (s *store) remove(ctx context.Context, tx pgx.Tx, all []audit.Purged) error {
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL analyze_retry.purging = 'yes'"); err != nil {
		return err
	}
	for _, p := range all {
		if p.Through < p.From {
			continue
		}
		cut := s.secret.Cut(p, time.Now())
		set, err := tx.Exec(ctx, setCut, cut.Chain, cut.Through, cut.Hash[:], cut.At, cut.Signature)
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

// removeRecords removes the first records of a chain, and that their events are yet to be published.
const removeRecords = `WITH gone AS (DELETE FROM records WHERE chain = $1 AND seq <= $2 RETURNING id)
	DELETE FROM outbox USING gone WHERE outbox.id = gone.id`
