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
	var at sql.NullInt64
	err = s.read.QueryRowContext(ctx, `SELECT max((SELECT coalesce(max(seq), 0) FROM records) - published, 0),
		(SELECT at FROM records WHERE seq > published ORDER BY seq LIMIT 1) FROM outbox`).Scan(&waiting, &at)
	if at.Valid {
		oldest = utc(at.Int64)
	}
	return waiting, oldest, s.failed(err)
}

// selectExpired finds the oldest record, the first one that is too young for the first and for the second time, and the first
// one whose event is yet to be published. The plus keeps SQLite from the index on at: the young one is found by going from the
// oldest on, and what is passed on the way is what will be removed.
const selectExpired = `WITH ends AS (
		SELECT (SELECT min(seq) FROM records) AS first, (SELECT max(seq) + 1 FROM records) AS beyond,
			(SELECT seq FROM records WHERE +at >= ?1 ORDER BY seq LIMIT 1) AS young,
			(SELECT seq FROM records WHERE +at >= ?2 ORDER BY seq LIMIT 1) AS open,
			CASE WHEN EXISTS (SELECT 1 FROM meta WHERE name = 'queue') THEN (SELECT published + 1 FROM outbox) END AS unpublished
	), stay AS (
		SELECT first, coalesce(young, beyond) AS young, coalesce(open, beyond) AS open, coalesce(unpublished, beyond) AS unpublished FROM ends
	), cut AS (SELECT *, min(young, open, unpublished) AS stays FROM stay)
	SELECT first, stays - 1, coalesce((SELECT hash FROM records WHERE seq = stays - 1), x''),
		coalesce((SELECT min(at) FROM records WHERE seq BETWEEN first AND stays - 1), 0),
		coalesce((SELECT max(at) FROM records WHERE seq BETWEEN first AND stays - 1), 0),
		CASE WHEN stays = young THEN '' WHEN stays = open THEN 'open claim' ELSE 'outbox' END
	FROM cut WHERE first < young`

// Purge implements [audit.Store].
func (s *store) Purge(ctx context.Context, before time.Time, dry bool) (all []audit.Purged, err error) {
	open := before
	err = s.Open(ctx, func(_ string, state *audit.State) error {
		if state.Opened.Before(open) {
			open = state.Opened
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	find := func(from querier) (p audit.Purged, err error) {
		var hash []byte
		var oldest, newest int64
		p.Chain = chainNumber
		err = from.QueryRowContext(ctx, selectExpired, micros(before), micros(open)).Scan(&p.From, &p.Through, &hash, &oldest, &newest, &p.Held)
		copy(p.Hash[:], hash)
		p.Oldest, p.Newest = utc(oldest), utc(newest)
		return p, err
	}
	var p audit.Purged
	if dry {
		p, err = find(s.read)
	} else {
		err = s.write(ctx, func(ctx context.Context, w *writer) error {
			if p, err = find(w.conn); err != nil || p.Through < p.From {
				return err
			}
			cut := w.secret.Cut(p, time.Now())
			return errors.Join(
				w.exec(ctx, "INSERT OR REPLACE INTO cuts ("+cutColumns+") VALUES (?, ?, ?, ?, ?)", cut.Chain, cut.Through, cut.Hash[:], cut.At.UnixMicro(), cut.Signature),
				w.exec(ctx, "UPDATE outbox SET published = max(published, ?)", cut.Through), // what is removed will never be published
				w.exec(ctx, "DELETE FROM records WHERE seq <= ?", cut.Through))
		})
	}
	if errors.Is(err, sql.ErrNoRows) { // there is nothing so old
		return nil, nil
	}
	if err != nil {
		return nil, s.failed(err)
	}
	return []audit.Purged{p}, nil
}
