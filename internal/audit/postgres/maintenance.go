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
			UNION SELECT chain FROM tombstones
			UNION SELECT substr(name, 7)::integer FROM meta WHERE name ~ '^chain [0-9]{1,9}$'
		) AS had WHERE chain NOT IN (SELECT chain FROM heads)
		ORDER BY chain`)
	return heads, s.wrap("read the heads", err)
}

func (s *store) Tombstones(ctx context.Context) ([]audit.Tombstone, error) {
	all, err := list(ctx, s.pool, scanTombstone,
		"SELECT chain, first, through, hash, oldest, newest, at, signature FROM tombstones ORDER BY chain, first")
	return all, s.wrap("read the tombstones", err)
}

func (s *store) Walk(ctx context.Context, chain int, after int64, visit func(*audit.Record) error) error {
	return s.pages(ctx, "SELECT "+columns+" FROM records WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT $3",
		func() []any { return []any{chain, after, pageRows} },
		func(r *audit.Record) error {
			after = r.Seq
			return visit(r)
		})
}

// purgeable finds, for each chain, its oldest record, and the first one from there that is to stay.
const purgeable = `SELECT h.chain, oldest.seq, stay.seq - 1, last.hash, span.oldest, span.newest, now(), NULL
	FROM heads AS h
	CROSS JOIN LATERAL (SELECT seq FROM records WHERE chain = h.chain ORDER BY seq LIMIT 1) AS oldest
	CROSS JOIN LATERAL (SELECT least(
		(SELECT seq FROM records WHERE chain = h.chain AND at >= $1 ORDER BY seq LIMIT 1),
		(SELECT min(seq) FROM unanswered JOIN records USING (id) WHERE chain = h.chain),
		CASE WHEN $2 OR EXISTS (SELECT FROM meta WHERE name = 'queue') THEN (SELECT min(seq) FROM outbox JOIN records USING (id) WHERE chain = h.chain) END,
		(SELECT max(seq) + 1 FROM records WHERE chain = h.chain)) AS seq) AS stay
	CROSS JOIN LATERAL (SELECT hash FROM records WHERE chain = h.chain AND seq = stay.seq - 1) AS last
	CROSS JOIN LATERAL (SELECT min(at) AS oldest, max(at) AS newest FROM records
		WHERE chain = h.chain AND seq >= oldest.seq AND seq < stay.seq) AS span
	WHERE stay.seq > oldest.seq ORDER BY h.chain`

// Check finds nothing; see [audit.Maintenance]. Whether its pages are those that were written is for the server to say, by
// its data checksums.
func (s *store) Check(context.Context) error { return nil }

func (s *store) Purgeable(ctx context.Context, before time.Time, publish bool) ([]audit.Tombstone, error) {
	var tombstones []audit.Tombstone
	err := s.patiently(ctx, func(tx pgx.Tx) (err error) {
		rows, _ := tx.Query(ctx, purgeable, before, publish) // CollectRows returns its error
		tombstones, err = pgx.CollectRows(rows, scanTombstone)
		for i := range tombstones {
			tombstones[i].At = time.Time{} // it is not signed yet
		}
		return err
	})
	return tombstones, s.wrap("look for what can be purged", err)
}

// Purge implements [audit.Maintenance] by a function of the database that runs with its owner's rights, because the
// application role may delete nothing. That one refuses also what is younger than the database's own floor.
func (s *store) Purge(ctx context.Context, t audit.Tombstone) error {
	if s.secret == nil {
		return s.wrap("purge", errReadOnly)
	}
	if !s.secret.Public().CheckTombstone(t) {
		return s.wrap("purge", errors.New("the tombstone was not signed with the store's key"))
	}
	err := s.patiently(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT purge_records($1, $2, $3, $4, $5, $6, $7, $8)",
			t.Chain, t.From, t.Through, t.Hash[:], t.Oldest, t.Newest, t.At, t.Signature)
		return err
	})
	if sqlstate(err) == tooYoung {
		err = fmt.Errorf("%w: set RETRY_AUDIT_RETENTION to at least that; or, where the law lets you, lower the floor as the owner of the tables, by worker audit purge --shorten or UPDATE analyze_retry.retention SET least = '...'", err)
	}
	return s.wrap("purge", err)
}

func (s *store) ForgetUnanswered(ctx context.Context, before time.Time) error {
	_, err := s.pool.Exec(ctx, "DELETE FROM unanswered USING records WHERE unanswered.id = records.id AND at < $1", before)
	return s.wrap("forget what is unanswered", err)
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

// selectFloor reads the floor in months. Of days that an owner wrote, 28 count as a month, so that it is never too short.
const selectFloor = `SELECT coalesce(max(extract(year FROM least) * 12 + extract(month FROM least) + ceil(extract(day FROM least) / 28)
	+ CASE WHEN least > date_trunc('day', least) THEN 1 ELSE 0 END), 0)::integer FROM retention`

// Keep implements [audit.Maintenance] by a function of the database that runs with its owner's rights, because the application
// role may not lower the floor.
func (s *store) Keep(ctx context.Context, months int) (floor int, err error) {
	if s.secret == nil {
		return 0, s.wrap("note the retention", errReadOnly)
	}
	if _, err := s.pool.Exec(ctx, "SELECT keep_records($1)", months); err != nil {
		return 0, s.wrap("note the retention", err)
	}
	return s.Floor(ctx)
}

func (s *store) Floor(ctx context.Context) (months int, err error) {
	err = s.pool.QueryRow(ctx, selectFloor).Scan(&months)
	return months, s.wrap("read the floor of the retention", err)
}

// Shorten implements [audit.Maintenance]. Only the owner of the tables may do it.
func (s *store) Shorten(ctx context.Context, months int) error {
	_, err := s.pool.Exec(ctx, "UPDATE retention SET least = make_interval(months => $1) WHERE least > make_interval(months => $1)", months)
	if sqlstate(err) == noPrivilege {
		err = fmt.Errorf("%w: only the owner of the tables may lower it, by this command with the owner in RETRY_DATABASE_URL, or by: "+
			"UPDATE analyze_retry.retention SET least = '%d months'", err, months)
	}
	return s.wrap("lower the floor of the retention", err)
}

// Note implements [audit.Maintenance]. The time is the server's. Some rows of older workers hold none.
func (s *store) Note(ctx context.Context, name string) (ago time.Duration, err error) {
	var seconds float64
	// The statement does not see its own row, so that no row is one of this moment.
	err = s.pool.QueryRow(ctx, `WITH noted AS (
			INSERT INTO meta (name, value) VALUES ($1, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) ON CONFLICT DO NOTHING
		) SELECT coalesce((SELECT extract(epoch FROM now() - nullif(value, '')::timestamptz) FROM meta WHERE name = $1), 0)::float8`, name).Scan(&seconds)
	return time.Duration(seconds * float64(time.Second)), s.wrap("note "+name, err)
}

func (s *store) Noted(ctx context.Context, prefix string) (name string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT coalesce(max(name COLLATE "C"), '') FROM meta WHERE starts_with(name, $1)`, prefix).Scan(&name)
	return name, s.wrap("read what was noted", err)
}
