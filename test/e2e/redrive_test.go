package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

const reason = "a operadora confirmou que voltou"

// orders runs worker redrive, which must end with this exit code and say these words.
func (s *scene) orders(code int, words string, args ...string) {
	s.Helper()
	s.says(code, words, append([]string{"redrive", "--reason", reason, "--operator", "maria"}, args...)...)
}

// plan writes what worker redrive plans to a file, and returns its path.
func (s *scene) plan(args ...string) string {
	s.Helper()
	ctx, cancel := s.within(patience)
	defer cancel()
	code, text, err := s.program.Says(ctx, append([]string{"redrive", "--json"}, args...)...)
	s.must(err)
	file := filepath.Join(s.TempDir(), "plan.json")
	if s.must(os.WriteFile(file, []byte(text), 0o600)); code != 0 {
		s.Fatalf("redrive %v: exit code %d:\n%s", args, code, text)
	}
	return file
}

func TestCommandSendsAClaimAgainFromItsWaitAndFromAPersonsTask(t *testing.T) {
	const id = "CLM-E2E-31-1"
	s := newScene(t)
	nobody := vars{"justification": nil, "decidedBy": nil, "redriveId": nil}
	claim := s.submits(id)
	claim.submissionFails("TIMEOUT")
	wait := claim.waits(5, 6)
	claim.waitsForAnOrder("Event_RedriveClaim")
	s.orders(5, "it may have arrived (CHECK_STATUS)", "--claim", id)
	s.orders(0, "REDRIVEN", "--claim", id, "--checked")
	claim.submission().holds(vars{"retryCount": 1}).fails("INVALID_PROCEDURE_CODE") // and nobody has moved the clock
	if wait.isOver() {
		t.Error("the timer has fired")
	}
	s.says(0, "sent again, by maria "+reason, "history", id)

	claim.notifies("registration")
	asked := claim.deadLetter("Task_CorrectData", "registration").holds(nobody)
	s.orders(5, "its error is permanent", "--claim", id)
	s.orders(0, "RESUBMITTED", "--claim", id, "--force")
	claim.submission().holds(vars{"retryCount": 0}).fails("AUTHORIZATION_DENIED")
	asked.isTakenBack()
	claim.notifies("registration")
	claim.asks("Task_CorrectData").holds(nobody).complete(sentAgain) // what the first one said is not this person's
	claim.submission().complete(nil)
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.recorded("REDRIVEN", "RESUBMITTED", "RESUBMITTED", "SUBMITTED")
	s.says(0, "sent again, by ana.lima", "history", id)
	s.says(0, "in order", "audit", "verify")
	s.orders(5, "the insurer accepted it", "--claim", id, "--force")
}

// What nobody records holds up neither the person's task nor the submission for long.
func TestAMissingWorkerKeepsNeitherTaskNorSubmissionAway(t *testing.T) {
	s := newScene(t)
	claim := s.submits("CLM-E2E-23-2")
	claim.submissionFails("INVALID_PATIENT_DATA")
	claim.notifies("registration")
	task := claim.asks("Task_CorrectData")
	s.stopsWorker()
	task.complete(nil)
	claim.waitsAt("BoundaryEvent_RegistrationRefusalUnrecorded").passes()
	task = claim.asks("Task_CorrectData")
	if problem, _ := task.variables["decisionProblem"].(string); problem == "" {
		t.Error("the person is not told what was wrong")
	}
	task.complete(sentAgain)
	bound := claim.waitsAt("BoundaryEvent_RegistrationResubmitUnrecorded")
	s.advance(bound.Due().Add(-time.Minute).Sub(s.clock()))
	if submissions := len(claim.jobs(submitClaim)); submissions != 1 {
		t.Errorf("a minute before the hour is over the claim was submitted %d times, want once", submissions)
	}
	bound.passes()
	claim.submission().holds(vars{"retryCount": 0}).complete(nil)
}
