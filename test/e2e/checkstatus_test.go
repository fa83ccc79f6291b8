package e2e

import (
	"maps"
	"testing"
)

// checkStatus is the job that asks the insurer whether it has the claim.
const checkStatus = "check-claim-status"

// inDoubt is a decision about a submission that may have reached the insurer. The test answers in the worker's place.
var inDoubt = vars{
	"shouldRetry": true, "retryCount": 1, "backoffMinutes": 0, "originalError": "read timed out",
	"retryDecision": vars{"advice": "CHECK_STATUS"},
}

// failsInDoubt starts a claim whose first submission may have reached the insurer. It waits no time.
func (s *scene) failsInDoubt(claimID string, checks any) *claim {
	s.Helper()
	// The answer of an earlier round must not count.
	claim := s.start("SubmissionRetryProcess", vars{"claimId": claimID, "checkStatus": checks, "claimReceived": true})
	claim.submissionFails("read timed out")
	claim.task(analyzeRetry).complete(inDoubt)
	return claim
}

func TestInsurerIsAskedBeforeAClaimInDoubtIsSentAgain(t *testing.T) {
	s := withoutWorker(t)
	s.failsInDoubt("CLM-E2E-16-1", nil).submission() // the process does not want the question

	received := s.failsInDoubt("CLM-E2E-16-2", true)
	received.task(checkStatus).holds(vars{"claimReceived": nil}).complete(vars{"claimReceived": true, "protocol": "P-17"})
	received.task(recordOutcome).holds(vars{"outcome": "SUBMITTED"}).complete(nil)
	received.endsAt("EndEvent_ClaimSubmitted")
	received.variables().hold(t, vars{"protocol": "P-17"})
	if n := len(received.jobs(submitClaim)); n != 1 {
		t.Errorf("the claim was submitted %d times, want once", n)
	}

	lacking := s.failsInDoubt("CLM-E2E-16-3", true)
	lacking.task(checkStatus).complete(vars{"claimReceived": false})
	lacking.submission().holds(vars{"retryCount": 1})
}

// Nobody knows whether the insurer has the claim, so it is not sent. The same error is analyzed again, which counts.
func TestStatusThatCannotBeAskedIsAskedAgainUntilRetriesAreUsed(t *testing.T) {
	s := withoutWorker(t)
	claim := s.failsInDoubt("CLM-E2E-19-1", true)
	claim.task(checkStatus).throw("UNREACHABLE", vars{"submissionError": "an error of the question"})
	again := maps.Clone(inDoubt)
	again["retryCount"] = 2
	claim.task(analyzeRetry).holds(vars{"submissionError": "read timed out", "retryCount": 1}).complete(again)
	claim.task(checkStatus).throw("UNREACHABLE", nil)
	claim.task(analyzeRetry).holds(vars{"retryCount": 2}).throw("MAX_RETRIES_EXCEEDED", nil)
	if n := len(claim.jobs(submitClaim)); n != 1 {
		t.Errorf("the claim was submitted %d times, want once", n)
	}
}

func TestInsurerIsAskedAboutADuplicateBeforeRegistration(t *testing.T) {
	s := withWorker(t)
	duplicate := func(claimID string) *claim {
		claim := s.start("SUB_06", vars{"claimId": claimID, "checkStatus": true, "claimReceived": true})
		claim.submissionFails("DUPLICATE_CLAIM")
		return claim
	}
	received := duplicate("CLM-E2E-20-1")
	received.task(checkStatus).complete(vars{"claimReceived": true})
	received.endsAt("EndEvent_ClaimAlreadyReceived")
	received.recorded("SUBMITTED")

	unanswered := duplicate("CLM-E2E-20-2")
	unanswered.task(checkStatus).holds(vars{"claimReceived": nil}).complete(nil)
	unanswered.notifies("registration").holds(vars{"shouldRetry": false, "originalError": "DUPLICATE_CLAIM"})
	unanswered.asks("Task_CorrectData")
}
