package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
)

// Heads implements [audit.Maintenance]. The chains that have records are found by steps from one to the next, not by reading
// all records. Those that had records stand in meta, see noteChain.
func (s *store) Heads(ctx context.Context) ([]audit.Head, error) {
	heads, err := list(ctx, s.pool, scanHead, `WITH RECURSIVE chained (chain) AS (
			(SELECT chain FROM records ORDER BY chain LIMIT 1)
			UNION ALL
			SELECT (SELECT r.chain FROM records AS r WHERE r.chain > chained.chain ORDER BY r.chain LIMIT 1)
				FROM chained WHERE chained.chain IS NOT NULL
		)
		SELECT chain, seq, hash, at, signature FROM heads
		UNION ALL SELECT chain, 0, '', 'epoch', '' FROM (
			SELECT chain FROM chained WHERE chain IS NOT NULL
			UNION SELECT chain FROM cuts
			UNION SELECT substr(name, 7)::integer FROM meta WHERE name ~ '^chain [0-9]{1,9}$'
		) AS had WHERE chain NOT IN (SELECT chain FROM heads)
		ORDER BY chain`)
	return heads, s.wrap("read the heads", err)
}

func (s *store) Cuts(ctx context.Context) ([]audit.Cut, error) {
	all, err := list(ctx, s.pool, func(row pgx.CollectableRow) (c audit.Cut, err error) {
		var hash []byte
		err = row.Scan(&c.Chain, &c.Through, &hash, &c.At, &c.Signature)
		copy(c.Hash[:], hash)
		c.At = c.At.UTC()
		return c, err
	}, "SELECT chain, through, hash, at, signature FROM cuts ORDER BY chain")
	return all, s.wrap("read the cuts", err)
}

func (s *store) Walk(ctx context.Context, chain int, after int64, visit func(*audit.Record) error) error {
	return s.pages(ctx, "SELECT "+columns+" FROM records WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT $3",
		func() []any { return []any{chain, after, pageRows} },
		func(r *audit.Record) error {
			after = r.Seq
			return visit(r)
		})
}

// selectExpired finds, for each chain, its oldest record, the first one that is too young, and the first one whose event is yet to be
// published.
const selectExpired = `SELECT h.chain, oldest.seq, stay.seq - 1, stay.unpublished, coalesce(last.hash, ''), coalesce(span.oldest, 'epoch'), coalesce(span.newest, 'epoch')
	FROM heads AS h
	CROSS JOIN LATERAL (SELECT seq FROM records WHERE chain = h.chain ORDER BY seq LIMIT 1) AS oldest
	CROSS JOIN LATERAL (SELECT coalesce((SELECT seq FROM records WHERE chain = h.chain AND at >= $1 ORDER BY seq LIMIT 1),
		(SELECT max(seq) + 1 FROM records WHERE chain = h.chain)) AS seq) AS young
	CROSS JOIN LATERAL (SELECT least(young.seq, unpublished.seq) AS seq, coalesce(unpublished.seq < young.seq, false) AS unpublished
		FROM (SELECT CASE WHEN EXISTS (SELECT FROM meta WHERE name = 'queue')
			THEN (SELECT min(seq) FROM outbox JOIN records USING (id) WHERE chain = h.chain) END AS seq) AS unpublished) AS stay
	LEFT JOIN LATERAL (SELECT hash FROM records WHERE chain = h.chain AND seq = stay.seq - 1) AS last ON true
	CROSS JOIN LATERAL (SELECT min(at) AS oldest, max(at) AS newest FROM records WHERE chain = h.chain AND seq < stay.seq) AS span
	WHERE oldest.seq < young.seq ORDER BY h.chain`

// Check finds nothing; see [audit.Maintenance]. Whether its pages are those that were written is for the server to say, by
// its data checksums.
func (s *store) Check(context.Context) error { return nil }

func (s *store) Expired(ctx context.Context, before time.Time) (all []audit.Expired, err error) {
	err = s.patiently(ctx, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, selectExpired, before) // CollectRows returns its error
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e audit.Expired, err error) {
			var hash []byte
			err = row.Scan(&e.Chain, &e.From, &e.Through, &e.Unpublished, &hash, &e.Oldest, &e.Newest)
			copy(e.Hash[:], hash)
			e.Oldest, e.Newest = e.Oldest.UTC(), e.Newest.UTC()
			return e, err
		})
		return err
	})
	return all, s.wrap("look for what can be purged", err)
}

// purgeSteps are what a purge does once the cut is found to fit. The triggers let the owner of the tables alone remove records, and
// only so. A claim of which nothing is left is open no more.
var purgeSteps = []string{
	"DELETE FROM outbox USING records WHERE outbox.id = records.id AND chain = $1 AND seq <= $2",
	"DELETE FROM unanswered USING records WHERE unanswered.id = records.id AND chain = $1 AND seq <= $2",
	`DELETE FROM open_claims WHERE claim_id IN (SELECT claim_id FROM records WHERE chain = $1 AND seq <= $2)
		AND NOT EXISTS (SELECT FROM records AS other WHERE other.claim_id = open_claims.claim_id AND NOT (chain = $1 AND seq <= $2))`,
	"DELETE FROM records WHERE chain = $1 AND seq <= $2",
}

// Purge implements [audit.Maintenance]. The worker's own role may delete nothing, so it is for the owner of the tables.
func (s *store) Purge(ctx context.Context, cut audit.Cut) error {
	if s.secret == nil {
		return s.wrap("purge", errReadOnly)
	}
	if !s.secret.Public().CheckCut(cut) {
		return s.wrap("purge", errors.New("the cut was not signed with the store's key"))
	}
	err := s.patiently(ctx, func(tx pgx.Tx) error {
		added, err := tx.Exec(ctx, `INSERT INTO cuts (chain, through, hash, at, signature) SELECT chain, seq, hash, $4, $5
			FROM records WHERE chain = $1 AND seq = $2 AND hash = $3
			ON CONFLICT (chain) DO UPDATE SET through = excluded.through, hash = excluded.hash, at = excluded.at, signature = excluded.signature`,
			cut.Chain, cut.Through, cut.Hash[:], cut.At, cut.Signature)
		if err == nil && added.RowsAffected() == 0 {
			err = errors.New("the cut does not bear the hash of a record of the chain")
		}
		if err == nil {
			_, err = tx.Exec(ctx, "SET LOCAL analyze_retry.purging = 'yes'")
		}
		for _, step := range purgeSteps {
			if err == nil {
				_, err = tx.Exec(ctx, step, cut.Chain, cut.Through)
			}
		}
		return err
	})
	if sqlstate(err) == noPrivilege {
		err = fmt.Errorf("%w: only the owner of the tables may remove records: name that role in RETRY_DATABASE_URL", err)
	}
	return s.wrap("purge", err)
}

// patiently runs do in a transaction that may take as long as ctx lets it.
func (s *store) patiently(ctx context.Context, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		return do(tx)
	})
}
