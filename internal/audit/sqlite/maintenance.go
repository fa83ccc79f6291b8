package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

func (s *store) Heads(ctx context.Context) ([]audit.Head, error) {
	all, err := collect(ctx, s.read, scanHead, selectHeads)
	if err != nil || len(all) > 0 {
		return all, s.failed(err)
	}
	if _, noted, err := readMeta(ctx, s.read, metaChain); err != nil || !noted {
		return nil, s.failed(err)
	}
	return []audit.Head{{Chain: chainNumber}}, nil // all of it is gone
}

// selectHeads reads the head. If there is none but there are records, or a cut, it is one that nobody signed.
const selectHeads = `SELECT chain, seq, hash, at, signature FROM heads
	UNION ALL SELECT 1, 0, x'', 0, x'' WHERE NOT EXISTS (SELECT 1 FROM heads WHERE chain = 1)
		AND (EXISTS (SELECT 1 FROM records) OR EXISTS (SELECT 1 FROM cuts))
	ORDER BY 1`

func scanHead(rows *sql.Rows) (h audit.Head, err error) {
	var hash []byte
	var at int64
	err = rows.Scan(&h.Chain, &h.Seq, &hash, &at, &h.Signature)
	copy(h.Hash[:], hash)
	h.At = utc(at)
	return h, err
}

const cutColumns = "chain, through, hash, at, signature"

func (s *store) Cuts(ctx context.Context) ([]audit.Cut, error) {
	all, err := collect(ctx, s.read, func(rows *sql.Rows) (c audit.Cut, err error) {
		var hash []byte
		var at int64
		err = rows.Scan(&c.Chain, &c.Through, &hash, &at, &c.Signature)
		copy(c.Hash[:], hash)
		c.At = utc(at)
		return c, err
	}, "SELECT "+cutColumns+" FROM cuts ORDER BY chain")
	return all, s.failed(err)
}

func (s *store) Walk(ctx context.Context, chain int, after int64, visit func(*audit.Record) error) error {
	if chain != chainNumber {
		return nil
	}
	return s.query(ctx, visit, selectRecords+"WHERE seq > ? ORDER BY seq", after)
}

// selectExpired finds the oldest record, the first one that is too young, and the first one whose event is yet to be published. The
// plus keeps SQLite from the index on at: the young one is found by going from the oldest on, and what is passed on the way is what
// will be removed.
const selectExpired = `WITH ends AS (
		SELECT (SELECT min(seq) FROM records) AS first,
			coalesce((SELECT seq FROM records WHERE +at >= ?1 ORDER BY seq LIMIT 1), (SELECT max(seq) + 1 FROM records)) AS young,
			CASE WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'queue')
				THEN min(coalesce((SELECT min(seq) FROM outbox), 9223372036854775807), (SELECT coalesce(max(published), 0) + 1 FROM heads))
				ELSE 9223372036854775807 END AS unpublished
	)
	SELECT first, min(young, unpublished) - 1 AS last, unpublished < young,
		coalesce((SELECT hash FROM records WHERE seq = min(young, unpublished) - 1), x''),
		coalesce((SELECT min(at) FROM records WHERE seq BETWEEN first AND min(young, unpublished) - 1), 0),
		coalesce((SELECT max(at) FROM records WHERE seq BETWEEN first AND min(young, unpublished) - 1), 0)
	FROM ends WHERE first < young`

func (s *store) Expired(ctx context.Context, before time.Time) ([]audit.Expired, error) {
	all, err := collect(ctx, s.read, func(rows *sql.Rows) (e audit.Expired, err error) {
		var hash []byte
		var oldest, newest int64
		err = rows.Scan(&e.From, &e.Through, &e.Unpublished, &hash, &oldest, &newest)
		e.Chain = chainNumber
		copy(e.Hash[:], hash)
		e.Oldest, e.Newest = utc(oldest), utc(newest)
		return e, err
	}, selectExpired, micros(before))
	return all, s.failed(err)
}

func (s *store) Purge(ctx context.Context, cut audit.Cut) error {
	if s.secret != nil && !s.secret.Public().CheckCut(cut) {
		return s.failed(errors.New("purge: the cut is not signed with the store's key"))
	}
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		var newest sql.NullInt64
		err := w.conn.QueryRowContext(ctx, `SELECT max(at) FROM records WHERE seq <= ?2 AND ?1 = 1 AND (SELECT hash FROM records WHERE seq = ?2) = ?3`,
			cut.Chain, cut.Through, cut.Hash[:]).Scan(&newest)
		if err != nil {
			return err
		}
		if !newest.Valid {
			return errors.New("purge: the cut does not bear the hash of a record of the chain")
		}
		// The triggers let records go that a cut stands for. What is removed will never be published or answered.
		w.published, w.answered = max(w.published, cut.Through), max(w.answered, cut.Through)
		for _, step := range []struct {
			statement string
			args      []any
		}{
			{"INSERT OR REPLACE INTO cuts (" + cutColumns + ") VALUES (?, ?, ?, ?, ?)", []any{int64(cut.Chain), cut.Through, cut.Hash[:], cut.At.UnixMicro(), cut.Signature}},
			{outbox.move, []any{w.published}},
			{unanswered.move, []any{w.answered}},
			{"DELETE FROM outbox WHERE seq <= ?", []any{cut.Through}},
			{"DELETE FROM unanswered WHERE seq <= ?", []any{cut.Through}},
			{"DELETE FROM records WHERE seq <= ?", []any{cut.Through}},
		} {
			if err := w.exec(ctx, step.statement, step.args...); err != nil {
				return err
			}
		}
		return w.forgetClaims(ctx, newest.Int64)
	})
}
