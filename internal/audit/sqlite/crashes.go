package sqlite

import (
	"context"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Crashes counts handlings that never ended; see [audit.Crashes].
func (s *Store) Crashes(ctx context.Context, cluster string) (map[int64]int, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT job_key, count FROM crashes WHERE cluster = ?", cluster)
	if err != nil {
		return nil, s.failed(err)
	}
	defer rows.Close()
	crashes := map[int64]int{}
	for rows.Next() {
		var key int64
		var count int
		if err := rows.Scan(&key, &count); err != nil {
			return nil, s.failed(err)
		}
		crashes[key] = count
	}
	if err := rows.Err(); err != nil {
		return nil, s.failed(err)
	}
	if len(crashes) == 0 && !s.died {
		return nil, nil
	}
	s.noted.Store(true)
	return crashes, nil
}

// Whether the process before has died is told by a mark that a process makes when it opens the store and takes away
// when it closes it. It only saves work: a process that finds it looks more closely at what it does.
const (
	markRunning   = "INSERT INTO meta (name, value) VALUES ('running', '')"
	clearRunning  = "DELETE FROM meta WHERE name = 'running'"
	selectRunning = "SELECT count(*) FROM meta WHERE name = 'running'"
)

// begin makes the mark, and notes whether there was one. It also forgets the crashes that are too old.
func (s *Store) begin(ctx context.Context, w *writer) error {
	if err := w.exec(ctx, "DELETE FROM crashes WHERE at < ?", time.Now().Add(-audit.CrashesKept).UnixMicro()); err != nil {
		return err
	}
	var n int
	if err := w.conn.QueryRowContext(ctx, selectRunning).Scan(&n); err != nil {
		return err
	}
	if s.died = n > 0; s.died {
		return nil
	}
	return w.exec(ctx, markRunning)
}

// Begin notes that jobs are about to be handled; see [audit.Crashes].
func (s *Store) Begin(ctx context.Context, cluster string, jobKeys []int64) error {
	s.noted.Store(true)
	return s.write(ctx, func(ctx context.Context, w *writer) error { return w.execJobs(ctx, addCrashes, cluster, jobKeys) })
}

// End notes that jobs were handed back; see [audit.Crashes].
func (s *Store) End(ctx context.Context, cluster string, jobKeys []int64) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error { return w.execJobs(ctx, clearCrashes, cluster, jobKeys) })
}

// endCrashes ends the handling of the jobs of these records, if any was noted since the store was opened.
func (s *Store) endCrashes(ctx context.Context, w *writer, records []audit.Record) error {
	if !s.noted.Load() {
		return nil
	}
	byCluster := map[string][]int64{}
	for i := range records {
		byCluster[records[i].Cluster] = append(byCluster[records[i].Cluster], records[i].JobKey)
	}
	for cluster, keys := range byCluster {
		if err := w.execJobs(ctx, clearCrashes, cluster, keys); err != nil {
			return err
		}
	}
	return nil
}
