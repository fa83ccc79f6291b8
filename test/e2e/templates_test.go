//go:build models

package e2e

import (
	"path/filepath"
	"testing"
)

// Blank elements are drawn in Camunda's own modeler and the element templates applied to them.
func TestModelsMadeOfElementTemplatesRun(t *testing.T) {
	folder := t.TempDir()
	drawn := modeler(t, "apply.mjs", folder)
	s := withoutWorker(t)
	drawn()
	s.startWorker()
	forms, err := filepath.Glob("../../bpmn/*.form")
	s.must(err)
	for _, form := range forms {
		s.must(s.broker.Deploy(t.Context(), form))
	}
	for i, language := range []string{"pt-BR", "en"} {
		loop, call := "TemplatesLoop_"+language, "TemplatesCall_"+language
		s.must(s.broker.Deploy(t.Context(), filepath.Join(folder, loop+".bpmn")))
		s.must(s.broker.Deploy(t.Context(), filepath.Join(folder, call+".bpmn")))
		claimID := func(n string) vars {
			return vars{"claimId": "CLM-E2E-TEMPLATES-" + n + string(rune('1'+i)), "retryCount": 0}
		}
		templatesByHand(s, loop, claimID)
		templatesByCall(s, call, claimID)
	}
}

// templatesByHand runs the loop that is drawn by hand. Its analysis task allows one retry.
func templatesByHand(s *scene, process string, claimID func(string) vars) {
	s.Helper()
	through := s.start(process, claimID("1"))
	through.submissionFails("504 Gateway Timeout")
	through.waits(5, 6).passes()
	again := through.submission()
	again.holds(vars{"submissionError": nil, "lastSubmissionTime": nil, "retryAfter": nil, "retryCount": 1})
	again.complete(nil)
	through.endsAt("EndEvent_ClaimSubmitted")
	through.recorded("SUBMITTED")

	exhausted := s.start(process, claimID("2"))
	exhausted.submissionFails("TEMPORARY_ERROR")
	exhausted.waits(5, 6).passes()
	exhausted.submissionFails("TEMPORARY_ERROR")
	exhausted.endsAt("EndEvent_Abandoned")
	exhausted.recorded("ABANDONED")
	exhausted.variables().hold(s.T, stoppedAfter(1, 1, "TRANSIENT", "TEMPORARY_ERROR", "Transient error, the 1 retry used"))

	refused := s.start(process, claimID("3"))
	refused.submissionFails("AUTHORIZATION_DENIED")
	next := refused.task("check-claim-status")
	next.holds(stoppedAfter(0, 1, "PERMANENT", "AUTHORIZATION_DENIED", "Permanent error AUTHORIZATION_DENIED, no retry"))
	next.variables.object(s.T, "retryDecision").hold(s.T, vars{"policy": "tiss"})
	next.complete(vars{"claimReceived": false})
	refused.endsAt("EndEvent_Refused")
}

// templatesByCall runs the call activity.
func templatesByCall(s *scene, process string, claimID func(string) vars) {
	s.Helper()
	through := s.start(process, claimID("4"))
	through.submissionFails("504 Gateway Timeout")
	through.waits(5, 6).passes()
	through.submission().complete(vars{"protocol": "P-1"})
	through.endsAt("EndEvent_ClaimSubmitted")
	through.variables().hold(s.T, vars{"protocol": "P-1", "retryCount": 1})

	exhausted := s.start(process, claimID("5"))
	exhausted.isExhaustedBy("TEMPORARY_ERROR")
	exhausted.asks("Task_ReviewClaim")
	exhausted.variables().hold(s.T, stoppedAfter(5, 5, "TRANSIENT", "TEMPORARY_ERROR", "Transient error, all 5 retries used"))

	refused := s.start(process, claimID("6"))
	refused.submissionFails("AUTHORIZATION_DENIED")
	refused.asks("Task_CorrectData")
	refused.variables().hold(s.T, stoppedAfter(0, 5, "PERMANENT", "AUTHORIZATION_DENIED", "Permanent error AUTHORIZATION_DENIED, no retry"))
}

// stoppedAfter are eight of the nine variables of an error; the ninth is an object.
func stoppedAfter(retries, most int, class, text, reason string) vars {
	return vars{
		"shouldRetry": false, "retryCount": retries, "maxRetries": most, "backoffMinutes": 0, "nextRetryTime": nil,
		"retryReason": reason, "errorClassification": class, "originalError": text,
	}
}
