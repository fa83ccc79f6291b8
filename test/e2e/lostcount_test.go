package e2e

import (
	"fmt"
	"testing"
)

// A mapping of the analysis task hides the count that the worker returns, so that the process brings 0 at every try, without
// even a wait between them. The claim is stopped all the same.
func TestAModelThatLosesItsCountDoesNotLoopForEver(t *testing.T) {
	s := newScene(t)
	for i, mapping := range []string{
		`<zeebe:output source="=shouldRetry" target="shouldRetry" />`,
		`<zeebe:input source="=retryCount" target="retryCount" />`,
	} {
		process := fmt.Sprint("LosesItsCount", i)
		const task = `<zeebe:taskDefinition type="analyze-retry" retries="3" />`
		s.variant(`id="OneTask"`, `id="`+process+`"`, task, task+`<zeebe:ioMapping>`+mapping+`</zeebe:ioMapping>`,
			`<bpmn:incoming>Flow_Start</bpmn:incoming>`, `<bpmn:incoming>Flow_Start</bpmn:incoming><bpmn:incoming>Flow_Retry</bpmn:incoming>`,
			`targetRef="EndEvent_Retry"`, `targetRef="Task_AnalyzeRetry"`, `<bpmn:incoming>Flow_Retry</bpmn:incoming>`, ``)
		claim := s.start(process, vars{"claimId": fmt.Sprintf("CLM-E2E-60-%d", i), "submissionError": "TIMEOUT"})
		claim.endsAt("EndEvent_Stop")
		answers := claim.events("JOB", "COMPLETED", func(e event) bool { return claim.has(e.ProcessInstanceKey) })
		for n, answer := range answers {
			got := readVars(s.T, s.answer(answer))
			got.hold(s.T, vars{"retryCount": n + 1})
			if decision := got.object(s.T, "retryDecision"); n == 0 {
				decision.lack(s.T, "countFrom")
			} else {
				decision.hold(s.T, vars{"countFrom": "TRAIL"})
			}
		}
		if len(answers) != 5 {
			t.Errorf("%s: %d retries, want 5", mapping, len(answers))
		}
	}
}
