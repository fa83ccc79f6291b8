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
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// storeOf returns a store with records, each of a job of its own and, unless it has a time, a minute after the one before. What
// they have as Message is with whom the claim is, or who decided.
func storeOf(t *testing.T, records ...audit.Record) audit.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "audit.db"), audittest.Secret(t), sqlite.Options{})
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, s.Close()) })
	for i := range records {
		r := &records[i]
		r.JobKey, r.ProcessInstanceKey = int64(i+1), 7
		if r.At.IsZero() {
			r.At = noon.Add(time.Duration(i) * time.Minute)
		}
		detail := contract.Detail{}
		switch {
		case r.Kind.IsDecision():
			r.Variables = `{"retryCount":1,"maxRetries":5,"retryDecision":{"policy":"tiss","matchedCode":"TIMEOUT"}}`
			detail.With = r.Message
		case r.Kind == audit.KindRedriven:
			detail.RedriveWait = r.Message
		case r.Kind.IsOutcome():
			detail.Policy, detail.DecidedBy = "tiss", r.Message
		}
		r.Message, r.Detail = "", detail.Encode()
		if r.Kind == audit.KindRetry {
			r.NextRetryTime = r.At.Add(10 * time.Minute)
		}
	}
	_, err = s.Append(t.Context(), records, nil)
	check.Must(t, err)
	return s
}

func record(claim string, kind audit.Kind, message string) audit.Record {
	return audit.Record{ClaimID: claim, Kind: kind, Message: message}
}

// ward is a store with a claim in each state, and what is known of each at 12:11:30.
func ward(t *testing.T) audit.Store {
	t.Helper()
	return storeOf(t,
		record("CLM-overdue-1", audit.KindRetry, ""), record("CLM-stopped-1", audit.KindPermanent, ""), record("CLM-with-1", audit.KindExhausted, "billing"),
		record("CLM-dead-1", audit.KindPermanent, claims.WithDeadLetters), record("CLM-incident-1", audit.KindRejected, ""),
		record("CLM-again-1", audit.KindPermanent, "registration"), record("CLM-again-1", audit.KindResubmitted, "maria"),
		record("CLM-now-1", audit.KindRetry, ""), record("CLM-now-1", audit.KindRedriven, ""),
		record("CLM-waiting-1", audit.KindRetry, ""), record("CLM-gone-1", audit.KindRetry, ""), record("CLM-gone-1", audit.KindUndelivered, ""),
		record("CLM-accepted-1", audit.KindSubmitted, ""), record("CLM-given-up-1", audit.KindAbandoned, "joão"),
	)
}

// listed returns what a query chooses, as claim, state, with, by and policy.
func listed(t *testing.T, s audit.Store, q claims.Query, now time.Time) (lines []string) {
	t.Helper()
	all, err := claims.List(t.Context(), s, q, now)
	check.Must(t, err)
	for _, c := range all {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s%s", strings.TrimSuffix(strings.TrimPrefix(c.ClaimID, "CLM-"), "-1"), c.State, c.Policy, c.With, c.DecidedBy)))
	}
	return lines
}

func TestEveryOpenClaimHasTheStateThatItsLastRecordShows(t *testing.T) {
	check.Same(t, []string{
		"overdue overdue tiss", "stopped stopped tiss", "with stopped tiss billing", "dead dead-letter tiss dead-letter", "incident incident none",
		"again redriven tiss maria", "now redriven none", "waiting waiting tiss", "gone waiting tiss",
	}, listed(t, ward(t), claims.Query{}, noon.Add(11*time.Minute+30*time.Second)), "open claims")
}

func TestClaimsAreChosenByStatePolicyAgeAndTime(t *testing.T) {
	s, now := ward(t), noon.Add(11*time.Minute+30*time.Second)
	for name, c := range map[string]struct {
		query claims.Query
		want  []string
	}{
		"state":      {claims.Query{States: []claims.State{claims.Overdue, claims.Incident}}, []string{"overdue overdue tiss", "incident incident none"}},
		"policy":     {claims.Query{Policy: "none"}, []string{"incident incident none", "now redriven none"}},
		"age":        {claims.Query{OlderThan: 10 * time.Minute}, []string{"overdue overdue tiss", "stopped stopped tiss"}},
		"since":      {claims.Query{From: noon.Add(9 * time.Minute)}, []string{"waiting waiting tiss", "gone waiting tiss"}},
		"until":      {claims.Query{To: noon.Add(time.Minute)}, []string{"overdue overdue tiss"}},
		"ended":      {claims.Query{States: claims.EndedStates(), From: noon}, []string{"accepted submitted tiss", "given-up abandoned tiss joão"}},
		"ended then": {claims.Query{States: claims.EndedStates(), From: noon, To: noon.Add(13 * time.Minute)}, []string{"accepted submitted tiss"}},
		"none":       {claims.Query{Policy: "smtp"}, nil},
	} {
		check.Same(t, c.want, listed(t, s, c.query, now), "%s", name)
	}
}

func TestOnlyClaimsThatEndedAreLimitedToThirtyDays(t *testing.T) {
	s := ward(t)
	states := append(claims.EndedStates(), claims.Stopped)
	for days, want := range map[int][]string{
		29: {"stopped stopped tiss", "with stopped tiss billing", "accepted submitted tiss", "given-up abandoned tiss joão"},
		40: {"stopped stopped tiss", "with stopped tiss billing"},
	} {
		check.Same(t, want, listed(t, s, claims.Query{States: states}, noon.AddDate(0, 0, days)), "after %d days", days)
	}
	ended := claims.Query{States: claims.EndedStates(), To: noon.AddDate(0, 0, 2)}
	check.Same(t, []string{"accepted submitted tiss", "given-up abandoned tiss joão"}, listed(t, s, ended, noon.AddDate(0, 0, 40)), "counted back from To")
	ended.To = noon.AddDate(1, 0, 0)
	check.Same(t, []string{"accepted submitted tiss", "given-up abandoned tiss joão"}, listed(t, s, ended, noon.AddDate(0, 0, 2)), "a To in the future")
}

func TestAClaimThatFailedAfterItsEndHasNotEnded(t *testing.T) {
	s := storeOf(t, record("CLM-a-1", audit.KindSubmitted, ""), record("CLM-a-1", audit.KindRetry, ""))
	check.Same(t, 0, len(listed(t, s, claims.Query{States: claims.EndedStates(), From: noon}, noon.Add(time.Hour))), "claims that ended")
}

func TestARedriveThatKeepsTheScheduleWaits(t *testing.T) {
	s := storeOf(t, record("CLM-a-1", audit.KindExhausted, "billing"), record("CLM-a-1", audit.KindRedriven, "PT40M"))
	check.Same(t, []string{"a waiting none"}, listed(t, s, claims.Query{}, noon.Add(40*time.Minute)), "before its time")
	check.Same(t, []string{"a overdue none"}, listed(t, s, claims.Query{}, noon.Add(41*time.Minute)), "at its time")
}

func TestTheCensusCountsStatesAndAges(t *testing.T) {
	old := record("CLM-old-1", audit.KindRetry, "")
	old.At = noon.Add(-30 * time.Hour)
	late := record("CLM-old-1", audit.KindExhausted, "")
	late.At = noon.Add(-time.Hour)
	s := storeOf(t, old, late, record("CLM-new-1", audit.KindExhausted, ""))
	census, err := claims.Count(t.Context(), s, noon.Add(time.Hour))
	check.Must(t, err)
	check.Same(t, claims.Census{"tiss": {claims.Stopped: {Claims: 2, Oldest: old.At, Longest: late.At}}}, census, "census")
}
