package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Deaths implements [audit.Deaths].
func (s *Store) Deaths(ctx context.Context, cluster string, jobKeys []int64) ([]int, error) {
	rows, err := s.pool.Query(ctx, "SELECT job_key, begun FROM deaths WHERE cluster = $1 AND job_key = ANY ($2::bigint[])", cluster, jobKeys)
	if err != nil {
		return nil, s.wrap("count deaths", err)
	}
	begun := map[int64]int{}
	var key int64
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&key, &n}, func() error {
		begun[key] = n
		return nil
	}); err != nil {
		return nil, s.wrap("count deaths", err)
	}
	counts := make([]int, len(jobKeys))
	for i, key := range jobKeys {
		counts[i] = begun[key]
	}
	return counts, nil
}

// Begin implements [audit.Deaths]. Rows are taken in the order of their keys, here and in End, so that two replicas with
// the same jobs do not wait for one another.
func (s *Store) Begin(ctx context.Context, cluster string, jobKeys []int64) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO deaths (cluster, job_key, begun)
		SELECT DISTINCT $1::text, k, 1 FROM unnest($2::bigint[]) AS k ORDER BY k
		ON CONFLICT (cluster, job_key) DO UPDATE SET begun = deaths.begun + 1`, cluster, jobKeys)
	return s.wrap("note what is begun", err)
}

// End implements [audit.Deaths].
func (s *Store) End(ctx context.Context, cluster string, jobKeys []int64) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM deaths WHERE cluster = $1 AND job_key IN (SELECT job_key FROM deaths
		WHERE cluster = $1 AND job_key = ANY ($2::bigint[]) ORDER BY job_key FOR UPDATE)`, cluster, jobKeys)
	return s.wrap("note what is ended", err)
}
