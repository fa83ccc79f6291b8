package worker_test

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker"
	"hospital.example/analyze-retry/internal/worker/contract"
)

func outcomesOn(m *memory, c *counts) *worker.OutcomeHandler {
	return worker.NewOutcomeHandler(optionsOn(m, c, atNow, zap.NewNop()))
}

func TestAnOutcomeIsRecordedWithTheAttemptsOfItsRound(t *testing.T) {
	since := now.Add(-time.Hour)
	for _, tt := range []struct {
		outcome  string
		round    audit.State
		kind     audit.Kind
		attempts int
	}{
		{"SUBMITTED", audit.State{}, audit.KindSubmitted, 1},
		{"SUBMITTED", audit.State{Failures: 2, Retries: 2, FirstFailure: since, Policy: "smtp"}, audit.KindSubmitted, 3},
		{"RESUBMITTED", audit.State{Failures: 1, FirstFailure: since}, audit.KindResubmitted, 1},
		{"ABANDONED", audit.State{Failures: 6, Retries: 5, FirstFailure: since}, audit.KindAbandoned, 6},
		{"REDRIVEN", audit.State{Failures: 2, Retries: 2, FirstFailure: since, Policy: "smtp"}, audit.KindRedriven, 2},
		{"DECISION_REFUSED", audit.State{Failures: 6, Retries: 5, FirstFailure: since}, audit.KindDecisionRefused, 6},
	} {
		m, c := newMemory(), &counts{}
		m.states = map[string]audit.State{"CLM-001-1": tt.round}
		a := outcomesOn(m, c).Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","outcome":"` + tt.outcome + `","justification":"why"}`)})[0]
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
		check.Same(t, []audit.Kind{tt.kind}, c.outcomes, "%s: counted", tt.outcome)
	}
}

func TestInvalidOutcomeIsAnIncidentWithAllFaults(t *testing.T) {
	for variables, faulty := range map[string][]string{
		`{"claimId":"CLM-001-1"}`:                       {"outcome is missing"},
		`{"claimId":"CLM-001-1","outcome":"submitted"}`: {`outcome is the text "submitted"`},
		`[]`: {"variables is no JSON object"},
		`{"claimId":"CLM-001-1","outcome":"REDRIVEN","justification":" \n\u00a0","decidedBy":null}`: {"justification is blank"},
		`{"claimId":"CLM-001-1","outcome":"REDRIVEN","justification":"why","redriveWait":"5 min"}`:  {`redriveWait is the text "5 min"`},
		`{"claimId":"x y","outcome":"REDRIVEN","justification":1,"decidedBy":["maria"],"redriveId":"maria"}`: {
			`claimId is the text "x [word]"`, "justification is 1", "decidedBy is a list", `redriveId is the text "[word]"`,
		},
		// What the command to send a claim again writes is looked at whatever the outcome.
		`{"claimId":"CLM-001-1","outcome":"SUBMITTED","redriveId":5,"redriveWait":"yes"}`: {"redriveId is 5", `redriveWait is the text "yes"`},
		`{"claimId":"CLM-001-1","outcome":"ABANDONED","redriveId":"none"}`:                {`redriveId is the text "none"`},
	} {
		m := newMemory()
		a := outcomesOn(m, &counts{}).Handle(t.Context(), []job.Job{newJob(variables)})[0]
		if a.Kind != job.KindFail || a.Retries != 0 {
			t.Errorf("%s: answered %s, want an incident", variables, a.Kind)
		}
		check.Contains(t, a.Message, faulty...)
		check.Same(t, len(faulty), strings.Count(a.Message, " but must be "), "%s: faults named", variables)
		if record := m.only(t); record.Kind != audit.KindRejected || record.Message != a.Message {
			t.Errorf("%s: recorded %s %q", variables, record.Kind, record.Message)
		}
	}
}

func TestARedriveKeepsHowLongTheProcessWaits(t *testing.T) {
	for outcome, want := range map[string]string{"REDRIVEN": "PT160M", "RESUBMITTED": "", "ABANDONED": "", "SUBMITTED": ""} {
		facts := newMemory().outcome(t, `{"claimId":"CLM-001-1","outcome":"`+outcome+`","justification":"why","redriveWait":"PT160M"}`)
		check.Same(t, want, facts.RedriveWait, "the wait kept of %s", outcome)
	}
}

// What a person typed is redacted and cut. What does not fit is left out: it must not keep the person's task away.
func TestARefusedDecisionKeepsWhatWasWrongRedacted(t *testing.T) {
	for variables, want := range map[string]string{
		`"decisionProblem":"A decisão “Reenviar Xyzzy, CPF 529.982.247-25” não existe."`: "A decisão “Reenviar [palavra], CPF [número longo]” não existe.",
		`"decisionProblem":"` + strings.Repeat("não ", 20_000) + `"`:                     strings.TrimSpace(strings.Repeat("não ", contract.MaxDecisionProblem/4)) + " ",
		`"decisionProblem":{"a":1},"justification":7,"decidedBy":[]`:                     "",
		`"redriveId":"` + redriveID + `"`:                                                "",
	} {
		facts := newMemory().outcome(t, `{"claimId":"CLM-001-1","outcome":"DECISION_REFUSED",`+variables+`}`)
		check.Same(t, strings.TrimSpace(want), strings.TrimSpace(facts.DecisionProblem), "the problem kept of %.80s", variables)
		check.Same(t, "", facts.RedriveID, "the re-drive of %.80s", variables)
	}
	facts := newMemory().outcome(t, `{"claimId":"CLM-001-1","outcome":"ABANDONED","decisionProblem":"of an earlier answer"}`)
	check.Same(t, "", facts.DecisionProblem, "the problem of an end")
}

const redriveID = "5f0c1c7e-9d0a-4f5e-8a51-0b6a3f1f8f10"

// A process may hold variables of these names for something else, and a form may take a long text: none of that blocks the end
// of a round. An accepted claim keeps no reason of an earlier re-drive.
func TestUnfitReasonDoesNotBlockTheEndOfARound(t *testing.T) {
	const (
		fit   = `"justification":"paciente 529.982.247-25 ligou","decidedBy":"maria@hospital.example","redriveId":"` + redriveID + `"`
		unfit = `"justification":{"a":1},"decidedBy":7,"redriveId":null`
		kept  = "paciente [número longo] ligou maria@hospital.example " + redriveID
	)
	for _, tt := range []struct{ outcome, reason, kept string }{
		{"REDRIVEN", fit, kept},
		{"ABANDONED", fit, kept},
		{"SUBMITTED", fit, "  "},
		{"ABANDONED", unfit, "  "},
		{"ABANDONED", `"justification":"` + strings.Repeat("não ", 20_000) + `"`, strings.Repeat("não ", contract.MaxJustification/len([]rune("não "))) + "  "},
	} {
		m := newMemory()
		facts := m.outcome(t, `{"claimId":"CLM-001-1","outcome":"`+tt.outcome+`",`+tt.reason+`}`)
		if got := facts.Justification + " " + facts.DecidedBy + " " + facts.RedriveID; got != tt.kept || m.only(t).Kind.String() != tt.outcome {
			t.Errorf("%s %.80s: kept %s %q, want %q", tt.outcome, tt.reason, m.only(t).Kind, got, tt.kept)
		}
	}
}

// Or an incident about its reason could never be resolved.
func TestARedriveWithAnotherReasonIsAnotherOne(t *testing.T) {
	m, c := newMemory(), &counts{}
	h := outcomesOn(m, c)
	for _, more := range []string{``, `,"justification":" "`, `,"justification":"why"`, `,"justification":"why","decidedBy":"maria"`, `,"justification":"why","redriveWait":"PT5M"`} {
		h.Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","outcome":"REDRIVEN"` + more + `}`)})
	}
	if len(c.outcomes) != 3 || c.repeated != 0 {
		t.Errorf("recorded %d re-drives with %d repeats, want 3 without any", len(c.outcomes), c.repeated)
	}
}
