package worker_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/worker"
)

func outcomesOn(m *memory, c *counts) *worker.OutcomeHandler {
	return worker.NewOutcomeHandler(trailOn(m), func() time.Time { return now }, c, zap.NewNop())
}

func TestAnOutcomeIsRecordedWithTheAttemptsOfItsRound(t *testing.T) {
	t.Parallel()
	since := now.Add(-time.Hour)
	for _, tt := range []struct {
		outcome  string
		round    audit.Round
		kind     audit.Kind
		attempts int
	}{
		{"SUBMITTED", audit.Round{}, audit.KindSubmitted, 1},
		{"SUBMITTED", audit.Round{Failures: 2, Retries: 2, FirstFailure: since}, audit.KindSubmitted, 3},
		{"RESUBMITTED", audit.Round{Failures: 1, FirstFailure: since}, audit.KindResubmitted, 1},
		{"ABANDONED", audit.Round{Failures: 6, Retries: 5, FirstFailure: since}, audit.KindAbandoned, 6},
	} {
		m, c := newMemory(), &counts{}
		m.rounds = map[string]audit.Round{"CLM-001-1": tt.round}
		a := outcomesOn(m, c).Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","outcome":"` + tt.outcome + `"}`)})[0]
		if a.Kind() != job.KindComplete || a.Variables() != "{}" {
			t.Errorf("%s: answered %s %s, want complete without variables", tt.outcome, a.Kind(), a.Variables())
		}
		record := m.only(t)
		facts, err := record.Facts()
		if err != nil {
			t.Fatal(err)
		}
		if record.Kind != tt.kind || record.ClaimID != "CLM-001-1" || record.RetryCount != tt.round.Retries || facts.Attempts != tt.attempts {
			t.Errorf("%s: recorded %s of %s with %d retries and %d attempts", tt.outcome, record.Kind, record.ClaimID, record.RetryCount, facts.Attempts)
		}
		if (facts.FirstFailureTime == nil) != tt.round.FirstFailure.IsZero() {
			t.Errorf("%s: first failure %v, want %v", tt.outcome, facts.FirstFailureTime, tt.round.FirstFailure)
		}
		if diff := cmp.Diff([]audit.Kind{tt.kind}, c.outcomes); diff != "" {
			t.Errorf("%s: counted (-want +got):\n%s", tt.outcome, diff)
		}
	}
}

func TestAnOutcomeThatIsNoneIsAnIncidentThatNamesAllFaults(t *testing.T) {
	t.Parallel()
	for variables, faulty := range map[string][]string{
		`{"claimId":"CLM-001-1"}`:                       {"outcome is missing"},
		`{"claimId":"CLM-001-1","outcome":"submitted"}`: {`outcome is "xxxxxxxxx"`},
		`{"claimId":"CLM-001-1","outcome":1}`:           {"outcome is 1"},
		`{"claimId":"Maria","outcome":"DONE"}`:          {`claimId is "Xxxxx"`, `outcome is "XXXX"`},
		`{"claimId":["CLM-001-1"],"outcome":{"a":"b"}}`: {"claimId is a list", "outcome is an object"},
		`[]`: {"variables is no JSON object"},
		`{"claimId":"CLM-001-1\n2","outcome":"SUBMITTED"}`:   {"claimId is"},
		`{"claimId":"CLM-001-1","Outcome":"SUBMITTED"}`:      {"outcome is missing"},
		`{"outcome":"SUBMITTED","claimId":null}`:             {"claimId is missing"},
		`{"outcome":"SUBMITTED","claimId":"CLM-001-1","x":}`: {"variables is no JSON object"},
	} {
		m := newMemory()
		a := outcomesOn(m, &counts{}).Handle(t.Context(), []job.Job{newJob(variables)})[0]
		if a.Kind() != job.KindFail || a.Retries() != 0 {
			t.Errorf("%s: answered %s, want an incident", variables, a.Kind())
		}
		for _, part := range faulty {
			if !strings.Contains(a.Message(), part) {
				t.Errorf("%s: %q does not say %q", variables, a.Message(), part)
			}
		}
		if strings.Count(a.Message(), " but must be ") != len(faulty) {
			t.Errorf("%s: %q names not %d faults", variables, a.Message(), len(faulty))
		}
		if record := m.only(t); record.Kind != audit.KindRejected || record.Message != a.Message() {
			t.Errorf("%s: recorded %s %q", variables, record.Kind, record.Message)
		}
	}
}

func TestAnOutcomeIsRecordedOnce(t *testing.T) {
	t.Parallel()
	m, c := newMemory(), &counts{}
	h := outcomesOn(m, c)
	for range 2 {
		h.Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`)})
	}
	if len(c.outcomes) != 1 || c.repeated != 1 {
		t.Errorf("counted %d outcomes and %d repeats, want 1 each", len(c.outcomes), c.repeated)
	}
}

func TestAnOutcomeWaitsForTheStore(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.down = errors.New("down")
	a := outcomesOn(m, &counts{}).Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`)})[0]
	if a.Kind() != job.KindRelease {
		t.Errorf("answered %s, want release", a.Kind())
	}
}

// A record is kept for as long as its answer is open, and a job can be megabytes of a patient's data.
func TestARecordKeepsNoPartOfTheJobsOwnText(t *testing.T) {
	t.Parallel()
	for _, variables := range []string{
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT"}`, `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`,
		`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":-1}`, `{"claimId":"CLM-001-1","outcome":"SUBMITTED"}`,
	} {
		m := newMemory()
		if strings.Contains(variables, "outcome") {
			outcomesOn(m, &counts{}).Handle(t.Context(), []job.Job{newJob(variables)})
		} else {
			handlerOn(t, m, &counts{}, func() time.Time { return now }).Handle(t.Context(), []job.Job{newJob(variables)})
		}
		begin := uintptr(unsafe.Pointer(unsafe.StringData(variables)))
		record := m.only(t)
		for _, text := range []string{record.ClaimID, record.Message, record.Variables, record.Detail} {
			if at := uintptr(unsafe.Pointer(unsafe.StringData(text))); text != "" && begin <= at && at < begin+uintptr(len(variables)) {
				t.Errorf("%q is a part of %s", text, variables)
			}
		}
	}
}
