package e2e

import (
	"fmt"
	"testing"
)

func TestPermanentErrorSendsTheClaimToRegistrationAtOnce(t *testing.T) {
	s := onSharedBroker(t)
	for i, c := range []struct{ text, code string }{
		{"AUTHORIZATION_DENIED: recusado pela operadora", "AUTHORIZATION_DENIED"},
		{"TIMEOUT (504) after insurance_expired, SERVER_ERROR", "INSURANCE_EXPIRED"},
	} {
		s.part(c.text, func(s *scene) {
			id := fmt.Sprintf("CLM-E2E-3-%d", i)
			claim := s.submits(id)
			claim.submissionFails(c.text)
			refused := vars{
				"claimId": id, "shouldRetry": false, "retryCount": 0, "maxRetries": 5, "backoffMinutes": 0, "nextRetryTime": nil,
				"retryReason": "Permanent error " + c.code + ", no retry", "errorClassification": "PERMANENT", "originalError": c.text,
			}
			notified := claim.notifies("registration").holds(refused)
			notified.variables.object(s.T, "retryDecision").hold(s.T, vars{"ruleId": "permanent." + c.code, "matchedCode": c.code})
			claim.asks("Task_CorrectData").holds(refused)
			if n := len(claim.jobs(submitClaim)); n != 1 {
				s.Errorf("the claim was submitted %d times, want once", n)
			}
		})
	}
}
