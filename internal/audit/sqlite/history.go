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

func (s *store) Claim(ctx context.Context, claimID string) ([]audit.Record, error) {
	return s.list(ctx, selectRecords+"WHERE claim_id = ? ORDER BY seq", claimID)
}

func (s *store) Between(ctx context.Context, from, to time.Time, visit func(*audit.Record) error) error {
	return s.query(ctx, visit, selectRecords+"WHERE at >= ? AND at < ? ORDER BY at, seq", micros(from), micros(to))
}

// claimsAtOnce is how many claims one statement asks about: the values of askedClaims. Few claims of a batch have used up
// their retries; of outcomes all ask. The claims are a table of values because SQLite would build an index of an IN list.
const (
	claimsAtOnce = 8
	askedClaims  = "(VALUES (?1),(?2),(?3),(?4),(?5),(?6),(?7),(?8)) AS asked"
)

// inRound are the records of the present round of a claim: those behind its last outcome. The number stands in the text, for
// SQLite to know that the partial index holds all outcomes.
const inRound = "claim_id = asked.column1 AND seq > (SELECT coalesce(max(seq), 0) FROM records WHERE claim_id = asked.column1 AND kind >= 16)"

// Both are asked for jobs that wait, so they stay prepared.
var (
	selectRounds = fmt.Sprintf(`SELECT column1, coalesce(failures, 0), coalesce(retries, 0), coalesce(at_least, 0), (SELECT at FROM records WHERE seq = first),
			decision.variables, decision.detail, (SELECT opened FROM open_claims WHERE claim_id = column1),
			coalesce((SELECT kind = 17 FROM records WHERE claim_id = column1 AND kind >= 16 ORDER BY seq DESC LIMIT 1), 0)
		FROM %[1]s LEFT JOIN (
		SELECT claim_id, count(first) AS failures, sum(retried) AS retries, sum(records) >= %[3]d AS at_least, min(first) AS first, max(last) AS last FROM (
			SELECT claim_id, count(*) AS records, min(CASE WHEN kind <= 3 THEN seq END) AS first, max(CASE WHEN kind <= 3 THEN seq END) AS last,
				max(kind = 1) AS retried
			FROM %[1]s CROSS JOIN records ON %[2]s AND seq <= coalesce((SELECT seq FROM records WHERE %[2]s ORDER BY seq LIMIT 1 OFFSET %[3]d - 1), 9223372036854775807)
			GROUP BY claim_id, cluster, job_key, process_instance_key
		) GROUP BY claim_id) AS round ON round.claim_id = column1 LEFT JOIN records AS decision
			ON decision.seq = coalesce(last, (SELECT max(seq) FROM records WHERE claim_id = column1 AND kind >= 16)) WHERE column1 IS NOT NULL`, askedClaims, inRound, audit.MaxRound)
	selectFirstFailures = fmt.Sprintf(`SELECT claim_id, at FROM %s CROSS JOIN records ON seq =
		(SELECT seq FROM (SELECT seq, kind FROM records WHERE %s ORDER BY seq LIMIT %d) WHERE kind <= 3 LIMIT 1)`,
		askedClaims, inRound, audit.MaxRound)
)

// selectRetried returns the decisions about the instances of jobs in the present rounds of their claims, without those about the
// jobs themselves. Few rounds have more than some, so they are counted here and not there.
var selectRetried = fmt.Sprintf(`SELECT column1, seq, kind, job_key
	FROM (VALUES (0,?,?,?,?),(1,?,?,?,?),(2,?,?,?,?),(3,?,?,?,?),(4,?,?,?,?),(5,?,?,?,?),(6,?,?,?,?),(7,?,?,?,?)) AS asked
	CROSS JOIN records ON claim_id = column2 AND cluster = column3 AND process_instance_key = column4 AND job_key <> column5 AND kind <= 3
		AND seq > (SELECT coalesce(max(seq), 0) FROM records WHERE claim_id = column2 AND kind >= 16)
		AND seq > coalesce((SELECT seq FROM records WHERE claim_id = column2 ORDER BY seq DESC LIMIT 1 OFFSET %d), 0)`, audit.MaxRound)

func (s *store) Retried(ctx context.Context, jobs []audit.RoundJob) ([]int, error) {
	counts := make([]int, 0, len(jobs))
	for some := range slices.Chunk(jobs, claimsAtOnce) {
		found, err := s.retriedOf(ctx, some)
		if err != nil {
			return nil, s.failed(err)
		}
		for i := range some {
			counts = append(counts, found[i].count())
		}
	}
	return counts, nil
}

func (s *store) retriedOf(ctx context.Context, jobs []audit.RoundJob) (found [claimsAtOnce]retries, err error) {
	args := make([]any, 4*claimsAtOnce) // what is left is NULL, which no claim is
	for i := range jobs {
		j := &jobs[i]
		args[4*i], args[4*i+1], args[4*i+2], args[4*i+3] = j.ClaimID, j.Cluster, j.ProcessInstanceKey, j.JobKey
	}
	rows, err := s.retried.QueryContext(ctx, args...)
	if err != nil {
		return found, err
	}
	defer rows.Close()
	for rows.Next() {
		var n, kind int
		var d decided
		if err := rows.Scan(&n, &d.seq, &kind, &d.job); err != nil {
			return found, err
		}
		if r := &found[n]; kind == int(audit.KindRetry) {
			r.decided = append(r.decided, d)
		} else {
			r.stopped = max(r.stopped, d.seq)
		}
	}
	return found, rows.Err()
}

// retries are the retries of an instance, and when it was stopped last.
type retries struct {
	decided []decided
	stopped int64
}

type decided struct{ seq, job int64 }

// count returns how many jobs got a retry since the last stop.
func (r *retries) count() int {
	jobs := map[int64]bool{}
	for _, d := range r.decided {
		if d.seq > r.stopped {
			jobs[d.job] = true
		}
	}
	return len(jobs)
}

func (s *store) Rounds(ctx context.Context, claimIDs []string) ([]audit.Round, error) {
	return ofClaims(ctx, s, s.rounds, claimIDs, func(rows *sql.Rows) (claim string, round audit.Round, err error) {
		var first, opened sql.NullInt64
		var variables, detail sql.NullString
		err = rows.Scan(&claim, &round.Failures, &round.Retries, &round.AtLeast, &first, &variables, &detail, &opened, &round.Resubmitted)
		if first.Valid {
			round.FirstFailure = utc(first.Int64)
		}
		if opened.Valid {
			round.Opened = utc(opened.Int64)
		}
		round.Policy = audit.PolicyOf(variables.String, detail.String)
		return claim, round, err
	})
}

func (s *store) FirstFailures(ctx context.Context, claimIDs []string) ([]time.Time, error) {
	return ofClaims(ctx, s, s.firstFailures, claimIDs, func(rows *sql.Rows) (claim string, first time.Time, err error) {
		var at int64
		err = rows.Scan(&claim, &at)
		return claim, utc(at), err
	})
}

// ofClaims returns the answers to a question about the claims, in their order. It refuses an answer about another claim.
func ofClaims[T any](ctx context.Context, s *store, question *sql.Stmt, claimIDs []string, scan func(*sql.Rows) (string, T, error)) ([]T, error) {
	answers := make(map[string]T, len(claimIDs))
	for _, claim := range claimIDs {
		answers[claim] = *new(T)
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
			claim, answer, err := scan(rows)
			if err != nil {
				return err
			}
			if _, asked := answers[claim]; !asked {
				return fmt.Errorf("asked for other claims, it found a record of %q: an index of the claims is damaged", claim)
			}
			answers[claim] = answer
		}
		return rows.Err()
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(answers)), claimsAtOnce) {
		if err := ask(some); err != nil {
			return nil, s.failed(err)
		}
	}
	results := make([]T, len(claimIDs))
	for i, claim := range claimIDs {
		results[i] = answers[claim]
	}
	return results, nil
}

// micros is the least stored time that is not before t.
func micros(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }
