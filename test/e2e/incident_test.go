package e2e

import (
	"strings"
	"testing"
)

func TestInvalidInputIsAnIncidentUntilCorrected(t *testing.T) {
	s := withWorker(t)
	claim := s.submits("123.456.789-09") // a patient's CPF in the place of the claim's number
	claim.submissionFails(" ")

	incident := claim.incident()
	isOfInvalidInput(t, incident)
	claim.resolves(incident, nil)
	incident = claim.incident() // as nothing was corrected
	isOfInvalidInput(t, incident)
	asked := claim.events("USER_TASK", "CREATED", func(e event) bool { return claim.has(e.ProcessInstanceKey) })
	if ended := len(claim.jobs(notifyTeam)) + len(asked); ended != 0 {
		t.Errorf("%d jobs and tasks for people were made of invalid input", ended)
	}

	claim.resolves(incident, vars{"claimId": "CLM-E2E-6-1", "submissionError": "TIMEOUT"})
	wait := claim.waits(5, 6)
	wait.passes()
	claim.submission().holds(vars{
		"claimId": "CLM-E2E-6-1", "retryCount": 1, "backoffMinutes": wait.minutes, "originalError": "TIMEOUT",
	}).complete(nil)
	claim.endsAt("EndEvent_ClaimSubmitted")
}

// isOfInvalidInput wants both faults in the incident's text, each with the rule it breaks, and nobody's data.
func isOfInvalidInput(t *testing.T, incident event) {
	t.Helper()
	incident.saysWhy(t, "Task_AnalyzeRetry", "claimId is ", "CLM-<any>-<digits>", "submissionError is ", "not blank", "Correct the process variables")
	for _, data := range []string{"123", "456", "789"} {
		if strings.Contains(incident.ErrorMessage, data) {
			t.Errorf("the incident repeats personal data: %s", incident.ErrorMessage)
		}
	}
}

// A gateway cannot deliver a job with such a variable, nor the other jobs of its batch.
func TestUndeliverableVariableIsAnIncidentAndOtherJobsGoOn(t *testing.T) {
	s := withoutWorker(t)
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	poison := s.startRaw("OneTask", `{"claimId":"CLM-E2E-13-1","submissionError":`+deep+`}`)
	var others []*claim
	for range 10 {
		others = append(others, s.start("OneTask", vars{"claimId": "CLM-E2E-1-1", "submissionError": "TIMEOUT", "retryCount": 0}))
	}

	w := s.startWorker("RETRY_JOB_TIMEOUT=1s") // jobs of a lost batch are locked for so long
	for _, other := range others {
		other.endsAt("EndEvent_Retry")
	}
	incident := poison.incident()
	if !strings.Contains(incident.ErrorMessage, "nested too deep") {
		t.Errorf("the incident does not say what is wrong: %s", incident.ErrorMessage)
	}
	poison.resolves(incident, vars{"submissionError": "TIMEOUT"})
	poison.endsAt("EndEvent_Retry")
	w.stillRuns()
}
