package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"
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

// roundsAtOnce is how many claims one statement asks about, a power of two. Few claims of a batch have used up their
// retries; of outcomes all ask.
const roundsAtOnce = 8

// roundsOf reads claims from their latest record back. It is asked for jobs that wait, so it stays prepared. The claims
// are a table of values because SQLite would build an index of an IN list each time.
var roundsOf = repeated{
	"SELECT claim_id, cluster, job_key, process_instance_key, kind, at FROM (VALUES ", "(?)",
	") AS asked CROSS JOIN records ON claim_id = asked.column1 ORDER BY seq DESC",
}.build()[roundsAtOnce]

// Rounds tells how the present rounds of claims went; see [audit.History].
func (s *Store) Rounds(ctx context.Context, claimIDs []string) ([]audit.Round, error) {
	claims := make(map[string]*presentRound, len(claimIDs))
	for _, claim := range claimIDs {
		claims[claim] = &presentRound{retried: map[audit.Key]bool{}}
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(claims)), roundsAtOnce) {
		if err := s.readRounds(ctx, some, claims); err != nil {
			return nil, s.failed(err)
		}
	}
	rounds := make([]audit.Round, len(claimIDs))
	for i, claim := range claimIDs {
		rounds[i] = claims[claim].result()
	}
	return rounds, nil
}

func (s *Store) readRounds(ctx context.Context, some []string, claims map[string]*presentRound) error {
	args := make([]any, roundsAtOnce) // what is left is NULL, which no claim is
	for i, claim := range some {
		args[i] = claim
	}
	rows, err := s.rounds.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var claim string
		var job audit.Key
		var kind, at int64
		if err := rows.Scan(&claim, &job.Cluster, &job.JobKey, &job.ProcessInstanceKey, &kind, &at); err != nil {
			return err
		}
		if claims[claim] == nil {
			return fmt.Errorf("asked for other claims, it found a record of %q: the index records_claim is damaged", claim)
		}
		claims[claim].before(job, audit.Kind(kind), time.UnixMicro(at).UTC()) //nolint:gosec // a stored kind
	}
	return rows.Err()
}

// presentRound is the present round of a claim, as far as its records are read.
type presentRound struct {
	begun   bool               // its beginning is reached
	retried map[audit.Key]bool // by job; whether a retry was scheduled for it
	first   time.Time
}

// before adds the record before those that are read.
func (p *presentRound) before(job audit.Key, kind audit.Kind, at time.Time) {
	p.begun = p.begun || kind.IsOutcome()
	if !p.begun && kind.IsDecision() {
		p.retried[job] = p.retried[job] || kind == audit.KindRetry
		p.first = at
	}
}

func (p *presentRound) result() audit.Round {
	round := audit.Round{FirstFailure: p.first}
	for _, retried := range p.retried {
		round.Failures++
		if retried {
			round.Retries++
		}
	}
	return round
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
