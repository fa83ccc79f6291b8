package cli_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	handlers "hospital.example/analyze-retry/internal/worker"
)

// worker returns the real handlers of a worker with the store.
func (a *archive) worker(store audit.Store, jobType, policyName string, policies func() *policy.Set) *ward {
	w := &ward{}
	trail := handlers.Trail{Recorder: audit.NewRecorder(store, audit.RecorderOptions{}), Rounds: store, Secret: a.secret, Cluster: "zeebe"}
	clock := func() time.Time { return w.now }
	w.decide = handlers.NewHandler(handlers.Options{
		JobType: jobType, Policy: policyName, Policies: policies, Trail: trail, Now: clock, Observer: noObserver{}, Logger: zap.NewNop(),
	})
	w.outcome = handlers.NewOutcomeHandler(trail, clock, noObserver{}, zap.NewNop())
	return w
}

// ward is a process whose jobs are decided and recorded by the real handlers, on a real store, at times of the test's own.
type ward struct {
	decide, outcome job.Handler
	now             time.Time
	key             int64
	// more are further variables of the claims' jobs, headers are those of their task.
	more, headers string
}

// played is a store with what became of claims under policy short: of an outage of three hours, and of other trouble. They
// are played one after the other, so that the records of the store are not in the order of their times.
func played(t *testing.T) *archive {
	t.Helper()
	return playedBy(t, func(w *ward) {
		w.claim(t, "CLM-early-1", "2026-01-11T08:00:00Z", 9, "TIMEOUT after 30 s")
		w.claim(t, "CLM-middle-2", "2026-01-11T08:40:00Z", 9, "TIMEOUT after 30 s")
		w.claim(t, "CLM-late-3", "2026-01-11T09:00:00Z", 4, "TIMEOUT after 30 s, beneficiário 123.456.789-09")
		w.claim(t, "CLM-schema-4", "2026-01-11T08:30:00Z", 9, "SCHEMA invalid")
		w.claim(t, "CLM-lucky-5", "2026-01-11T12:00:00Z", 2, "SCHEMA invalid, try later")
		w.claim(t, "CLM-expired-6", "2026-01-11T13:00:00Z", 9, "EXPIRED")
	})
}

func playedBy(t *testing.T, play func(*ward)) *archive {
	t.Helper()
	text := read(t, testPolicies)
	known, err := policy.Parse(testPolicies, []byte(text))
	check.Must(t, err)
	return playedUnder(t, known, "short", play)
}

func playedUnder(t *testing.T, known *policy.Set, name string, play func(*ward)) *archive {
	t.Helper()
	a := archived(t, nil)
	store := a.open(t)
	w := a.worker(store, contract.JobType, name, func() *policy.Set { return known })
	play(w)
	closed(t, store)
	return a
}

// claim fails so many times with a text, each try being decided about a few seconds after its time, and is then accepted.
func (w *ward) claim(t *testing.T, claim, first string, failures int, text string) {
	t.Helper()
	w.now = moment(first)
	w.key++
	instance := w.key
	for retries := range failures {
		answer := w.ask(t, w.decide, instance, fmt.Sprintf(`{"claimId":%q,"submissionError":%q,"retryCount":%d%s}`, claim, text, retries, w.more))
		_, rest, retried := strings.Cut(answer.Variables(), `"nextRetryTime":"`)
		if !retried {
			return
		}
		w.now = moment(rest[:len("2026-01-11T08:00:00Z")]).Add(3 * time.Second)
	}
	w.ask(t, w.outcome, instance, fmt.Sprintf(`{"claimId":%q,"outcome":"SUBMITTED"}`, claim))
}

func (w *ward) ask(t *testing.T, h job.Handler, instance int64, variables string) job.Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w.key++
	answers := h.Handle(ctx, []job.Job{{Key: w.key, ProcessInstanceKey: instance, ProcessID: "SUB_06", ElementID: "analyze", Retries: 3, Variables: variables, Headers: w.headers}})
	if len(answers) != 1 {
		t.Fatalf("%d answers", len(answers))
	}
	return answers[0]
}

// replayGolden are the command lines on that store whose output is pinned.
var replayGolden = map[string][]string{
	"replay":      {"replay", "--policy", testPolicies + ":long"},
	"replay_json": {"replay", "--policy", testPolicies + ":long", "--json"},
	"replay_same": {"replay", "--policy", testPolicies + ":short", "--of", "short"},
	"replay_none": {"replay", "--policy", testPolicies + ":long", "--since", "1m"},
}

func TestAReplayOfRealDecisionsIsPinned(t *testing.T) { played(t).pinned(t, "store_", replayGolden) }

func TestAReplayUnderTheSamePolicyFindsNothing(t *testing.T) {
	for name, a := range map[string]*archive{
		"plain jobs": played(t),
		"hints and overrides of the jobs": playedBy(t, func(w *ward) {
			w.headers = `{"maxRetries":"6","base":"7m","max":"1h"}`
			w.claim(t, "CLM-headers-1", "2026-01-11T08:00:00Z", 7, "TIMEOUT")
			w.headers, w.more = "{}", `,"retryAfter":"2400"`
			w.claim(t, "CLM-after-2", "2026-01-11T08:00:00Z", 3, "TIMEOUT")
			w.more = `,"retryAfter":"2026-01-11T11:00:00Z"`
			w.claim(t, "CLM-until-3", "2026-01-11T10:00:00Z", 2, "TIMEOUT")
		}),
	} {
		contains(t, name, a.must(t, "replay", "--policy", testPolicies+":short"),
			"0 with another outcome, 0 with another class, 0 with another wait", "Of these 0 come out", "Saved: 0 of", "Lost: 0 of")
	}
}
