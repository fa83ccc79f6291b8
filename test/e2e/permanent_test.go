package e2e

import (
	"fmt"
	"testing"
)

func TestAPermanentErrorSendsTheClaimToRegistrationAtOnce(t *testing.T) {
	s := onSharedBroker(t)
	codes := []string{
		"INVALID_PATIENT_DATA", "INSURANCE_EXPIRED", "AUTHORIZATION_DENIED", "DUPLICATE_CLAIM", "INVALID_PROCEDURE_CODE",
	}
	for i, code := range codes {
		s.toRegistration(fmt.Sprintf("CLM-E2E-3-%d", i), code+": recusado pela operadora", code)
	}
}

func TestAPermanentErrorCountsHoweverTransientTheRestOfTheTextIs(t *testing.T) {
	s := onSharedBroker(t)
	s.toRegistration("CLM-E2E-5-1", "TIMEOUT (504) after insurance_expired, SERVER_ERROR", "INSURANCE_EXPIRED")
}

// toRegistration lets a submission fail with a permanent error and follows the claim to the person who corrects it.
func (s *scene) toRegistration(claimID, text, code string) {
	s.Run(code, func(t *testing.T) {
		s := &scene{t, s.broker, s.since}
		claim := s.submits(claimID)
		claim.submissionFails(text)
		refused := vars{
			"claimId": claimID, "shouldRetry": false, "retryCount": 0, "maxRetries": 5, "backoffMinutes": 0, "nextRetryTime": nil,
			"retryReason": "Permanent error " + code + ", no retry", "errorClassification": "PERMANENT", "originalError": text,
		}
		notified := claim.notifies("registration").holds(refused)
		notified.variables.object(t, "retryDecision").hold(t, vars{"ruleId": "permanent." + code, "matchedCode": code})
		claim.asks("Task_CorrectData").holds(refused)
		if n := len(claim.jobs(submitClaim)); n != 1 {
			t.Errorf("the claim was submitted %d times, want once", n)
		}
	})
}
