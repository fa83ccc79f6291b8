package e2e

import (
	"fmt"
	"maps"
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
)

// checkStatus is the job that asks the insurer whether it has the claim.
const checkStatus = "check-claim-status"

// inDoubt is a decision, by the test in the worker's place, about a submission that may have reached the insurer.
var inDoubt = vars{
	"shouldRetry": true, "retryCount": 1, "backoffMinutes": 0, "originalError": "read timed out",
	"retryDecision": vars{"advice": "CHECK_STATUS"},
}

// failsInDoubt starts a claim whose first submission may have reached the insurer; it waits no time.
func (s *scene) failsInDoubt(claimID string, more vars) *claim {
	s.Helper()
	more["claimId"] = claimID
	claim := s.start("SubmissionRetryProcess", more)
	claim.submissionFails("read timed out")
	claim.task(analyzeRetry).complete(inDoubt)
	return claim
}

func TestStatusIsAskedOnlyWhereWantedAndInDoubt(t *testing.T) {
	s := atSharedBroker(t)
	for i, c := range []struct {
		name     string
		process  vars
		decision any
		next     string
	}{
		{"wanted and advised", vars{"checkStatus": true}, vars{"advice": "CHECK_STATUS"}, checkStatus},
		{"not mentioned", vars{}, vars{"advice": "CHECK_STATUS"}, submitClaim},
		{"switched off", vars{"checkStatus": false}, vars{"advice": "CHECK_STATUS"}, submitClaim},
		{"nothing", vars{"checkStatus": nil}, vars{"advice": "CHECK_STATUS"}, submitClaim},
		{"not advised", vars{"checkStatus": true}, vars{"policy": "tiss"}, submitClaim},
		{"another advice", vars{"checkStatus": true}, vars{"advice": "CALL"}, submitClaim},
		{"no decision", vars{"checkStatus": true}, nil, submitClaim},
	} {
		s.part(c.name, func(s *scene) {
			c.process["claimId"] = fmt.Sprintf("CLM-E2E-16-%d", i)
			claim := s.start("SubmissionRetryProcess", c.process)
			claim.submissionFails("read timed out")
			claim.task(analyzeRetry).complete(vars{
				"shouldRetry": true, "retryCount": 1, "backoffMinutes": 0, "retryDecision": c.decision,
			})
			claim.task(c.next)
			if n := len(claim.jobs(checkStatus)) + len(claim.jobs(submitClaim)); n != 2 {
				s.Errorf("%d jobs to submit the claim or to ask for it, want 2", n)
			}
		})
	}
}

func TestClaimThatTheInsurerHasIsNotSentAgain(t *testing.T) {
	s := onSharedBroker(t)
	claim := s.start("SubmissionRetryProcess", vars{"claimId": "CLM-E2E-17-1", "checkStatus": true})
	claim.submissionFails("TIMEOUT")
	wait := claim.waits(5, 6)
	s.corrects(wait.ProcessInstanceKey, vars{"retryDecision": vars{"advice": "CHECK_STATUS"}})
	wait.passes()
	claim.task(checkStatus).complete(vars{"claimReceived": true, "protocol": "P-17"})
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.recorded("SUBMITTED")
	claim.variables().hold(t, vars{"protocol": "P-17"})
	if n := len(claim.jobs(submitClaim)); n != 1 {
		t.Errorf("the claim was submitted %d times, want once", n)
	}
}

func TestClaimThatTheInsurerLacksIsSentAgain(t *testing.T) {
	s := atSharedBroker(t)
	for i, answer := range []vars{{"claimReceived": false}, {"claimReceived": nil}, {}} {
		s.part(fmt.Sprint(answer), func(s *scene) {
			// The answer of an earlier round holds no longer.
			claim := s.failsInDoubt(fmt.Sprintf("CLM-E2E-18-%d", i), vars{"checkStatus": true, "claimReceived": true})
			claim.task(checkStatus).holds(vars{"claimReceived": nil}).complete(answer)
			claim.submission().holds(vars{"retryCount": 1})
		})
	}
}

// Sent blindly, it might come twice.
func TestAnswerThatIsNoBooleanIsAnIncidentUntilCorrected(t *testing.T) {
	s := atSharedBroker(t)
	claim := s.failsInDoubt("CLM-E2E-24-1", vars{"checkStatus": "sim"})
	incident := claim.incident()
	if incident.ElementID != "Gateway_CheckStatus" {
		t.Errorf("an incident at %s", incident.ElementID)
	}
	s.corrects(incident.ProcessInstanceKey, vars{"checkStatus": true})
	s.isResolved(incident)

	claim.task(checkStatus).complete(vars{"claimReceived": "não"})
	incident = claim.incident()
	if incident.ElementID != "Gateway_ClaimReceived" {
		t.Errorf("an incident at %s", incident.ElementID)
	}
	s.corrects(incident.ProcessInstanceKey, vars{"claimReceived": false})
	s.isResolved(incident)
	claim.submission().complete(nil)
}

// isResolved has the broker try again what has no job.
func (s *scene) isResolved(incident event) {
	s.Helper()
	_, err := s.broker.ResolveIncident(s.Context(), &pb.ResolveIncidentRequest{IncidentKey: incident.Key})
	s.must(err)
}

// Nobody knows whether the insurer has the claim, so it is not sent: the same error is analyzed again, which counts.
func TestStatusThatCannotBeAskedIsAskedAgainUntilRetriesAreUsed(t *testing.T) {
	s := atSharedBroker(t)
	claim := s.failsInDoubt("CLM-E2E-19-1", vars{"checkStatus": true})
	claim.task(checkStatus).throw("UNREACHABLE", vars{"submissionError": "what the question met is no submission's error"})
	again := maps.Clone(inDoubt)
	again["retryCount"] = 2
	claim.task(analyzeRetry).holds(vars{"submissionError": "read timed out", "retryCount": 1}).complete(again)
	claim.task(checkStatus).throw("UNREACHABLE", nil)
	claim.task(analyzeRetry).holds(vars{"submissionError": "read timed out", "retryCount": 2}).throw("MAX_RETRIES_EXCEEDED", nil)
	if n := len(claim.jobs(submitClaim)); n != 1 {
		t.Errorf("the claim was submitted %d times, want once", n)
	}
}

func TestDuplicateIsAskedForBeforeRegistrationIs(t *testing.T) {
	s := atSharedBroker(t)
	refused := vars{
		"shouldRetry": false, "originalError": "DUPLICATE_CLAIM", "retryDecision": vars{"advice": "CHECK_STATUS"},
	}
	i := 0
	for name, goes := range map[string]func(*claim){
		"received": func(c *claim) {
			c.task(checkStatus).complete(vars{"claimReceived": true})
			c.task(recordOutcome).holds(vars{"outcome": "SUBMITTED"}).complete(nil)
			c.endsAt("EndEvent_ClaimAlreadyReceived")
		},
		"not received": func(c *claim) {
			c.task(checkStatus).complete(vars{"claimReceived": false})
			c.notifies("registration").holds(refused)
			c.asks("Task_CorrectData")
		},
		"no answer now, but one in an earlier round": func(c *claim) {
			c.task(checkStatus).holds(vars{"claimReceived": nil}).complete(nil)
			c.notifies("registration")
		},
		"not to be asked": func(c *claim) {
			c.task(checkStatus).throw("UNREACHABLE", nil)
			c.notifies("registration").holds(refused)
		},
		"not wanted":  func(c *claim) { c.notifies("registration") },
		"not advised": func(c *claim) { c.notifies("registration") },
	} {
		i++
		s.part(name, func(s *scene) {
			claim := s.start("SUB_06", vars{"claimId": fmt.Sprintf("CLM-E2E-20-%d", i), "checkStatus": name != "not wanted", "claimReceived": true})
			claim.submissionFails("DUPLICATE_CLAIM")
			decided := maps.Clone(refused)
			if name == "not advised" {
				decided["retryDecision"] = vars{"policy": "tiss"}
			}
			claim.task(analyzeRetry).throw("PERMANENT_ERROR", decided)
			goes(claim)
		})
	}
}
