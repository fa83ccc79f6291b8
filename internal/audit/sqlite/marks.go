package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// marks is one kind of mark that every new record has and loses once. Records lose it in about the order in which they
// were stored, so a new record gets its mark by its place alone: behind the kind's place in heads, all have it; up to
// there, those that the kind's table names. A mark costs nothing to make, and next to nothing to clear.
type marks struct{ move, add, clear string }

var (
	outbox = marks{
		move:  "UPDATE heads SET published = ?1, published_again = ?1",
		add:   "INSERT INTO outbox SELECT seq FROM records WHERE seq BETWEEN ? AND ?",
		clear: "DELETE FROM outbox WHERE seq BETWEEN ? AND ?",
	}
	unanswered = marks{
		move:  "UPDATE heads SET answered = ?1, answered_again = ?1",
		add:   "INSERT INTO unanswered SELECT seq FROM records WHERE seq BETWEEN ? AND ?",
		clear: "DELETE FROM unanswered WHERE seq BETWEEN ? AND ?",
	}
)

// clearMarks takes the mark from the records. place is the kind's place, as the writer knows it.
func (w *writer) clearMarks(ctx context.Context, m marks, place *int64, ids []int64) error {
	sorted, was := slices.Sorted(slices.Values(ids)), *place
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n] <= sorted[n-1]+1 {
			n++
		}
		from, to := sorted[0], sorted[n-1]
		sorted = sorted[n:]
		if from <= was {
			if err := w.exec(ctx, m.clear, from, min(to, was)); err != nil {
				return err
			}
		}
		if to <= *place {
			continue
		}
		if from > *place+1 { // those between keep the mark, by name from now on
			if err := w.exec(ctx, m.add, *place+1, from-1); err != nil {
				return err
			}
		}
		*place = to
	}
	if *place == was {
		return nil
	}
	return w.exec(ctx, m.move, *place)
}

func (s *store) Unanswered(ctx context.Context, ids []int64) ([]int64, error) {
	still, err := collect(ctx, s.read, scanInt, `SELECT seq FROM records WHERE seq IN (SELECT value FROM json_each(?))
		AND (seq > (SELECT coalesce(max(answered), 0) FROM heads) OR seq IN (SELECT seq FROM unanswered)) ORDER BY seq`, array(ids))
	return still, s.failed(err)
}

// Lead lets one caller publish; see [audit.Outbox]. There is no other process on the file.
func (s *store) Lead(ctx context.Context) (release func(), err error) {
	if !s.leading.CompareAndSwap(false, true) {
		return nil, audit.ErrNotLeading
	}
	if err := s.execMeta(ctx, noteMeta, metaQueue, now()); err != nil {
		s.leading.Store(false)
		return nil, err
	}
	return sync.OnceFunc(func() { s.leading.Store(false) }), nil
}

func (s *store) Unpublished(ctx context.Context, after int64, limit int) ([]audit.Record, error) {
	waiting, err := s.list(ctx, "SELECT "+columns+" FROM outbox CROSS JOIN records USING (seq) WHERE seq > ? ORDER BY seq LIMIT ?", after, int64(limit))
	if err != nil || len(waiting) == limit {
		return waiting, err
	}
	rest, err := s.list(ctx, selectRecords+"WHERE seq > max(?, (SELECT coalesce(max(published), 0) FROM heads)) ORDER BY seq LIMIT ?",
		after, int64(limit-len(waiting)))
	return append(waiting, rest...), err
}

func (s *store) Published(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return s.write(ctx, func(ctx context.Context, w *writer) error { return w.clearMarks(ctx, outbox, &w.published, ids) })
}

func (s *store) Backlog(ctx context.Context) (waiting int64, oldest time.Time, err error) {
	var at sql.NullInt64
	err = s.read.QueryRowContext(ctx, `WITH place(seq) AS (SELECT coalesce(max(published), 0) FROM heads), rest AS MATERIALIZED (
			SELECT coalesce((SELECT seq FROM records WHERE seq > (SELECT seq FROM place) ORDER BY seq LIMIT 1), 0) AS first,
				coalesce((SELECT max(seq) FROM records), 0) AS last
		) SELECT (SELECT count(*) FROM outbox) + (SELECT CASE first WHEN 0 THEN 0 ELSE last - first + 1 END FROM rest),
			coalesce((SELECT at FROM records WHERE seq = (SELECT min(seq) FROM outbox)), (SELECT at FROM records WHERE seq = (SELECT first FROM rest)))`,
	).Scan(&waiting, &at)
	if at.Valid {
		oldest = utc(at.Int64)
	}
	return waiting, oldest, s.failed(err)
}
