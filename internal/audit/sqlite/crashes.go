package sqlite

import (
	"context"
	"database/sql"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// The jobs are a JSON array of their keys.
const (
	addCrashes = `INSERT INTO crashes (cluster, job_key, count) SELECT ?1, value, 1 FROM json_each(?2) WHERE true
		ON CONFLICT DO UPDATE SET count = count + 1, at = excluded.at`
	clearCrashes = "DELETE FROM crashes WHERE cluster = ?1 AND job_key IN (SELECT value FROM json_each(?2))"
)

func (s *store) Crashes(ctx context.Context, cluster string) (map[int64]int, error) {
	crashes := map[int64]int{}
	_, err := collect(ctx, s.read, func(rows *sql.Rows) (key int64, err error) {
		var count int
		err = rows.Scan(&key, &count)
		crashes[key] = count
		return key, err
	}, "SELECT job_key, count FROM crashes WHERE cluster = ?", cluster)
	if err != nil || len(crashes) == 0 && !s.died {
		return nil, s.failed(err)
	}
	s.noted.Store(true)
	return crashes, nil
}

// begin notes that a process has the store open, until it closes it, and whether the one before has not. That only saves work:
// a process that finds the note looks more closely at what it does. begin also forgets the crashes that are too old.
func (s *store) begin(ctx context.Context, w *writer) (err error) {
	if err := w.exec(ctx, "DELETE FROM crashes WHERE at < ?", time.Now().Add(-audit.CrashesKept).UnixMicro()); err != nil {
		return err
	}
	if _, s.died, err = readMeta(ctx, w.conn, metaRunning); err != nil {
		return err
	}
	return w.exec(ctx, noteMeta, metaRunning, "")
}

func (s *store) Begin(ctx context.Context, cluster string, jobKeys []int64) error {
	s.noted.Store(true)
	return s.write(ctx, func(ctx context.Context, w *writer) error { return w.exec(ctx, addCrashes, cluster, array(jobKeys)) })
}

func (s *store) End(ctx context.Context, cluster string, jobKeys []int64) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error { return w.exec(ctx, clearCrashes, cluster, array(jobKeys)) })
}

// endCrashes ends the handling of the jobs of these records, if any was noted since the store was opened.
func (s *store) endCrashes(ctx context.Context, w *writer, records []audit.Record) error {
	if !s.noted.Load() {
		return nil
	}
	byCluster := map[string][]int64{}
	for i := range records {
		byCluster[records[i].Cluster] = append(byCluster[records[i].Cluster], records[i].JobKey)
	}
	for cluster, keys := range byCluster {
		if err := w.exec(ctx, clearCrashes, cluster, array(keys)); err != nil {
			return err
		}
	}
	return nil
}
