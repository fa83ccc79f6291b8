package e2e

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestCallingProcessCatchesWhatStopsTheRetries(t *testing.T) {
	s := newScene(t)
	s.must(s.broker.Deploy(t.Context(), "../../examples/caller.bpmn"))

	exhausted := s.start("CallerExampleProcess", vars{"claimId": "CLM-E2E-12-2"})
	exhausted.isExhaustedBy("TEMPORARY_ERROR")
	exhausted.endsAt("EndEvent_ForBilling")
	exhausted.recorded("ABANDONED")
	exhausted.variables().hold(t, vars{"submissionStatus": "EXHAUSTED", "retryCount": 5, "originalError": "TEMPORARY_ERROR"})

	refused := s.start("CallerExampleProcess", vars{"claimId": "CLM-E2E-12-3"})
	refused.submissionFails("AUTHORIZATION_DENIED")
	refused.endsAt("EndEvent_ForRegistration")
	refused.variables().hold(t, vars{"submissionStatus": "REFUSED", "retryCount": 0, "originalError": "AUTHORIZATION_DENIED"})
}

func TestEachInsurerHasItsPolicy(t *testing.T) {
	policies, err := filepath.Abs("../../examples/policies-by-insurer.yaml")
	check.Must(t, err)
	s := newScene(t, "RETRY_POLICIES_FILE="+policies,
		"RETRY_JOB_TYPES=analyze-retry=tiss,analyze-retry-unimed=unimed,analyze-retry-amil=amil")
	s.example("policy-by-insurer.bpmn")

	amil := s.start("PolicyByInsurerProcess", vars{"claimId": "CLM-AMIL-1", "insurer": "amil"})
	for i, band := range [][2]int{{24, 36}, {48, 72}, {96, 144}} {
		amil.submission().holds(vars{"retryCount": i}).fails("TIMEOUT")
		amil.waits(band[0], band[1]).passes()
	}
	amil.submissionFails("TIMEOUT")
	amil.endsAt("EndEvent_ForBilling")
	amil.recorded("ABANDONED")
	amil.variables().hold(t, vars{"status": "EXHAUSTED", "retryReason": "Transient error, all 3 retries used"})
	amil.variables().object(t, "retryDecision").hold(t, vars{"policy": "amil"})
	s.says(0, "stopped: billing MAX_RETRIES_EXCEEDED", "history", "CLM-AMIL-1")

	// The list in the model keeps others from a job type that no worker takes.
	for i, insurer := range []any{"outra", 326305, nil} {
		claim := s.start("PolicyByInsurerProcess", vars{"claimId": fmt.Sprint("CLM-OTHER-", i), "insurer": insurer})
		claim.submissionFails("TIMEOUT")
		claim.waits(5, 6)
		claim.variables().object(t, "retryDecision").hold(t, vars{"policy": "tiss"})
	}
}

// good is where a good model of the lint's corpus takes a claim, and the person it asks, if any.
type good struct{ accepted, stopped, person string }

// ownEnds are the good models that differ from the others.
var ownEnds = map[string]good{
	"event-subprocess": {"EndEvent_ClaimSubmitted", "EndEvent_PermanentError", ""},
	"call-activity":    {"Event_0fim4ok", "Event_0desist", "Activity_1revisa"},
	"person":           {"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", "Task_ReviewClaim"},
}

// What the lint calls good must run.
func TestGoodModelsTakeAClaimToItsEnd(t *testing.T) {
	const models = "../../internal/modellint/testdata/"
	policies, err := filepath.Abs(models + "policies.yaml")
	check.Must(t, err)
	files, err := filepath.Glob(models + "good/*.bpmn")
	check.Must(t, err)
	s := newScene(t, "RETRY_POLICIES_FILE="+policies, "RETRY_JOB_TYPES=analyze-retry=tiss,analyze-retry-unimed=tiss")
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".bpmn")
		if name == "unrelated" { // it has no claim
			continue
		}
		t.Log(name)
		ends := cmp.Or(ownEnds[name], good{"EndEvent_ClaimSubmitted", "EndEvent_ClaimAbandoned", ""})
		s.must(s.broker.Deploy(s.Context(), file))
		starts := func(n, retries int) *claim {
			return s.start(name, vars{"claimId": fmt.Sprintf("CLM-E2E-7%d-%d", n, i), "insurer": "unimed", "retryCount": retries})
		}
		accepted := starts(1, 0)
		accepted.submissionFails("TIMEOUT")
		accepted.waitsAt("Event_WaitBackoff").passes()
		accepted.submission().complete(vars{"protocol": "4711"})
		accepted.endsAt(ends.accepted)
		accepted.recorded("SUBMITTED")

		stopped := starts(2, 3) // policy fast has no permanent error, but 3 retries
		stopped.submissionFails("INVALID_PROCEDURE_CODE")
		if ends.person != "" {
			stopped.asks(ends.person).complete(vars{"manualDecision": "ABANDON", "justification": "paga pelo paciente"})
		}
		stopped.endsAt(ends.stopped)
		stopped.recorded("ABANDONED")
	}
}
