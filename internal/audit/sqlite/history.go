package sqlite

import (
	"context"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

const selectRecords = "SELECT " + columns + " FROM records "

// Claim returns all records of a claim; see [audit.History].
func (s *Store) Claim(ctx context.Context, claimID string) ([]audit.Record, error) {
	return s.list(ctx, selectRecords+"WHERE claim_id = ? ORDER BY seq", claimID)
}

// Between visits the records of a time; see [audit.History].
func (s *Store) Between(ctx context.Context, from, to time.Time, visit func(*audit.Record) error) error {
	return s.query(ctx, visit, selectRecords+"WHERE at >= ? AND at < ? ORDER BY at, seq", micros(from), micros(to))
}

// Pending returns the retries that nothing was heard of since; see [audit.History].
func (s *Store) Pending(ctx context.Context, from, due time.Time) ([]audit.Record, error) {
	return s.list(ctx, selectRecords+`AS r WHERE at >= ? AND next_retry < ? AND kind = ? AND NOT EXISTS (
			SELECT 1 FROM records AS later WHERE later.claim_id = r.claim_id AND later.seq > r.seq AND later.kind <> ?
		) ORDER BY next_retry, seq`,
		micros(from), ceilSeconds(due), int64(audit.KindRetry), int64(audit.KindUndelivered))
}

// roundOf reads a claim from its latest record back. It is asked for jobs that wait, so it stays prepared.
const roundOf = "SELECT cluster, job_key, process_instance_key, kind, at FROM records WHERE claim_id = ? ORDER BY seq DESC"

// Round tells how the present round of a claim went; see [audit.History].
func (s *Store) Round(ctx context.Context, claimID string) (round audit.Round, err error) {
	rows, err := s.round.QueryContext(ctx, claimID)
	if err != nil {
		return round, s.failed(err)
	}
	defer rows.Close()
	retried := map[audit.Key]bool{} // by job; whether a retry was scheduled for it
	for rows.Next() {
		var job audit.Key
		var kind, at int64
		if err := rows.Scan(&job.Cluster, &job.JobKey, &job.ProcessInstanceKey, &kind, &at); err != nil {
			return round, s.failed(err)
		}
		if audit.Kind(kind).IsOutcome() { //nolint:gosec // a stored kind
			break
		}
		if audit.Kind(kind).IsDecision() { //nolint:gosec // a stored kind
			retried[job] = retried[job] || audit.Kind(kind) == audit.KindRetry //nolint:gosec // a stored kind
			round.FirstFailure = time.UnixMicro(at).UTC()
		}
	}
	if err := rows.Err(); err != nil {
		return round, s.failed(err)
	}
	for _, r := range retried {
		round.Failures++
		if r {
			round.Retries++
		}
	}
	return round, nil
}

// Success counts the outcomes of rounds that were retried; see [audit.History].
func (s *Store) Success(ctx context.Context, from time.Time) (accepted, retried int64, err error) {
	// The number stands in the text, for SQLite to know that the partial index holds all of them.
	err = s.ask(ctx, "SELECT count(*) FILTER (WHERE kind = 16), count(*) FROM records WHERE kind >= 16 AND at >= ? AND retry_count > 0",
		[]any{micros(from)}, &accepted, &retried)
	return accepted, retried, err
}

// micros is the least stored time that is not before t.
func micros(t time.Time) int64 {
	us := t.UnixMicro()
	if t.After(time.UnixMicro(us)) {
		us++
	}
	return us
}

// ceilSeconds likewise, for what is stored in seconds.
func ceilSeconds(t time.Time) int64 {
	s := t.Unix()
	if t.After(time.Unix(s, 0)) {
		s++
	}
	return s
}
