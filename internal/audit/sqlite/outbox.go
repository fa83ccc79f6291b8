package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Unanswered returns those that have the mark; see [audit.Log].
func (s *Store) Unanswered(ctx context.Context, ids []int64) (still []int64, err error) {
	for len(ids) > 0 {
		n := chunk(len(ids))
		args := make([]any, n)
		for i, id := range ids[:n] {
			args[i] = id
		}
		if still, err = s.numbers(ctx, still, askUnanswered[n], args...); err != nil {
			return nil, err
		}
		ids = ids[n:]
	}
	return still, nil
}

// numbers appends what a query of one column yields.
func (s *Store) numbers(ctx context.Context, to []int64, query string, args ...any) ([]int64, error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, s.failed(err)
		}
		to = append(to, n)
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed(err)
	}
	return to, nil
}

// Lead lets one caller publish; see [audit.Outbox]. There is no other process on the file.
func (s *Store) Lead(context.Context) (release func(), err error) {
	if !s.leading.CompareAndSwap(false, true) {
		return nil, audit.ErrNotLeading
	}
	return sync.OnceFunc(func() { s.leading.Store(false) }), nil
}

// Unpublished returns what waits to be published; see [audit.Outbox].
func (s *Store) Unpublished(ctx context.Context, after int64, limit int) ([]audit.Record, error) {
	return s.list(ctx, "SELECT "+columns+" FROM outbox JOIN records USING (seq) WHERE seq > ? ORDER BY seq LIMIT ?", after, int64(limit))
}

// Published removes records from the outbox; see [audit.Outbox].
func (s *Store) Published(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return s.write(ctx, func(ctx context.Context, w *writer) error { return w.execIDs(ctx, clearPublished, ids) })
}

// Backlog is how much waits to be published; see [audit.Outbox].
func (s *Store) Backlog(ctx context.Context) (waiting int64, oldest time.Time, err error) {
	var at sql.NullInt64
	err = s.ask(ctx, "SELECT count(*), (SELECT at FROM records WHERE seq = (SELECT min(seq) FROM outbox)) FROM outbox", nil, &waiting, &at)
	if at.Valid {
		oldest = time.UnixMicro(at.Int64).UTC()
	}
	return waiting, oldest, err
}

// Deaths counts handlings that never ended; see [audit.Deaths].
func (s *Store) Deaths(ctx context.Context, cluster string, jobKeys []int64) ([]int, error) {
	counts := make([]int, len(jobKeys))
	for i, key := range jobKeys {
		if err := s.ask(ctx, "SELECT count FROM deaths WHERE cluster = ? AND job_key = ?", []any{cluster, key}, &counts[i]); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// Begin notes that jobs are about to be handled; see [audit.Deaths].
func (s *Store) Begin(ctx context.Context, cluster string, jobKeys []int64) error {
	return s.eachJob(ctx, addDeath, cluster, jobKeys)
}

// End notes that the handling is over; see [audit.Deaths].
func (s *Store) End(ctx context.Context, cluster string, jobKeys []int64) error {
	return s.eachJob(ctx, "DELETE FROM deaths WHERE cluster = ? AND job_key = ?", cluster, jobKeys)
}

func (s *Store) eachJob(ctx context.Context, query, cluster string, jobKeys []int64) error {
	if len(jobKeys) == 0 {
		return nil
	}
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		for _, key := range jobKeys {
			if err := w.exec(ctx, query, cluster, key); err != nil {
				return err
			}
		}
		return nil
	})
}
