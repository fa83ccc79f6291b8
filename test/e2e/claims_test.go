package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// lists fails the test where the claim stands otherwise.
func (o *office) lists(claim, state, with string) {
	o.Helper()
	var answer struct {
		Claims []struct{ ClaimID, State, With, Policy string }
	}
	code, text := o.says("claims", "--json", "--state", "waiting,overdue,stopped,dead-letter,incident,redriven,submitted,abandoned")
	if err := json.Unmarshal([]byte(text), &answer); code != 0 || err != nil {
		o.Fatalf("claims: exit code %d, %v: %s", code, err, text)
	}
	for _, c := range answer.Claims {
		if c.ClaimID != claim {
			continue
		}
		if c.State != state || c.With != with || c.Policy != "tiss" {
			o.Errorf("claim %s is %+v, want it %s with %q", claim, c, state, with)
		}
		return
	}
	o.Errorf("claim %s is not listed, want it %s: %s", claim, state, text)
}

func TestClaimIsListedWhereverItIs(t *testing.T) {
	const id = "CLM-E2E-15-1"
	o := atTheOffice(t)
	claim := o.submits(id)
	claim.submissionFails("TIMEOUT")
	wait := claim.waits(5, 6)
	o.lists(id, "waiting", "")
	wait.passes()
	claim.submissionFails("INVALID_PROCEDURE_CODE")
	claim.notifies("registration")
	o.lists(id, "stopped", "registration")
	task := claim.asks("Task_CorrectData")
	claim.waitsForAnOrder("BoundaryEvent_RegistrationRedriven")
	task.complete(vars{"manualDecision": "RESUBMIT", "justification": "código corrigido"})
	submission := claim.submission()
	o.lists(id, "redriven", "")
	submission.complete(nil)
	claim.endsAt("EndEvent_ClaimSubmitted")
	o.lists(id, "submitted", "")
}

// A certificate, a password or an address that is wrong stops every claim: that is no work for registration.
func TestClaimThatTheHospitalsOwnAccessStoppedIsOperationsWork(t *testing.T) {
	const id = "CLM-E2E-15-3"
	o := atTheOffice(t)
	claim := o.submits(id)
	claim.submissionFails("HTTP 401 Unauthorized: credentials expired")
	claim.notifies("operations")
	task := claim.deadLetter("Task_CorrectData", "operations")
	o.lists(id, "stopped", "operations")
	o.hasAnEvent(id, "retry.permanent_error_detected.v4", `"with":"operations"`)
	for command, want := range map[string]string{
		"history": "stopped: operations PERMANENT_ERROR", "claims": "stopped: operations", "report": "stopped: operations",
	} {
		arguments := []string{command}
		switch command {
		case "history":
			arguments = append(arguments, id)
		case "report": // that of the last month has nothing of today
			arguments = append(arguments, "--from", "2026-01-01")
		}
		if code, said := o.says(arguments...); code != 0 || !strings.Contains(strings.Join(strings.Fields(said), " "), want) {
			t.Errorf("%s: exit code %d, it does not say %q:\n%s", command, code, want, said)
		}
	}
	task.complete(vars{"manualDecision": "RESUBMIT", "justification": "senha renovada"})
	claim.submission().complete(nil)
	claim.endsAt("EndEvent_ClaimSubmitted")
}

// An instance that is cancelled reports nothing more: a person ends its claim by a process of its own.
func TestClaimOfACancelledInstanceIsEndedByAPerson(t *testing.T) {
	const id = "CLM-E2E-15-2"
	o := atTheOffice(t)
	o.example("end-claim.bpmn")
	claim := o.submits(id)
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6)
	claim.cancel()
	o.lists(id, "waiting", "")
	o.start("EndClaimProcess", vars{"claimId": id, "outcome": "ABANDONED", "justification": "paga pelo paciente", "decidedBy": "ana.lima"}).endsAt("EndEvent_Ended")
	o.lists(id, "abandoned", "")
	if code, story := o.says("history", id); code != 0 || !strings.Contains(story, "abandoned, by ana.lima") {
		t.Errorf("exit code %d, the story is:\n%s", code, story)
	}
}
