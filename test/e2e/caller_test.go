package e2e

import "testing"

func TestCallingProcessCatchesWhatStopsTheRetries(t *testing.T) {
	s := onSharedBroker(t)
	s.must(s.broker.Deploy(t.Context(), "../../examples/caller.bpmn"))

	through := s.start("CallerExampleProcess", vars{"claimId": "CLM-E2E-12-1", "retryCount": 0})
	through.submissionFails("504 Gateway Timeout")
	through.waits(5, 6).passes()
	through.submission().complete(nil)
	through.endsAt("EndEvent_ClaimSubmitted")
	through.recorded("SUBMITTED")
	through.variables().hold(t, vars{"submissionStatus": "SUBMITTED", "retryCount": 1})

	exhausted := s.start("CallerExampleProcess", vars{"claimId": "CLM-E2E-12-2", "retryCount": 0})
	exhausted.isExhaustedBy("TEMPORARY_ERROR")
	exhausted.endsAt("EndEvent_ForBilling")
	exhausted.recorded("ABANDONED")
	exhausted.variables().hold(t, vars{
		"submissionStatus": "EXHAUSTED", "retryCount": 5, "originalError": "TEMPORARY_ERROR",
		"retryReason": "Transient error, all 5 retries used",
	})

	refused := s.start("CallerExampleProcess", vars{"claimId": "CLM-E2E-12-3", "retryCount": 0})
	refused.submissionFails("AUTHORIZATION_DENIED")
	refused.endsAt("EndEvent_ForRegistration")
	refused.recorded("ABANDONED")
	refused.variables().hold(t, vars{
		"submissionStatus": "REFUSED", "retryCount": 0, "originalError": "AUTHORIZATION_DENIED",
		"retryReason": "Permanent error AUTHORIZATION_DENIED, no retry",
	})
}
