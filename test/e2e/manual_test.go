package e2e

import (
	"maps"
	"testing"
)

func TestClaimResubmittedByRegistrationCountsFromTheStart(t *testing.T) {
	s := onSharedBroker(t)
	claim := s.submits("CLM-E2E-11-1")
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6).passes()
	claim.submissionFails("DUPLICATE_CLAIM: guia já recebida")
	claim.notifies("registration").holds(vars{"retryCount": 1})

	claim.isResubmittedAt("Task_CorrectData", vars{"claimId": "CLM-E2E-11-101"})
	claim.submission().holds(vars{"claimId": "CLM-E2E-11-101", "retryCount": 0, "submissionError": nil}).fails("TIMEOUT")
	claim.waits(5, 6).passes()
	claim.submission().holds(vars{"retryCount": 1}).fails("INSURANCE_EXPIRED")

	claim.notifies("registration").holds(vars{"retryCount": 1, "originalError": "INSURANCE_EXPIRED"})
	claim.asks("Task_CorrectData").holds(vars{"manualDecision": nil, "justification": nil}).complete(vars{"manualDecision": "ABANDON"})
	claim.endsAt("EndEvent_AbandonedByRegistration")
	claim.recorded("RESUBMITTED", "ABANDONED")
}

func TestClaimResubmittedByBillingCountsFromTheStart(t *testing.T) {
	s := onSharedBroker(t)
	claim := s.submits("CLM-E2E-11-2")
	claim.isExhaustedBy("NETWORK_ERROR")
	claim.notifies("billing")

	claim.isResubmittedAt("Task_ReviewClaim", nil)
	claim.isExhaustedBy("RATE_LIMIT")

	claim.notifies("billing").holds(vars{"retryCount": 5, "originalError": "RATE_LIMIT"})
	claim.asks("Task_ReviewClaim").holds(vars{"manualDecision": nil, "justification": nil}).complete(vars{"manualDecision": "ABANDON"})
	claim.endsAt("EndEvent_AbandonedByBilling")
	claim.recorded("RESUBMITTED", "ABANDONED")
}

// isResubmittedAt lets a person decide to submit the claim again, with corrected data. A decision that is incomplete does not
// count: the same person is asked again.
func (c *claim) isResubmittedAt(person string, corrected vars) {
	c.Helper()
	for _, incomplete := range []vars{
		nil,
		{"manualDecision": "resubmit", "justification": "x"},
		{"manualDecision": true},
		{"manualDecision": "RESUBMIT", "justification": 7},
		{"manualDecision": "RESUBMIT", "justification": "  "},
	} {
		c.asks(person).holds(vars{"manualDecision": nil, "justification": nil}).complete(incomplete)
	}
	decision := vars{"manualDecision": "RESUBMIT", "justification": "dados conferidos"}
	maps.Copy(decision, corrected)
	c.asks(person).complete(decision)
}
