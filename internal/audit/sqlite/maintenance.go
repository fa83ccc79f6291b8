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

// selectHeads reads the head. If there is none but there are records, or tombstones, it is one that nobody signed.
const selectHeads = `SELECT chain, seq, hash, at, signature FROM heads
	UNION ALL SELECT 1, 0, x'', 0, x'' WHERE NOT EXISTS (SELECT 1 FROM heads WHERE chain = 1)
		AND (EXISTS (SELECT 1 FROM records) OR EXISTS (SELECT 1 FROM tombstones))
	ORDER BY 1`

func scanHead(rows *sql.Rows) (h audit.Head, err error) {
	var hash []byte
	var at int64
	err = rows.Scan(&h.Chain, &h.Seq, &hash, &at, &h.Signature)
	copy(h.Hash[:], hash)
	h.At = utc(at)
	return h, err
}

const tombstoneColumns = "chain, first, through, hash, oldest, newest, at, signature"

func (s *store) Tombstones(ctx context.Context) ([]audit.Tombstone, error) {
	all, err := collect(ctx, s.read, func(rows *sql.Rows) (t audit.Tombstone, err error) {
		var hash []byte
		var oldest, newest, at int64
		err = rows.Scan(&t.Chain, &t.From, &t.Through, &hash, &oldest, &newest, &at, &t.Signature)
		copy(t.Hash[:], hash)
		t.Oldest, t.Newest, t.At = utc(oldest), utc(newest), utc(at)
		return t, err
	}, "SELECT "+tombstoneColumns+" FROM tombstones ORDER BY chain, first")
	return all, s.failed(err)
}

func (s *store) Walk(ctx context.Context, chain int, after int64, visit func(*audit.Record) error) error {
	if chain != chainNumber {
		return nil
	}
	return s.query(ctx, visit, selectRecords+"WHERE seq > ? ORDER BY seq", after)
}

func (s *store) Purgeable(ctx context.Context, before time.Time, publish bool) ([]audit.Tombstone, error) {
	// The plus keeps SQLite from the index on at: the first record that is too young is found by going from the oldest
	// on, and what is passed on the way is what will be removed.
	var first, through sql.NullInt64
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT min(seq) FROM records), min(
			coalesce((SELECT seq - 1 FROM records WHERE +at >= ?1 ORDER BY seq LIMIT 1), (SELECT max(seq) FROM records)),
			coalesce((SELECT min(seq) - 1 FROM unanswered), 9223372036854775807), (SELECT answered FROM heads),
			CASE WHEN ?2 OR EXISTS (SELECT 1 FROM meta WHERE name = 'queue') THEN min(coalesce((SELECT min(seq) - 1 FROM outbox), 9223372036854775807), (SELECT published FROM heads))
				ELSE 9223372036854775807 END)`, micros(before), publish).Scan(&first, &through)
	if err != nil || !first.Valid || through.Int64 < first.Int64 {
		return nil, s.failed(err)
	}
	t := audit.Tombstone{Chain: chainNumber, From: first.Int64, Through: through.Int64}
	var oldest, newest int64
	var hash []byte
	err = s.read.QueryRowContext(ctx, "SELECT min(at), max(at), (SELECT hash FROM records WHERE seq = ?2) FROM records WHERE seq BETWEEN ?1 AND ?2",
		t.From, t.Through).Scan(&oldest, &newest, &hash)
	copy(t.Hash[:], hash)
	t.Oldest, t.Newest = utc(oldest), utc(newest)
	if err != nil {
		return nil, s.failed(err)
	}
	return []audit.Tombstone{t}, nil
}

func (s *store) Purge(ctx context.Context, t audit.Tombstone) error {
	if s.secret != nil && !s.secret.Public().CheckTombstone(t) {
		return s.failed(errors.New("purge: the tombstone is not signed with the store's key"))
	}
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		var fits bool
		err := w.conn.QueryRowContext(ctx, `SELECT ?1 = 1
				AND (SELECT min(seq) FROM records) = ?2
				AND (SELECT hash FROM records WHERE seq = ?3) = ?4
				AND NOT EXISTS (SELECT 1 FROM unanswered WHERE seq <= ?3) AND (SELECT answered FROM heads) >= ?3`,
			t.Chain, t.From, t.Through, t.Hash[:]).Scan(&fits)
		if err != nil {
			return err
		}
		if !fits {
			return errors.New("purge: the tombstone does not stand for the chain's oldest records, or one of them is unanswered")
		}
		if err := w.checkFloor(ctx, t); err != nil {
			return err
		}
		if err := w.exec(ctx, "INSERT INTO tombstones ("+tombstoneColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			int64(t.Chain), t.From, t.Through, t.Hash[:], t.Oldest.UnixMicro(), t.Newest.UnixMicro(), t.At.UnixMicro(), t.Signature); err != nil {
			return err
		}
		// What is removed will never be published.
		w.published = max(w.published, t.Through)
		if err := w.exec(ctx, outbox.move, w.published); err != nil {
			return err
		}
		if err := w.exec(ctx, "DELETE FROM outbox WHERE seq <= ?", t.Through); err != nil {
			return err
		}
		if err := w.exec(ctx, "DELETE FROM records WHERE seq <= ?", t.Through); err != nil {
			return err
		}
		return w.forgetClaims(ctx, t.Newest.UnixMicro())
	})
}
