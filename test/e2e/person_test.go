package e2e

import (
	"regexp"
	"slices"
	"testing"
)

// noDecisions are answers that are no decision.
var noDecisions = []vars{
	nil,
	{"manualDecision": []string{"RESUBMIT"}, "justification": "x"},
	{"manualDecision": "CORRECT", "justification": "  "},
	{"manualDecision": "RESUBMIT", "justification": 7},
	{"manualDecision": "Reenviar Fulano Xyzzy", "decidedBy": "ana.lima", "correctedData": "x"},
}

// noDecision is what the person is told then.
const noDecision = "Sem decisão válida: escolha reenviar (RESUBMIT), corrigir (CORRECT) ou abandonar (ABANDON) e informe a justificativa."

// The worker deploys the forms with the models, so that Tasklist finds the form of each task.
func TestAPersonsAnswerThatIsNoDecisionComesBackAndIsInTheTrail(t *testing.T) {
	const id = "CLM-E2E-11-3"
	s := newScene(t)
	claim := s.submits(id)
	claim.submissionFails("<codigoGlosa>1011</codigoGlosa>")
	claim.notifies("registration")
	task := claim.asks("Task_CorrectData").holds(vars{"decisionProblem": nil})
	if task.person.FormKey == 0 {
		t.Error("the task has no form")
	}
	if stopped, _ := task.variables["stoppedAt"].(string); !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*@America/Sao_Paulo$`).MatchString(stopped) {
		t.Errorf("the claim stopped at %q, want a time of Brasília", stopped)
	}
	task.variables.object(t, "retryDecision").hold(t, vars{"matchedMeaning": "IDENTIFICAÇÃO DO BENEFICIÁRIO NÃO CONSISTENTE"}) // of the glosa
	for _, answer := range noDecisions {
		task.complete(answer)
		task = claim.asks("Task_CorrectData").holds(vars{
			"manualDecision": nil, "justification": nil, "correctedData": nil, "decisionProblem": noDecision,
		})
	}
	s.says(0, "no decision, by ana.lima", "history", id)
	s.says(0, "Sem decisão válida: escolha reenviar", "history", id)
	s.says(0, ": stopped: registration", "history", id)

	task.complete(vars{"manualDecision": "CORRECT", "justification": "carteirinha corrigida", "correctedData": vars{"numeroCarteira": "001", "senhaAutorizacao": " ", "codigoProcedimento": nil}})
	claim.submission().holds(vars{"correctedData": map[string]any{"numeroCarteira": "001"}, "retryCount": 0}).fails("AUTHORIZATION_DENIED")
	claim.notifies("registration")
	claim.asks("Task_CorrectData").holds(vars{"decisionProblem": nil}).complete(discarded)
	claim.endsAt("EndEvent_AbandonedByRegistration")
	claim.recorded(append(slices.Repeat([]string{"DECISION_REFUSED"}, len(noDecisions)), "RESUBMITTED", "ABANDONED")...)
}

// A team that nobody notifies gets its task all the same.
func TestAPersonsTaskComesWithoutTheNotice(t *testing.T) {
	s := newScene(t)
	refused := s.submits("CLM-E2E-11-5")
	refused.submissionFails("AUTHORIZATION_DENIED")
	refused.waitsAt("BoundaryEvent_RegistrationNotNotified").passes()
	refused.asks("Task_CorrectData").complete(discarded)
	refused.endsAt("EndEvent_AbandonedByRegistration")

	exhausted := s.submits("CLM-E2E-11-6")
	exhausted.isExhaustedBy("TIMEOUT")
	exhausted.waitsAt("BoundaryEvent_BillingNotNotified").passes()
	exhausted.asks("Task_ReviewClaim").complete(discarded)
	exhausted.endsAt("EndEvent_AbandonedByBilling")
	exhausted.recorded("ABANDONED")
}

// A certificate, a password or an address that is wrong stops every claim: that is no work for registration.
func TestClaimThatTheHospitalsOwnAccessStoppedIsOperationsWork(t *testing.T) {
	const id = "CLM-E2E-15-3"
	s := newScene(t)
	claim := s.submits(id)
	claim.submissionFails("HTTP 401 Unauthorized: credentials expired")
	claim.notifies("operations")
	claim.deadLetter("Task_CorrectData", "operations")
	s.says(0, "stopped: operations PERMANENT_ERROR", "history", id)
}

// An instance that is cancelled reports nothing more: a person ends its claim by a process of its own.
func TestClaimOfACancelledInstanceIsEndedByAPerson(t *testing.T) {
	const id = "CLM-E2E-15-2"
	s := newScene(t)
	s.example("end-claim.bpmn")
	claim := s.submits(id)
	claim.submissionFails("TIMEOUT")
	claim.waits(5, 6)
	claim.cancel()
	s.start("EndClaimProcess", vars{"claimId": id, "outcome": "ABANDONED", "justification": "paga pelo paciente", "decidedBy": "ana.lima"}).endsAt("EndEvent_Ended")
	s.says(0, "abandoned, by ana.lima", "history", id)
}

// With checkStatus the insurer is asked whether it has the claim, before one that may have reached it is sent again. Where that
// cannot be told nothing is sent: the same error is analyzed again, which counts.
func TestInsurerIsAskedBeforeAClaimInDoubtIsSentAgain(t *testing.T) {
	const checkStatus = "check-claim-status"
	s := newScene(t)
	failsWith := func(id, text string) *claim {
		// The answer of an earlier round must not count.
		claim := s.start("SUB_06", vars{"claimId": id, "checkStatus": true, "claimReceived": true})
		claim.submissionFails(text)
		return claim
	}
	claim := failsWith("CLM-E2E-16-1", "read timed out")
	claim.waits(5, 6).passes()
	claim.task(checkStatus).holds(vars{"claimReceived": nil}).throw("UNREACHABLE", vars{"submissionError": "an error of the question"})
	claim.waits(8, 12).passes()
	claim.task(checkStatus).holds(vars{"retryCount": 2, "originalError": "read timed out"}).complete(vars{"claimReceived": false})
	claim.submissionFails("read timed out")
	claim.waits(16, 24).passes()
	claim.task(checkStatus).holds(vars{"claimReceived": nil}).complete(vars{"claimReceived": true, "protocol": "P-17"})
	claim.endsAt("EndEvent_ClaimSubmitted")
	claim.variables().hold(t, vars{"protocol": "P-17"})
	claim.recorded("SUBMITTED")
	if n := len(claim.jobs(submitClaim)); n != 2 {
		t.Errorf("the claim was submitted %d times, want twice", n)
	}

	received := failsWith("CLM-E2E-20-1", "DUPLICATE_CLAIM")
	received.task(checkStatus).complete(vars{"claimReceived": true})
	received.endsAt("EndEvent_ClaimAlreadyReceived")
	received.recorded("SUBMITTED")

	unanswered := failsWith("CLM-E2E-20-2", "DUPLICATE_CLAIM")
	unanswered.task(checkStatus).holds(vars{"claimReceived": nil}).complete(nil)
	unanswered.notifies("registration").holds(vars{"shouldRetry": false, "originalError": "DUPLICATE_CLAIM"})
	unanswered.asks("Task_CorrectData")
}
