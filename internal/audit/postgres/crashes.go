package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// deleteCrashes takes rows in the order of their keys, as Begin does, so that two replicas with the same jobs do not wait
// for one another.
const deleteCrashes = `DELETE FROM crashes WHERE cluster = $1 AND job_key IN (SELECT job_key FROM crashes
	WHERE cluster = $1 AND job_key = ANY ($2::bigint[]) ORDER BY job_key FOR UPDATE)`

// forgetCrashes passes over what another replica handles just now: it is not so old any more.
const forgetCrashes = `DELETE FROM crashes WHERE (cluster, job_key) IN
	(SELECT cluster, job_key FROM crashes WHERE at < $1 FOR UPDATE SKIP LOCKED)`

func (s *store) Crashes(ctx context.Context, cluster string) (map[int64]int, error) {
	crashes := map[int64]int{}
	rows, _ := s.pool.Query(ctx, "SELECT job_key, count FROM crashes WHERE cluster = $1", cluster) // ForEachRow returns its error
	var key int64
	var count int
	if _, err := pgx.ForEachRow(rows, []any{&key, &count}, func() error { crashes[key] = count; return nil }); err != nil {
		return nil, s.wrap("count crashes", err)
	}
	if len(crashes) > 0 {
		s.noted.Store(true)
	}
	return crashes, nil
}

func (s *store) Begin(ctx context.Context, cluster string, jobKeys []int64) error {
	s.noted.Store(true)
	_, err := s.pool.Exec(ctx, `INSERT INTO crashes (cluster, job_key, count)
		SELECT DISTINCT $1::text, k, 1 FROM unnest($2::bigint[]) AS k ORDER BY k
		ON CONFLICT (cluster, job_key) DO UPDATE SET count = crashes.count + 1, at = excluded.at`, cluster, jobKeys)
	return s.wrap("note what is begun", err)
}

func (s *store) End(ctx context.Context, cluster string, jobKeys []int64) error {
	_, err := s.pool.Exec(ctx, deleteCrashes, cluster, jobKeys)
	return s.wrap("note what was released", err)
}

// endCrashes ends, in the transaction of an Append, the handling of the jobs of its records, if any was noted since the
// store was opened.
func (a *appending) endCrashes(b *pgx.Batch) {
	if !a.store.noted.Load() {
		return
	}
	byCluster := map[string][]int64{}
	for _, r := range a.found {
		byCluster[r.Cluster] = append(byCluster[r.Cluster], r.JobKey)
	}
	for cluster, keys := range byCluster {
		b.Queue(deleteCrashes, cluster, keys)
	}
}
