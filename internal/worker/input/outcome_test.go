package input_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker/contract"
	"hospital.example/analyze-retry/internal/worker/input"
)

// Audit must be able to name who decided: a user of the hospital, not a patient.
func TestWhoDecidedIsKeptAsGiven(t *testing.T) {
	for _, outcome := range []string{"ABANDONED", "RESUBMITTED", "REDRIVEN", "DECISION_REFUSED"} {
		for _, who := range []string{
			"maria.silva@hospital.example", "Maria da Silva", "5f0c1c7e-9d0a-4f5e-8a51-0b6a3f1f8f10", "auth0|5f7c8ec7c33c6c004bbafe82",
			strings.Repeat("é", contract.MaxDecidedBy),
		} {
			variables, err := json.Marshal(map[string]string{
				"claimId": "CLM-A-1", "outcome": outcome, "justification": "por ordem", "decidedBy": who,
			})
			check.Must(t, err)
			o := input.ReadOutcome(&job.Job{Variables: string(variables)})
			check.Same(t, who, o.DecidedBy, "who decided, %s", outcome)
			check.Same(t, nil, o.Invalid, "faults, %s", outcome)
		}
	}
}
