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

// Round tells how the present round of a claim went; see [audit.History].
func (s *Store) Round(ctx context.Context, claimID string) (round audit.Round, err error) {
	var first *int64
	err = s.ask(ctx, `SELECT count(DISTINCT job_key), count(DISTINCT CASE kind WHEN ? THEN job_key END), min(at) FROM records
		WHERE claim_id = ? AND kind BETWEEN ? AND ? AND seq > (
			SELECT coalesce(max(seq), 0) FROM records WHERE claim_id = ? AND kind >= ?)`,
		[]any{int64(audit.KindRetry), claimID, int64(audit.KindRetry), int64(audit.KindPermanent), claimID, int64(audit.FirstOutcome)},
		&round.Failures, &round.Retries, &first)
	if first != nil {
		round.FirstFailure = time.UnixMicro(*first).UTC()
	}
	return round, err
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
