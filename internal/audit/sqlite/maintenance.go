package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// querier is a pool or one connection of it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Heads returns the signed end of the chain; see [audit.Maintenance].
func (s *Store) Heads(ctx context.Context) ([]audit.Head, error) {
	all, err := heads(ctx, s.read)
	if err != nil {
		return nil, s.failed(err)
	}
	if len(all) > 0 {
		return all, nil
	}
	var begun bool
	if err := s.ask(ctx, chainNoted, nil, &begun); err != nil || !begun {
		return nil, err
	}
	return []audit.Head{{Chain: chainNumber}}, nil // all of it is gone
}

// heads returns the head. Where there is none but there are records, or tombstones, it is one that nobody signed.
func heads(ctx context.Context, from querier) (all []audit.Head, err error) {
	rows, err := from.QueryContext(ctx, `SELECT chain, seq, hash, at, signature FROM heads
		UNION ALL SELECT 1, 0, x'', 0, x'' WHERE NOT EXISTS (SELECT 1 FROM heads WHERE chain = 1)
			AND (EXISTS (SELECT 1 FROM records) OR EXISTS (SELECT 1 FROM tombstones))
		ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h audit.Head
		var hash []byte
		var at int64
		if err := rows.Scan(&h.Chain, &h.Seq, &hash, &at, &h.Signature); err != nil {
			return nil, err
		}
		copy(h.Hash[:], hash)
		h.At = time.UnixMicro(at).UTC()
		all = append(all, h)
	}
	return all, rows.Err()
}

const tombstoneColumns = "chain, first, through, hash, oldest, newest, at, signature"

// Tombstones returns what stands for removed records; see [audit.Maintenance].
func (s *Store) Tombstones(ctx context.Context) (all []audit.Tombstone, err error) {
	rows, err := s.read.QueryContext(ctx, "SELECT "+tombstoneColumns+" FROM tombstones ORDER BY chain, first")
	if err != nil {
		return nil, s.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		var t audit.Tombstone
		var hash []byte
		var oldest, newest, at int64
		if err := rows.Scan(&t.Chain, &t.From, &t.Through, &hash, &oldest, &newest, &at, &t.Signature); err != nil {
			return nil, s.failed(err)
		}
		copy(t.Hash[:], hash)
		t.Oldest, t.Newest, t.At = time.UnixMicro(oldest).UTC(), time.UnixMicro(newest).UTC(), time.UnixMicro(at).UTC()
		all = append(all, t)
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed(err)
	}
	return all, nil
}

// Walk visits the records of the chain; see [audit.Maintenance].
func (s *Store) Walk(ctx context.Context, chain int, after int64, visit func(*audit.Record) error) error {
	if chain != chainNumber {
		return nil
	}
	return s.query(ctx, visit, selectRecords+"WHERE seq > ? ORDER BY seq", after)
}

// Purgeable returns what may be removed; see [audit.Maintenance].
func (s *Store) Purgeable(ctx context.Context, before time.Time, publish bool) ([]audit.Tombstone, error) {
	if !publish {
		var err error
		if publish, err = s.HasQueue(ctx); err != nil {
			return nil, err
		}
	}
	// The plus keeps SQLite from the index on at: the first record that is too young is found by going from the oldest
	// on, and what is passed on the way is what will be removed.
	var first, through sql.NullInt64
	err := s.ask(ctx, `SELECT (SELECT min(seq) FROM records), min(
			coalesce((SELECT seq - 1 FROM records WHERE +at >= ?1 ORDER BY seq LIMIT 1), (SELECT max(seq) FROM records)),
			coalesce((SELECT min(seq) - 1 FROM unanswered), 9223372036854775807), (SELECT answered FROM heads),
			CASE ?2 WHEN 1 THEN min(coalesce((SELECT min(seq) - 1 FROM outbox), 9223372036854775807), (SELECT published FROM heads))
				ELSE 9223372036854775807 END)`,
		[]any{micros(before), publish}, &first, &through)
	if err != nil || !first.Valid || through.Int64 < first.Int64 {
		return nil, err
	}
	tombstone := audit.Tombstone{Chain: chainNumber, From: first.Int64, Through: through.Int64}
	var oldest, newest int64
	var hash []byte
	err = s.ask(ctx, "SELECT min(at), max(at), (SELECT hash FROM records WHERE seq = ?2) FROM records WHERE seq BETWEEN ?1 AND ?2",
		[]any{tombstone.From, tombstone.Through}, &oldest, &newest, &hash)
	if err != nil {
		return nil, err
	}
	copy(tombstone.Hash[:], hash)
	tombstone.Oldest, tombstone.Newest = time.UnixMicro(oldest).UTC(), time.UnixMicro(newest).UTC()
	return []audit.Tombstone{tombstone}, nil
}

// noteQueue is done by whoever begins to lead.
const noteQueue = "INSERT OR IGNORE INTO meta (name, value) VALUES ('queue', datetime())"

// HasQueue reports whether the events are published; see [audit.Maintenance].
func (s *Store) HasQueue(ctx context.Context) (has bool, err error) {
	err = s.ask(ctx, "SELECT EXISTS (SELECT 1 FROM meta WHERE name = 'queue')", nil, &has)
	return has, err
}

// Purge removes what a signed tombstone stands for; see [audit.Maintenance].
func (s *Store) Purge(ctx context.Context, tombstone audit.Tombstone) error {
	if s.secret != nil && !s.secret.Public().CheckTombstone(tombstone) {
		return s.failed(errors.New("purge: the tombstone is not signed with the store's key"))
	}
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		var fits bool
		err := w.conn.QueryRowContext(ctx, `SELECT ?1 = 1
				AND (SELECT min(seq) FROM records) = ?2
				AND (SELECT hash FROM records WHERE seq = ?3) = ?4
				AND NOT EXISTS (SELECT 1 FROM unanswered WHERE seq <= ?3) AND (SELECT answered FROM heads) >= ?3`,
			tombstone.Chain, tombstone.From, tombstone.Through, tombstone.Hash[:]).Scan(&fits)
		if err != nil {
			return err
		}
		if !fits {
			return errors.New("purge: the tombstone does not stand for the chain's oldest records, or one of them is unanswered")
		}
		if err := w.checkFloor(ctx, tombstone); err != nil {
			return err
		}
		if _, err := w.conn.ExecContext(ctx, "INSERT INTO tombstones ("+tombstoneColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			tombstone.Chain, tombstone.From, tombstone.Through, tombstone.Hash[:], tombstone.Oldest.UnixMicro(), tombstone.Newest.UnixMicro(), tombstone.At.UnixMicro(), tombstone.Signature); err != nil {
			return err
		}
		// What is removed will never be published.
		w.published = max(w.published, tombstone.Through)
		if err := w.exec(ctx, outbox.move, w.published); err != nil {
			return err
		}
		if err := w.exec(ctx, "DELETE FROM outbox WHERE seq <= ?", tombstone.Through); err != nil {
			return err
		}
		return w.exec(ctx, "DELETE FROM records WHERE seq <= ?", tombstone.Through)
	})
}
