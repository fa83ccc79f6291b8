package worker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/testing/check"
)

const redriveID = "5f0c1c7e-9d0a-4f5e-8a51-0b6a3f1f8f10"

func TestAnOutcomeIsRecordedWithTheAttemptsOfItsRound(t *testing.T) {
	since := now.Add(-time.Hour)
	for _, tt := range []struct {
		outcome  string
		round    audit.State
		kind     audit.Kind
		attempts int
		said     string
	}{
		{"SUBMITTED", audit.State{}, audit.KindSubmitted, 1, "   PT0M "},
		{"SUBMITTED", audit.State{Failures: 2, Retries: 2, FirstFailure: since, Policy: "smtp"}, audit.KindSubmitted, 3, "   PT0M "},
		{"RESUBMITTED", audit.State{Failures: 1, FirstFailure: since}, audit.KindResubmitted, 1, "why maria " + redriveID + " PT0M "},
		{"ABANDONED", audit.State{Failures: 6, Retries: 5, FirstFailure: since}, audit.KindAbandoned, 6, "why maria " + redriveID + " PT0M "},
		{"REDRIVEN", audit.State{Failures: 2, Retries: 2, FirstFailure: since, Policy: "smtp"}, audit.KindRedriven, 2, "why maria " + redriveID + " PT5M "},
		{"DECISION_REFUSED", audit.State{Failures: 6, Retries: 5, FirstFailure: since}, audit.KindDecisionRefused, 6, "why maria  PT0M none"},
	} {
		m, c := newMemory(), &counts{}
		m.states = map[string]audit.State{"CLM-001-1": tt.round}
		a := optionsOn(m, countedBy(c)).RecordOutcome(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","outcome":"` + tt.outcome + `","justification":"why","decidedBy":"maria","decisionProblem":"none","redriveId":"` + redriveID + `","redriveWait":"PT5M"}`)})[0]
		if a.Kind != job.KindComplete || a.Variables != "{}" {
			t.Errorf("%s: answered %s %s, want complete without variables", tt.outcome, a.Kind, a.Variables)
		}
		record, facts := m.only(t), m.facts(t)
		if record.Kind != tt.kind || record.ClaimID != "CLM-001-1" || record.RetryCount != tt.round.Retries || facts.Attempts != tt.attempts {
			t.Errorf("%s: recorded %s of %s with %d retries and %d attempts", tt.outcome, record.Kind, record.ClaimID, record.RetryCount, facts.Attempts)
		}
		if facts.FirstFailureTime.IsZero() != tt.round.FirstFailure.IsZero() {
			t.Errorf("%s: first failure %v, want %v", tt.outcome, facts.FirstFailureTime, tt.round.FirstFailure)
		}
		check.Same(t, tt.round.Policy, facts.Policy, "%s: policy of the round", tt.outcome)
		check.Same(t, tt.said, strings.Join([]string{facts.Justification, facts.DecidedBy, facts.RedriveID, facts.RedriveWait.String(), facts.DecisionProblem}, " "), "%s: what was said", tt.outcome)
		check.Same(t, []audit.Kind{tt.kind}, c.outcomes, "%s: counted", tt.outcome)
	}
}

func TestAWrongOutcomeIsAnIncidentOfItsClaim(t *testing.T) {
	m := newMemory()
	a := optionsOn(m, countedBy(&counts{})).RecordOutcome(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","outcome":"ACCEPTED"}`)})[0]
	record := m.only(t)
	check.Same(t, "fail REJECTED CLM-001-1", fmt.Sprint(a.Kind, " ", record.Kind, " ", record.ClaimID), "answer and record")
	check.Same(t, "", record.Policy, "policy, by which a rejected decision is a failure of its claim")
}

// The KPIs are by policy, and most claims never fail: without a name they would count for none.
func TestAClaimAcceptedAtOnceCountsForThePolicyOfItsTask(t *testing.T) {
	failed := audit.State{Failures: 2, Retries: 2, Policy: "smtp"}
	for _, tt := range []struct {
		headers string
		round   audit.State
		want    string
	}{
		{`{"retryPolicy":"fast"}`, audit.State{}, "fast"},
		{`{"retryPolicy":"analyze-retry"}`, audit.State{}, "tiss"},
		{`{"retryPolicy":"fast"}`, failed, "smtp"},
		{`{"retryPolicy":"fest"}`, audit.State{}, ""},
		{`{"retryPolicy":7}`, audit.State{}, ""},
		{``, audit.State{}, ""},
	} {
		m := newMemory()
		m.states = map[string]audit.State{"CLM-001-1": tt.round}
		accepted := newJob(`{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`)
		accepted.Headers = tt.headers
		a := optionsOn(m, countedBy(&counts{})).RecordOutcome(t.Context(), []job.Job{accepted})[0]
		check.Same(t, job.KindComplete, a.Kind, "%s: answer", tt.headers)
		check.Same(t, tt.want, m.only(t).Policy, "%s: policy of the record", tt.headers)
		check.Same(t, tt.want, m.facts(t).Policy, "%s: policy of the event", tt.headers)
	}
}
