package claims_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

var ended = []audit.Standing{audit.Submitted, audit.Abandoned}

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// storeOf returns a store with records, each of a job of its own and, unless it has a time, a minute after
// the one before.
func storeOf(t *testing.T, records ...audit.Record) audit.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "audit.db"), audittest.Key(audittest.Secret(t)))
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, s.Close()) })
	for i := range records {
		r := &records[i]
		r.JobKey, r.ProcessInstanceKey = int64(i+1), 7
		if r.At.IsZero() {
			r.At = noon.Add(time.Duration(i) * time.Minute)
		}
		if r.Kind.IsDecision() || r.Kind >= audit.KindSubmitted {
			r.Policy = "tiss"
		}
		if r.Kind.IsDecision() {
			r.RetryCount, r.MaxRetries, r.Class, r.Rule, r.Code = 1, 5, retry.Transient, "transient.TIMEOUT", "TIMEOUT"
		}
		if r.Kind == audit.KindRetry {
			r.NextRetryTime = r.At.Add(10 * time.Minute)
		}
	}
	audittest.Append(t, s, records...)
	return s
}

// record is of a claim; with is with whom that is, by who decided.
func record(claim string, kind audit.Kind, with, by string) audit.Record {
	return audit.Record{ClaimID: claim, Kind: kind, HeldBy: with, DecidedBy: by}
}

// ward is a store with a claim of each standing. The claims are not in the order of their names.
func ward(t *testing.T) audit.Store {
	t.Helper()
	const again, now = "CLM-again-1", "CLM-now-1"
	return storeOf(t,
		record("CLM-overdue-1", audit.KindRetry, "", ""),
		record("CLM-stopped-1", audit.KindPermanent, "", ""),
		record("CLM-with-1", audit.KindExhausted, "billing", ""),
		record("CLM-dead-1", audit.KindPermanent, audit.WithDeadLetters, ""),
		record("CLM-incident-1", audit.KindRejected, "", ""),
		record(again, audit.KindPermanent, "registration", ""),
		record(again, audit.KindResubmitted, "", "maria"),
		record(now, audit.KindRetry, "", ""),
		record(now, audit.KindRedriven, "", ""),
		record("CLM-waiting-1", audit.KindRetry, "", ""),
		record("CLM-accepted-1", audit.KindSubmitted, "", ""),
		record("CLM-given-up-1", audit.KindAbandoned, "", "joão"),
	)
}

// listed returns what a query chooses, as claim, state, with, by and policy.
func listed(t *testing.T, s audit.Store, q claims.Query, now time.Time) (lines []string) {
	t.Helper()
	all, err := claims.List(t.Context(), s, q, now)
	check.Must(t, err)
	for _, c := range all {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s%s", strings.TrimSuffix(strings.TrimPrefix(c.ClaimID, "CLM-"), "-1"), c.Standing, c.Policy, c.HeldBy, c.DecidedBy)))
	}
	return lines
}

func TestClaimsAreChosenByStatePartAndTime(t *testing.T) {
	s, now := ward(t), noon.Add(11*time.Minute+30*time.Second)
	for name, c := range map[string]struct {
		query claims.Query
		want  []string
	}{
		"no choice: all that are open, the oldest first": {claims.Query{}, []string{
			"overdue overdue tiss", "stopped stopped tiss", "with stopped tiss billing", "dead dead-letter tiss dead-letter", "incident incident none",
			"again redriven tiss maria", "now redriven tiss", "waiting waiting tiss",
		}},
		"state": {
			claims.Query{States: []audit.Standing{audit.Overdue, audit.Incident}},
			[]string{"overdue overdue tiss", "incident incident none"},
		},
		"age":        {claims.Query{To: now.Add(1 - 10*time.Minute)}, []string{"overdue overdue tiss", "stopped stopped tiss"}},
		"part":       {claims.Query{Part: "AC"}, []string{"accepted submitted tiss"}},
		"part, open": {claims.Query{Part: "st", States: claims.OpenStandings()}, []string{"stopped stopped tiss"}},
		"since":      {claims.Query{From: noon.Add(9 * time.Minute)}, []string{"waiting waiting tiss"}},
		"until":      {claims.Query{To: noon.Add(time.Minute)}, []string{"overdue overdue tiss"}},
		"ended":      {claims.Query{States: ended, From: noon}, []string{"accepted submitted tiss", "given-up abandoned tiss joão"}},
		"ended then": {claims.Query{States: ended, From: noon, To: noon.Add(11 * time.Minute)}, []string{"accepted submitted tiss"}},
		"none":       {claims.Query{Part: "smtp"}, nil},
	} {
		check.Same(t, c.want, listed(t, s, c.query, now), "%s", name)
	}
}

func TestAnIncidentIsListedWithItsMessage(t *testing.T) {
	second := record("CLM-a-1", audit.KindRejected, "", "")
	second.Message = "invalid input: retryCount is 2.5"
	s := storeOf(t, record("CLM-a-1", audit.KindRejected, "", ""), second, record("CLM-a-1", audit.KindDecisionRefused, "", "ana"))
	all, err := claims.List(t.Context(), s, claims.Query{}, noon.Add(time.Hour))
	check.Must(t, err)
	check.Same(t, second.Message, all[0].Message, "message")
}

func TestOnlyClaimsThatEndedAreLimitedToThirtyDays(t *testing.T) {
	s := ward(t)
	states := []audit.Standing{audit.Submitted, audit.Abandoned, audit.Stopped}
	for days, want := range map[int][]string{
		29: {"stopped stopped tiss", "with stopped tiss billing", "accepted submitted tiss", "given-up abandoned tiss joão"},
		40: {"stopped stopped tiss", "with stopped tiss billing"},
	} {
		check.Same(t, want, listed(t, s, claims.Query{States: states}, noon.AddDate(0, 0, days)), "after %d days", days)
	}
	query := claims.Query{States: ended, To: noon.AddDate(0, 0, 2)}
	check.Same(t, []string{"accepted submitted tiss", "given-up abandoned tiss joão"}, listed(t, s, query, noon.AddDate(0, 0, 40)), "counted back from To")
	check.Same(t, []string{"given-up abandoned tiss joão"}, listed(t, s, claims.Query{States: ended, Part: "given"}, noon.AddDate(1, 0, 0)), "by a part of its id")
	query.To = noon.AddDate(1, 0, 0)
	check.Same(t, []string{"accepted submitted tiss", "given-up abandoned tiss joão"}, listed(t, s, query, noon.AddDate(0, 0, 2)), "a To in the future")
}

func TestAClaimThatEndedIsWhatItsLastRecordSays(t *testing.T) {
	s := storeOf(t,
		record("CLM-again-1", audit.KindSubmitted, "", ""), record("CLM-again-1", audit.KindRetry, "", ""),
		record("CLM-twice-1", audit.KindSubmitted, "", ""), record("CLM-twice-1", audit.KindAbandoned, "", ""),
	)
	for standing, want := range map[audit.Standing][]string{audit.Submitted: nil, audit.Abandoned: {"twice abandoned tiss"}} {
		q := claims.Query{States: []audit.Standing{standing}, From: noon}
		check.Same(t, want, listed(t, s, q, noon.Add(time.Hour)), "%s", standing)
		q.To = noon.Add(3 * time.Minute) // before that record
		check.Same(t, nil, listed(t, s, q, noon.Add(time.Hour)), "%s until then", standing)
	}
}

func TestTheCensusCountsStandingsAndAges(t *testing.T) {
	old, late := record("CLM-old-1", audit.KindRetry, "", ""), record("CLM-old-1", audit.KindExhausted, "", "")
	old.At, late.At = noon.Add(-30*time.Hour), noon.Add(-time.Hour)
	s, census := storeOf(t, old, late, record("CLM-new-1", audit.KindExhausted, "", "")), claims.Census{}
	check.Must(t, s.Open(t.Context(), func(id string, state *audit.State) error {
		census.Add(claims.Open(id, state, noon.Add(time.Hour)))
		return nil
	}))
	check.Same(t, claims.Census{"tiss": {audit.Stopped: {Claims: 2, Oldest: old.At, Longest: late.At}}}, census, "census")
}

// The record that shows it is not always the last one.
func TestAClaimIsKnownByTheRecordThatShowsHowItStands(t *testing.T) {
	refused := func(claim string) audit.Record { return record(claim, audit.KindDecisionRefused, "", "ana") }
	s := storeOf(t,
		record("CLM-open-1", audit.KindPermanent, "", ""), refused("CLM-open-1"),
		record("CLM-ended-1", audit.KindRetry, "", ""), record("CLM-ended-1", audit.KindSubmitted, "", ""), refused("CLM-ended-1"),
		refused("CLM-asked-1"),
	)
	for id, want := range map[string]string{
		"CLM-open-1":  "stopped by PERMANENT_ERROR",
		"CLM-ended-1": "submitted by SUBMITTED",
		"CLM-asked-1": "not known",
		"CLM-never-1": "not known",
	} {
		state, records, err := s.Claim(t.Context(), id)
		check.Must(t, err)
		c, last := claims.Know(id, &state, records, noon)
		got := "not known"
		if last != nil {
			got = fmt.Sprintf("%s by %s", c.Standing, last.Kind)
		}
		check.Same(t, want, got, "%s", id)
	}
}
