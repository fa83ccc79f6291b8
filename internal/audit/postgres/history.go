package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
)

// pageRows is how many records are read at a time where there may be any number of them, so that no transaction stays
// open for long and none of the service's timeouts is about them.
const pageRows = 5000

func (s *store) Claim(ctx context.Context, claimID string) ([]audit.Record, error) {
	return s.records(ctx, "SELECT "+columns+" FROM records WHERE claim_id = $1 ORDER BY id", claimID)
}

func (s *store) Between(ctx context.Context, from, to time.Time, visit func(*audit.Record) error) error {
	at, id := from, int64(0)
	return s.pages(ctx, "SELECT "+columns+" FROM records WHERE (at, id) > ($1, $2) AND at < $3 ORDER BY at, id LIMIT $4",
		func() []any { return []any{at, id, to, pageRows} },
		func(r *audit.Record) error {
			at, id = r.At, r.ID
			return visit(r)
		})
}

// selectOpenClaims returns a page of the open claims, each with the last record that shows its state. A refused decision (7) that
// comes after the end of its claim opens none.
var selectOpenClaims = "SELECT " + strings.Replace(columns, "claim_id", "last.claim_id", 1) + `, opened FROM open_claims AS open CROSS JOIN LATERAL
	(SELECT * FROM records WHERE (claim_id, id) > (open.claim_id, 0) AND (claim_id, id) <= (open.claim_id, 9223372036854775807)
		AND kind NOT IN (5, 7) ORDER BY claim_id DESC, id DESC LIMIT 1) AS last
	WHERE (opened, open.claim_id) > ($1, $2) AND last.kind NOT IN (16, 18) ORDER BY opened, open.claim_id LIMIT $3`

func (s *store) OpenClaims(ctx context.Context, visit func(*audit.OpenClaim) error) error {
	var c audit.OpenClaim
	at, claim := time.Time{}, ""
	return s.pages(ctx, selectOpenClaims,
		func() []any { return []any{at, claim, pageRows} },
		func(r *audit.Record) error {
			c.Record, c.Opened = *r, c.Opened.UTC()
			at, claim = c.Opened, c.ClaimID
			return visit(&c)
		}, &c.Opened)
}

// The claim of a question is compared as a row with all columns of the index, and asked for in the order of the index: by its
// statistics PostgreSQL takes one claim that has most of the records for what every claim is like, and would walk through all
// records in the order of their ids to find those of a claim that has few.
const (
	behind    = `(claim_id, id) > (asked.claim, %s) AND (claim_id, id) <= (asked.claim, 9223372036854775807)`
	backwards = ` ORDER BY claim_id DESC, id DESC`
)

// ofClaim are all records of asked.claim, lastOutcome is the id of its last outcome, null where it has none. The number stands in
// the text, or the index of the outcomes would not fit.
var (
	ofClaim     = fmt.Sprintf(behind, "0")
	lastOutcome = "(SELECT id FROM records WHERE " + ofClaim + " AND kind >= 16" + backwards + " LIMIT 1)"
	sinceThen   = fmt.Sprintf(behind, "coalesce("+lastOutcome+", 0)")
)

// inRound are the first records of the present round of asked.claim: those behind its last outcome.
var inRound = fmt.Sprintf(`SELECT claim_id, id, kind, at, cluster, job_key, process_instance_key FROM records WHERE %s
	ORDER BY claim_id, id LIMIT %d`, sinceThen, audit.MaxRound)

var (
	selectRounds = fmt.Sprintf(`SELECT failures, retries, at_least, first, coalesce(decision.variables, ''), coalesce(decision.detail, ''),
			(SELECT opened FROM open_claims WHERE claim_id = asked.claim),
			coalesce((SELECT kind = 17 FROM records WHERE %s AND kind >= 16%s LIMIT 1), false)
		FROM unnest($1::text[]) WITH ORDINALITY AS asked (claim, n) CROSS JOIN LATERAL (
			SELECT count(DISTINCT (cluster, job_key, process_instance_key)) FILTER (WHERE kind <= 3) AS failures,
				count(DISTINCT (cluster, job_key, process_instance_key)) FILTER (WHERE kind = 1) AS retries,
				count(*) >= %d AS at_least, (array_agg(at ORDER BY id) FILTER (WHERE kind <= 3))[1] AS first,
				max(id) FILTER (WHERE kind <= 3) AS last
			FROM (%s) AS records
		) AS round LEFT JOIN records AS decision
			ON decision.id = coalesce(last, %s) ORDER BY n`, ofClaim, backwards, audit.MaxRound, inRound, lastOutcome)
	selectFirstFailures = fmt.Sprintf(`SELECT first.at
		FROM unnest($1::text[]) WITH ORDINALITY AS asked (claim, n) LEFT JOIN LATERAL (
			SELECT at FROM (%s) AS round WHERE kind <= 3 ORDER BY claim_id, id LIMIT 1
		) AS first ON true ORDER BY n`, inRound)
)

// selectRetried counts the jobs with a retry behind the last record that stopped the instance.
var selectRetried = fmt.Sprintf(`SELECT retried
	FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS asked (claim, cluster, instance, job, n) CROSS JOIN LATERAL (
		WITH round AS (
			SELECT id, kind, job_key FROM (
				SELECT id, kind, job_key, process_instance_key, cluster FROM records WHERE %s%s LIMIT %d
			) AS last WHERE process_instance_key = asked.instance AND last.cluster = asked.cluster
		)
		SELECT count(DISTINCT job_key) AS retried FROM round
			WHERE kind = 1 AND job_key <> asked.job AND id > (SELECT coalesce(max(id), 0) FROM round WHERE kind IN (2, 3) AND job_key <> asked.job)
	) AS counted ORDER BY n`, sinceThen, backwards, audit.MaxRound)

func (s *store) Retried(ctx context.Context, jobs []audit.RoundJob) ([]int, error) {
	n := len(jobs)
	claims, clusters, instances, keys := make([]string, n), make([]string, n), make([]int64, n), make([]int64, n)
	for i := range jobs {
		claims[i], clusters[i], instances[i], keys[i] = jobs[i].ClaimID, jobs[i].Cluster, jobs[i].ProcessInstanceKey, jobs[i].JobKey
	}
	counts, err := list(ctx, s.pool, pgx.RowTo[int], selectRetried, claims, clusters, instances, keys)
	if err == nil && len(counts) != n {
		err = fmt.Errorf("%d counts of %d jobs", len(counts), n)
	}
	return counts, s.wrap("count retries", err)
}

func (s *store) Rounds(ctx context.Context, claimIDs []string) ([]audit.Round, error) {
	return ofClaims(ctx, s, selectRounds, claimIDs, func(row pgx.CollectableRow) (round audit.Round, err error) {
		var first, opened *time.Time
		var variables, detail string
		err = row.Scan(&round.Failures, &round.Retries, &round.AtLeast, &first, &variables, &detail, &opened, &round.Resubmitted)
		round.FirstFailure, round.Opened, round.Policy = utc(first), utc(opened), audit.PolicyOf(variables, detail)
		return round, err
	})
}

func (s *store) FirstFailures(ctx context.Context, claimIDs []string) ([]time.Time, error) {
	return ofClaims(ctx, s, selectFirstFailures, claimIDs, func(row pgx.CollectableRow) (time.Time, error) {
		var first *time.Time
		err := row.Scan(&first)
		return utc(first), err
	})
}

// ofClaims asks about claims, about each of them once, and returns the answers in the order of claimIDs.
func ofClaims[T any](ctx context.Context, s *store, query string, claimIDs []string, scan pgx.RowToFunc[T]) ([]T, error) {
	claims := slices.Compact(slices.Sorted(slices.Values(claimIDs)))
	found, err := list(ctx, s.pool, scan, query, claims)
	if err == nil && len(found) != len(claims) {
		err = fmt.Errorf("%d answers about %d claims", len(found), len(claims))
	}
	if err != nil {
		return nil, s.wrap("read claims", err)
	}
	answers := make([]T, len(claimIDs))
	for i, claim := range claimIDs {
		n, _ := slices.BinarySearch(claims, claim)
		answers[i] = found[n]
	}
	return answers, nil
}

// utc is a time that may be missing.
func utc(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func (s *store) records(ctx context.Context, query string, arguments ...any) ([]audit.Record, error) {
	rows, _ := s.pool.Query(ctx, query, arguments...) // collect returns its error
	records, err := collect(rows)
	return records, s.wrap("read records", err)
}

// pages calls visit with the records of one page after the other, until one is not full. The arguments
// say where a page begins; the columns behind a record's are scanned into more. An error of visit's is returned as it is.
func (s *store) pages(ctx context.Context, query string, arguments func() []any, visit func(*audit.Record) error, more ...any) error {
	for {
		rows, _ := s.pool.Query(ctx, query, arguments()...) // each returns its error
		n := 0
		var own error // visit's error is not the store's
		err := each(rows, func(r *audit.Record) error { n++; own = visit(r); return own }, more...)
		if own != nil {
			return own
		}
		if err != nil || n < pageRows {
			return s.wrap("read records", err)
		}
	}
}
