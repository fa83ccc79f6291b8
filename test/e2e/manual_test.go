package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestClaimResubmittedByBillingCountsFromTheStart(t *testing.T) {
	s := withWorker(t)
	claim := s.submits("CLM-E2E-11-2")
	claim.isExhaustedBy("NETWORK_ERROR")
	claim.notifies("billing").holds(vars{
		"shouldRetry": false, "retryCount": 5, "maxRetries": 5, "backoffMinutes": 0, "nextRetryTime": nil,
		"retryReason": "Transient error, all 5 retries used", "errorClassification": "TRANSIENT", "originalError": "NETWORK_ERROR",
	})
	if submissions := len(claim.jobs(submitClaim)); submissions != 6 {
		t.Errorf("the claim was submitted %d times, want 6", submissions)
	}

	claim.refusesWhatIsNoDecision("Task_ReviewClaim").complete(sentAgain)
	claim.submission().holds(vars{"retryCount": 0, "submissionError": nil}).fails("AUTHORIZATION_DENIED")

	claim.notifies("registration").holds(vars{"retryCount": 0, "originalError": "AUTHORIZATION_DENIED"})
	claim.asks("Task_CorrectData").holds(vars{"manualDecision": nil, "justification": nil}).complete(discarded)
	claim.endsAt("EndEvent_AbandonedByRegistration")
	claim.recorded(append(slices.Repeat([]string{"DECISION_REFUSED"}, len(noDecisions)), "RESUBMITTED", "ABANDONED")...)
}

// sentAgain is the answer of a person who sends the claim again as it is.
var sentAgain = vars{"manualDecision": "RESUBMIT", "justification": "dados conferidos"}

// noDecisions are answers that are no decision, each with words of the problem that the person is told.
var noDecisions = []struct {
	answer  vars
	problem string
}{
	{nil, "Nenhuma decisão foi escolhida."},
	{vars{"manualDecision": "Reenviar", "justification": "x"}, "Essa decisão não existe."},
	{vars{"manualDecision": []string{"RESUBMIT"}, "justification": "x"}, "Essa decisão não existe."},
	{vars{"manualDecision": "CORRECT", "justification": "  "}, "Falta a justificativa."},
	{vars{"manualDecision": "RESUBMIT", "justification": 7}, "Falta a justificativa."},
}

// refusesWhatIsNoDecision completes the task with each answer that is none, and returns the one that comes back: the person is asked
// again each time, with what was wrong.
func (c *claim) refusesWhatIsNoDecision(person string) *userTask {
	c.Helper()
	task := c.asks(person).holds(vars{"decisionProblem": nil})
	for _, no := range noDecisions {
		task.holds(vars{"manualDecision": nil, "justification": nil}).complete(no.answer)
		task = c.asks(person)
		problem, _ := task.variables["decisionProblem"].(string)
		if !strings.HasPrefix(problem, no.problem) || !strings.HasSuffix(problem, "informe a justificativa.") {
			c.Errorf("after %v the person reads %q, want %q", no.answer, problem, no.problem)
		}
	}
	return task
}

// The worker deploys the forms with the models, so that Tasklist finds the form of each task.
func TestAPersonsAnswerThatIsNoDecisionIsInTheTrail(t *testing.T) {
	const id = "CLM-E2E-11-3"
	o := atTheOffice(t)
	claim := o.submits(id)
	claim.submissionFails("<codigoGlosa>1011</codigoGlosa>")
	claim.notifies("registration")
	task := claim.asks("Task_CorrectData").holds(vars{"decisionProblem": nil})
	if task.form == 0 {
		t.Error("the task has no form")
	}
	if stopped, _ := task.variables["stoppedAt"].(string); !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*@America/Sao_Paulo$`).MatchString(stopped) {
		t.Errorf("the claim stopped at %q, want a time of Brasília", stopped)
	}
	decision, _ := task.variables["retryDecision"].(map[string]any)
	check.Same(t, any("IDENTIFICAÇÃO DO BENEFICIÁRIO NÃO CONSISTENTE"), decision["matchedMeaning"], "the term of the glosa")
	task.complete(vars{"manualDecision": "Reenviar", "decidedBy": "ana.lima", "correctedData": "x"})
	task = claim.asks("Task_CorrectData").holds(vars{"correctedData": nil})
	o.lists(id, "stopped", "registration")
	code, history := o.says("history", id)
	for _, want := range []string{"no decision, by ana.lima", "Essa decisão não existe.", ": stopped: registration"} {
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(history), " "), want) {
			t.Errorf("exit code %d, the history lacks %q:\n%s", code, want, history)
		}
	}
	task.complete(vars{"manualDecision": "CORRECT", "justification": "carteirinha corrigida", "correctedData": vars{"numeroCarteira": "001", "senhaAutorizacao": " ", "codigoProcedimento": nil}})
	claim.submission().holds(vars{"correctedData": map[string]any{"numeroCarteira": "001"}, "retryCount": 0}).fails("AUTHORIZATION_DENIED")
	claim.notifies("registration")
	claim.asks("Task_CorrectData").holds(vars{"decisionProblem": nil}).complete(discarded)
	claim.endsAt("EndEvent_AbandonedByRegistration")
	claim.recorded("DECISION_REFUSED", "RESUBMITTED", "ABANDONED")
}

// A team that nobody notifies gets its task all the same.
func TestAPersonsTaskComesWithoutTheNotice(t *testing.T) {
	o := atTheOffice(t)
	refused := o.submits("CLM-E2E-11-5")
	refused.submissionFails("AUTHORIZATION_DENIED")
	refused.waitsAt("BoundaryEvent_RegistrationNotNotified").passes()
	refused.asks("Task_CorrectData").complete(discarded)
	refused.endsAt("EndEvent_AbandonedByRegistration")

	exhausted := o.submits("CLM-E2E-11-6")
	exhausted.isExhaustedBy("TIMEOUT")
	exhausted.waitsAt("BoundaryEvent_BillingNotNotified").passes()
	exhausted.asks("Task_ReviewClaim").complete(discarded)
	exhausted.endsAt("EndEvent_AbandonedByBilling")
	exhausted.recorded("ABANDONED")
}

// A missing worker does not keep the person's task away for long.
func TestARefusedDecisionComesBackWithoutAWorker(t *testing.T) {
	o := atTheOffice(t)
	claim := o.submits("CLM-E2E-11-4")
	claim.submissionFails("DUPLICATE_CLAIM")
	claim.notifies("registration")
	task := claim.asks("Task_CorrectData")
	o.worker.stops()
	task.complete(nil)
	claim.waitsAt("BoundaryEvent_RegistrationRefusalUnrecorded").passes()
	if problem, _ := claim.asks("Task_CorrectData").variables["decisionProblem"].(string); problem == "" {
		t.Error("the person is not told what was wrong")
	}
}
