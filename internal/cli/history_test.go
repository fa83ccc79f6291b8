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
	"hospital.example/analyze-retry/internal/testing/policytest"
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
	by := handlers.Worker{
		JobType: contract.JobType, JobTypes: map[string]string{contract.JobType: policyName}, Policies: func() *policy.Set { return policies },
		Recorder: audit.NewRecorder(store, zap.NewNop(), func() {}), Secret: a.secret, Cluster: "zeebe", Now: clock,
		Observer: noObserver{}, Logger: zap.NewNop(),
	}
	w.decide, w.outcome = by.Decide, by.RecordOutcome
	return w
}

func (w *ward) ask(t *testing.T, h job.Handler, variables string) {
	t.Helper()
	w.key++
	answers := h(t.Context(), []job.Job{{
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
	a.prints(t, []string{"history", "CLM-real-1"}, "09:00 retry 1 was to wait 5 min (5 ± 20 %, minimum 5 min) TIMEOUT: no answer in time 09:00 retry 2")
	inFull := a.must(t, "history", "CLM-real-1", "--steps")
	contains(t, "in full", inFull, "counter checked 0 of 5 retries used backoff computed 5 min (5 ± 20 %, minimum 5 min)")
	check.Same(t, "", unfit(inFull, true), "a line that does not suit a terminal")
	a.must(t, "audit", "verify")
}

// noObserver observes nothing.
type noObserver struct{}

func (noObserver) Decided(string, retry.Decision, time.Duration) {}
func (noObserver) Rejected(string, time.Duration)                {}
func (noObserver) Repeated()                                     {}
func (noObserver) OutcomeRecorded(*audit.Record)                 {}

func TestHistoryNamesSettlingStepAndBounds(t *testing.T) {
	known := policytest.Set(t, "policies:\n  - {name: bounded, extends: tiss, deadline: 72h}\n")
	a := archived(t, nil)
	store := a.open(t)
	defer closed(t, store)
	for n, test := range []struct {
		policy, variables, headers string
		want                       []string
	}{
		{"tiss", `"submissionError":"DUPLICATE_CLAIM"`, "", []string{
			"09:00 stopped PERMANENT_ERROR DUPLICATE_CLAIM: claim sent twice; check the protocol's status", "backoff computed none decision taken",
			"stop: BPMN error PERMANENT_ERROR; check the protocol's status before sending again, for it may have arrived",
			"next try scheduled none Process instance 7 of cluster zeebe; policy tiss ",
		}},
		{"tiss", `"submissionError":"503 Retry-After: 600","retryCount":5`, "", []string{
			"TRANSIENT by transient.503: HTTP 503, Service Unavailable", "stop: BPMN error MAX_RETRIES_EXCEEDED",
		}},
		{"tiss", `"submissionError":"RATE_LIMIT","retryAfter":"soon","lastSubmissionTime":[2026]`, "", []string{
			"retry 1 waited 6 min (5 ± 20 %) RATE_LIMIT: too many requests", "6 min (5 ± 20 %) (ignored: lastSubmissionTime, retryAfter)",
			"for 2026-01-12T09:06:00Z",
		}},
		{"tiss", `"submissionError":"503","retryUntil":"2026-01-12T09:02:00Z"`, "", []string{
			": stopped Times",
			"MAX_RETRIES_EXCEEDED HTTP 503, Service Unavailable; no retry fits before the deadline 2026-01-12T09:02:00Z",
			"stop: BPMN error MAX_RETRIES_EXCEEDED; the deadline is 2026-01-12T09:02:00Z",
		}},
		{"bounded", `"submissionError":"503"`, "", []string{
			"waited 6 min (5 min before jitter) HTTP 503", // the command does not know the policy
			"try again; the deadline is 2026-01-15T09:00:00Z next try scheduled for 2026-01-12T09:06:00Z",
		}},
		{"tiss", `"submissionError":"503"`, `{"maxRetries":"2","base":"2m","max":"1h"}`, []string{
			`2 min (2 ± 20 %, minimum 2 min) (changed for this job: {"maxRetries":2,"base":"PT2M","max":"PT60M"})`,
		}},
		{"job-queue", `"submissionError":"boom","max_attempts":8,"retry_delay":1500,"retryCount":2`, "", []string{
			"TRANSIENT: no rule of the policy matches it", `6 s (changed for this job: {"maxRetries":7,"base":"PT1.5S"})`,
			"2 of 7 retries used", "for 2026-01-12T09:00:06Z",
		}},
	} {
		claim := fmt.Sprintf("CLM-1-%d", 5+n)
		w := a.worker(store, test.policy, known)
		w.headers, w.key = test.headers, int64(n)
		w.ask(t, w.decide, `{"claimId":"`+claim+`",`+test.variables+`}`)
		story := a.must(t, "history", claim, "--steps")
		check.Same(t, "", unfit(story, true), "a line that does not suit a terminal")
		contains(t, test.variables, story, test.want...)
	}
}

func TestAPolicyThatOnlyTheTrailKnowsChoosesClaims(t *testing.T) {
	stopped := decided{audit.KindExhausted, "CLM-OLD-1", "2026-01-12T09:00:00Z", "TIMEOUT", "TRANSIENT", "TIMEOUT", 5, 0, 0}.record()
	stopped.Policy, stopped.HeldBy = "retired", "dental"
	a := archived(t, keyed([]audit.Record{stopped}))
	a.prints(t, []string{"claims", "--policy", "retired", "--with", "dental"}, "CLM-OLD-1 stopped: dental", "stopped 1; dental 1.")
	a.fails(t, 2, `--with is "sales"; known are billing, dental, operations, registration`, "claims", "--with", "sales")
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
	a.prints(t, []string{"history", "CLM-REFUSED-1"}, "Claim CLM-REFUSED-1: stopped Times",
		"09:30 no decision, by ana A decisão “Reenviar [words]” não existe.")
	a.prints(t, []string{"history", "CLM-REFUSED-1", "--lang", "pt-BR"},
		"09:30 sem decisão, por ana A decisão “Reenviar [palavras]” não existe.")
	a.prints(t, []string{"history", "CLM-REFUSED-1", "--json"}, `"state": "stopped"`, `"decisionProblem": "A decisão “Reenviar [palavras]” não existe."`)
}
