package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Lead implements [audit.Store]. There is no other process on the file.
func (s *store) Lead(ctx context.Context) (release func(), err error) {
	if !s.leading.CompareAndSwap(false, true) {
		return nil, audit.ErrNotLeading
	}
	err = s.write(ctx, func(ctx context.Context, w *writer) error {
		return w.exec(ctx, "INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)", metaQueue, time.Now().UTC().Format(time.DateTime))
	})
	if err != nil {
		s.leading.Store(false)
		return nil, err
	}
	return sync.OnceFunc(func() { s.leading.Store(false) }), nil
}

// Unpublished implements [audit.Store]. Records are committed in the order of their IDs, so one place tells them apart.
func (s *store) Unpublished(ctx context.Context, limit int) (waiting []audit.Record, err error) {
	err = records(ctx, s.read, func(r *audit.Record) error { waiting = append(waiting, *r); return nil },
		"SELECT "+columns+" FROM records WHERE seq > (SELECT published FROM outbox) ORDER BY seq LIMIT ?", limit)
	return waiting, s.failed(err)
}

// Published implements [audit.Store]: the place moves on as far as no record is left out.
func (s *store) Published(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(ids))
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		var place int64
		if err := w.conn.QueryRowContext(ctx, "SELECT published FROM outbox").Scan(&place); err != nil {
			return err
		}
		was := place
		for _, id := range sorted {
			if id == place+1 {
				place = id
			}
		}
		if place == was {
			return nil
		}
		return w.exec(ctx, "UPDATE outbox SET published = ?", place)
	})
}

// Backlog implements [audit.Store].
func (s *store) Backlog(ctx context.Context) (waiting int64, oldest time.Time, err error) {
	var at int64
	err = s.read.QueryRowContext(ctx, `SELECT (SELECT max(seq) FROM records) - published, at FROM outbox JOIN records ON seq > published
		WHERE EXISTS (SELECT 1 FROM meta WHERE name = ?) ORDER BY seq LIMIT 1`, metaQueue).Scan(&waiting, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, time.Time{}, nil
	}
	return waiting, audit.Time(at), s.failed(err)
}

// selectExpired finds the last record before the first that is too young. The plus keeps SQLite from the index on at: what is
// passed on the way is what will be removed.
const selectExpired = `SELECT seq, hash, seq - (SELECT min(seq) FROM records) + 1 FROM records
	WHERE seq < coalesce((SELECT seq FROM records WHERE +at >= ? ORDER BY seq LIMIT 1), (SELECT max(seq) + 1 FROM records)) ORDER BY seq DESC LIMIT 1`

// Purge implements [audit.Store].
func (s *store) Purge(ctx context.Context, before time.Time, dry bool) (removed []audit.Purged, err error) {
	find := func(from querier) error {
		return query(ctx, from, func(rows *sql.Rows) error {
			p := audit.Purged{Chain: chainNumber}
			var hash []byte
			err := rows.Scan(&p.Through, &hash, &p.Records)
			copy(p.Hash[:], hash)
			removed = []audit.Purged{p}
			return err
		}, selectExpired, micros(before))
	}
	if dry {
		err = find(s.read)
		return removed, s.failed(err)
	}
	err = s.write(ctx, func(ctx context.Context, w *writer) error {
		if err := find(w.conn); err != nil || removed == nil {
			return err
		}
		through := removed[0].Through
		return errors.Join(
			w.setMark(ctx, "cuts", w.secret.Cut(removed[0], time.Now())),
			w.exec(ctx, "UPDATE outbox SET published = max(published, ?)", through), // what is removed will never be published
			w.exec(ctx, "DELETE FROM records WHERE seq <= ?", through))
	})
	return removed, err
}
