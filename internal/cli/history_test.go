package cli_test

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	handlers "hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// ward is a process whose jobs are decided and recorded by the real handlers of a worker, on a real store, at times of the
// test's own.
type ward struct {
	decide, outcome job.Handler
	now             time.Time
	key             int64
	headers         string // of the jobs' task
}

// worker returns the handlers of a worker with the store.
func (a *archive) worker(store audit.Store, policyName string, policies *policy.Set) *ward {
	w := &ward{now: today.Add(-time.Hour)}
	clock := func() time.Time { return w.now }
	options := handlers.Options{
		JobType: contract.JobType, Policy: policyName, Policies: func() *policy.Set { return policies },
		Recorder: audit.NewRecorder(store, zap.NewNop(), func() {}), Secret: a.secret, Cluster: "zeebe", Now: clock,
		Observer: noObserver{}, Logger: zap.NewNop(),
	}
	w.decide, w.outcome = handlers.NewHandler(options), handlers.NewOutcomeHandler(options)
	return w
}

func (w *ward) ask(t *testing.T, h job.Handler, variables string) {
	t.Helper()
	w.key++
	answers := h.Handle(t.Context(), []job.Job{{
		Key: w.key, ProcessInstanceKey: 7, ProcessID: "SUB_06", ElementID: "analyze", Retries: 3,
		Variables: variables, Headers: w.headers, Received: w.now,
	}})
	check.Same(t, 1, len(answers), "answers")
}

// TestHistoryOfRealDecisionsIsComplete holds the records of the other tests, which are made by hand, to what the worker
// really writes.
func TestHistoryOfRealDecisionsIsComplete(t *testing.T) {
	const claim = `{"claimId":"CLM-real-1",`
	a := archived(t, nil)
	store := a.open(t)
	w := a.worker(store, "tiss", policy.BuiltIns())
	for _, variables := range []string{
		`"submissionError":"TIMEOUT"}`,
		`"submissionError":"weird","retryCount":1}`,
		`"submissionError":"DUPLICATE_CLAIM","retryCount":2}`,
		`"submissionError":"TIMEOUT again","retryCount":5}`,
		`"submissionError":"TIMEOUT","retryCount":2.5}`,
	} {
		w.ask(t, w.decide, claim+variables)
	}
	w.now = today.Add(-time.Minute)
	w.ask(t, w.outcome, claim+`"outcome":"RESUBMITTED"}`)
	closed(t, store)
	var got struct {
		Records []struct {
			Kind   string
			Detail contract.Detail
		}
	}
	a.decodes(t, 0, &got, "history", "CLM-real-1")
	var story []string
	for _, r := range got.Records {
		story = append(story, fmt.Sprintf("%s %t", r.Kind, r.Detail.Steps != nil))
	}
	check.Same(t, "[RETRY true RETRY true PERMANENT_ERROR true MAX_RETRIES_EXCEEDED true REJECTED false RESUBMITTED false]", fmt.Sprint(story), "kinds, and whether they have steps")
	a.prints(t, []string{"history", "CLM-real-1"}, "backoff computed 09:00:00.000 5 min")
	check.Same(t, "", unfit(a.must(t, "history", "CLM-real-1"), true), "a line that does not suit a terminal")
	a.must(t, "audit", "verify")
}

// noObserver observes nothing.
type noObserver struct{}

func (noObserver) Decided(string, retry.Decision, time.Duration) {}
func (noObserver) Rejected(string, time.Duration)                {}
func (noObserver) Repeated()                                     {}
func (noObserver) OutcomeRecorded(*audit.Record)                 {}

func TestHistoryNamesSettlingStepAndBounds(t *testing.T) {
	known, err := policy.Parse("policies.yaml", []byte("policies:\n  - {name: bounded, extends: tiss, deadline: 72h}\n"))
	check.Must(t, err)
	a := archived(t, nil)
	store := a.open(t)
	defer closed(t, store)
	for n, test := range []struct {
		policy, variables, headers string
		want                       []string
	}{
		{"tiss", `"submissionError":"DUPLICATE_CLAIM"`, "", []string{
			"backoff computed 09:00:00.000 none decision taken",
			"stop: BPMN error PERMANENT_ERROR; check the protocol's status before sending again, for it may have arrived",
			"next try scheduled 09:00:00.000 none Message",
		}},
		{"tiss", `"submissionError":"503 Retry-After: 600","retryCount":5`, "", []string{
			"TRANSIENT: it contains 503 (rule transient.503)", "none, although the other side asked to come back after 10 min (error text)",
			"stop: BPMN error MAX_RETRIES_EXCEEDED",
		}},
		{"tiss", `"submissionError":"RATE_LIMIT","retryAfter":"soon","lastSubmissionTime":[2026]`, "", []string{
			"5 min, with jitter 6 min, bounded by the policy's min (ignored: lastSubmissionTime, retryAfter)",
			"try again, retry 1 of 5", "for 2026-01-12T09:06:00Z",
		}},
		{"tiss", `"submissionError":"503","retryUntil":"2026-01-12T09:02:00Z"`, "", []string{
			"Now: stopped Times",
			"stop: BPMN error MAX_RETRIES_EXCEEDED, no retry fits before the deadline 2026-01-12T09:02:00Z",
		}},
		{"bounded", `"submissionError":"503"`, "", []string{"for 2026-01-12T09:06:00Z; the deadline is 2026-01-15T09:00:00Z"}},
		{"tiss", `"submissionError":"503"`, `{"maxRetries":"2","base":"2m","max":"1h"}`, []string{
			"2 min, bounded by the policy's min (overridden for this job: maxRetries 2, base 2 min, max 60 min)",
		}},
		{"job-queue", `"submissionError":"boom","max_attempts":8,"retry_delay":1500,"retryCount":2`, "", []string{
			"TRANSIENT: no rule of the policy matches it", "6 s (overridden for this job: maxRetries 7, base 1.5 s)",
			"try again, retry 3 of 7", "for 2026-01-12T09:00:06Z",
		}},
	} {
		claim := fmt.Sprintf("CLM-1-%d", 5+n)
		w := a.worker(store, test.policy, known)
		w.headers, w.key = test.headers, int64(n)
		w.ask(t, w.decide, `{"claimId":"`+claim+`",`+test.variables+`}`)
		story := a.must(t, "history", claim)
		check.Same(t, "", unfit(story, true), "a line that does not suit a terminal")
		contains(t, test.variables, story, test.want...)
	}
}

func TestHistoryStatesOnlyWhatTheTrailKnows(t *testing.T) {
	const at = "2026-01-12T09:00:00Z"
	stopped := func(kind audit.Kind) audit.Record {
		return decided{kind, "", at, "TIMEOUT", "TRANSIENT", "TIMEOUT", 5, 0, 0}.record()
	}
	outcome := func(kind audit.Kind, operator string) audit.Record {
		r := ended{kind, "", at, 2, 1, ""}.record()
		r.DecidedBy = operator
		return r
	}
	tests := []struct {
		last      audit.Record
		now, seen string
	}{
		{stopped(audit.KindExhausted), "stopped", "stop: BPMN error"},
		{stopped(audit.KindPermanent), "stopped", "stop: BPMN error"},
		{outcome(audit.KindSubmitted, ""), "accepted", "The outcome: accepted by the insurer, as the model recorded; after"},
		{outcome(audit.KindAbandoned, ""), "abandoned", "The outcome: abandoned, as the model recorded; after"},
		{outcome(audit.KindAbandoned, "ana"), "abandoned, by ana", "The outcome: abandoned by ana; after"},
		{outcome(audit.KindResubmitted, ""), "sent again", "The outcome: submitted again, as the model recorded; after"},
		{outcome(audit.KindResubmitted, "ana"), "sent again, by ana", "The outcome: submitted again by ana; after"},
		{outcome(audit.KindRedriven, ""), "sent again", "Sent again now, before its time, after"},
		{outcome(audit.KindRedriven, "ana"), "sent again, by ana", "Sent again now by ana, before its time, after"},
		{rejected("", at), "incident", "Incident: invalid input"},
	}
	var records []audit.Record
	for i, test := range tests {
		test.last.ClaimID = fmt.Sprintf("CLM-LAST-%d", i)
		records = append(records, test.last)
	}
	a := archived(t, keyed(records))
	for i, test := range tests {
		a.prints(t, []string{"history", fmt.Sprintf("CLM-LAST-%d", i)}, "Now: "+test.now+" Times: UTC", test.seen)
	}
}

// A person's answer that was no decision changes nothing: the history shows it, with its marks in the
// language, and how the claim stands by the record before.
func TestHistoryShowsARefusedDecision(t *testing.T) {
	stopped := decided{audit.KindPermanent, "", "2026-01-12T09:00:00Z", "TIMEOUT", "PERMANENT", "TIMEOUT", 0, 0, 0}.record()
	refused := ended{audit.KindDecisionRefused, "", "2026-01-12T09:30:00Z", 1, 0, ""}.record()
	refused.DecidedBy = "ana"
	refused.Detail = detailed(contract.Detail{Attempts: 1, DecisionProblem: "A decisão “Reenviar [palavras]” não existe."})
	stopped.ClaimID, refused.ClaimID = "CLM-REFUSED-1", "CLM-REFUSED-1"
	a := archived(t, keyed([]audit.Record{stopped, refused}))
	a.prints(t, []string{"history", "CLM-REFUSED-1"}, "Now: stopped Times",
		"DECISION_REFUSED The answer by ana was no decision, so the task came back: A decisão “Reenviar [words]” não existe.")
	a.prints(t, []string{"history", "CLM-REFUSED-1", "--lang", "pt-BR"},
		"DECISÃO RECUSADA (DECISION_REFUSED) A resposta por ana não era uma decisão, e a tarefa voltou: A decisão “Reenviar [palavras]” não existe.")
	a.prints(t, []string{"history", "CLM-REFUSED-1", "--json"}, `"state": "stopped"`, `"decisionProblem": "A decisão “Reenviar [palavras]” não existe."`)
}
