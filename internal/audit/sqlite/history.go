package sqlite

import (
	"context"
	"database/sql"
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

// claimsAtOnce is how many claims one statement asks about: the values of askedClaims. Few claims of a batch have used up
// their retries; of outcomes all ask. The claims are a table of values because SQLite would build an index of an IN list.
const (
	claimsAtOnce = 8
	askedClaims  = "(VALUES (?),(?),(?),(?),(?),(?),(?),(?)) AS asked CROSS JOIN records"
)

// inRound are the records of the present round of a claim: those behind its last outcome. The number stands in the text, for
// SQLite to know that the partial index holds all outcomes.
const inRound = "claim_id = asked.column1 AND seq > (SELECT coalesce(max(seq), 0) FROM records WHERE claim_id = asked.column1 AND kind >= 16)"

// Both are asked for jobs that wait, so they stay prepared.
var (
	selectRounds = fmt.Sprintf(`SELECT claim_id, cluster, job_key, process_instance_key, kind, at FROM %[1]s ON %[2]s AND seq <= coalesce(
		(SELECT seq FROM records WHERE %[2]s ORDER BY seq LIMIT 1 OFFSET %[3]d), 9223372036854775807) ORDER BY seq`,
		askedClaims, inRound, audit.MaxRound-1)
	selectFirstFailures = fmt.Sprintf(`SELECT claim_id, at FROM %s ON seq =
		(SELECT seq FROM (SELECT seq, kind FROM records WHERE %s ORDER BY seq LIMIT %d) WHERE kind <= 3 LIMIT 1)`,
		askedClaims, inRound, audit.MaxRound)
)

// Rounds returns how the present rounds of claims went; see [audit.History].
func (s *Store) Rounds(ctx context.Context, claimIDs []string) ([]audit.Round, error) {
	rounds := make(map[string]*presentRound, len(claimIDs))
	err := s.ofClaims(ctx, s.rounds, claimIDs, func(rows *sql.Rows) (string, error) {
		var claim string
		var job audit.Key
		var kind, at int64
		if err := rows.Scan(&claim, &job.Cluster, &job.JobKey, &job.ProcessInstanceKey, &kind, &at); err != nil {
			return "", err
		}
		if rounds[claim] == nil {
			rounds[claim] = &presentRound{retried: map[audit.Key]bool{}}
		}
		rounds[claim].add(job, audit.Kind(kind), at) //nolint:gosec // a stored kind
		return claim, nil
	})
	if err != nil {
		return nil, err
	}
	results := make([]audit.Round, len(claimIDs))
	for i, claim := range claimIDs {
		if round := rounds[claim]; round != nil {
			results[i] = round.result()
		}
	}
	return results, nil
}

// FirstFailures returns since when claims fail; see [audit.History].
func (s *Store) FirstFailures(ctx context.Context, claimIDs []string) ([]time.Time, error) {
	first := make(map[string]time.Time, len(claimIDs))
	err := s.ofClaims(ctx, s.firstFailures, claimIDs, func(rows *sql.Rows) (claim string, err error) {
		var at int64
		err = rows.Scan(&claim, &at)
		first[claim] = utc(at)
		return claim, err
	})
	if err != nil {
		return nil, err
	}
	results := make([]time.Time, len(claimIDs))
	for i, claim := range claimIDs {
		results[i] = first[claim]
	}
	return results, nil
}

// ofClaims calls visit with each row of what is asked about the claims, and holds the claim that it returns against them.
func (s *Store) ofClaims(ctx context.Context, question *sql.Stmt, claimIDs []string, visit func(*sql.Rows) (string, error)) error {
	claims := make(map[string]bool, len(claimIDs))
	for _, claim := range claimIDs {
		claims[claim] = true
	}
	ask := func(some []string) error {
		args := make([]any, claimsAtOnce) // what is left is NULL, which no claim is
		for i, claim := range some {
			args[i] = claim
		}
		rows, err := question.QueryContext(ctx, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			claim, err := visit(rows)
			if err != nil {
				return err
			}
			if !claims[claim] {
				return fmt.Errorf("asked for other claims, it found a record of %q: an index of the claims is damaged", claim)
			}
		}
		return rows.Err()
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(claims)), claimsAtOnce) {
		if err := ask(some); err != nil {
			return s.failed(err)
		}
	}
	return nil
}

// presentRound is the present round of a claim, as far as its records are read.
type presentRound struct {
	records int
	retried map[audit.Key]bool // by job; whether a retry was scheduled for it
	first   int64              // when the first failure was decided about, in Unix microseconds
}

// add adds the next record.
func (p *presentRound) add(job audit.Key, kind audit.Kind, at int64) {
	p.records++
	if !kind.IsDecision() {
		return
	}
	if len(p.retried) == 0 {
		p.first = at
	}
	p.retried[job] = p.retried[job] || kind == audit.KindRetry
}

func (p *presentRound) result() audit.Round {
	round := audit.Round{Failures: len(p.retried), AtLeast: p.records >= audit.MaxRound}
	if round.Failures > 0 {
		round.FirstFailure = utc(p.first)
	}
	for _, retried := range p.retried {
		if retried {
			round.Retries++
		}
	}
	return round
}

// The numbers stand in the text, for SQLite to know that the partial index holds all of them.
const selectSuccess = "SELECT count(*) FILTER (WHERE kind = 16), count(*) FROM records WHERE kind >= 16 AND at >= ? AND retry_count > 0"

// Success counts the outcomes of rounds that were retried; see [audit.History].
func (s *Store) Success(ctx context.Context, from time.Time) (accepted, retried int64, err error) {
	err = s.read.QueryRowContext(ctx, selectSuccess, micros(from)).Scan(&accepted, &retried)
	return accepted, retried, s.failed(err)
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
