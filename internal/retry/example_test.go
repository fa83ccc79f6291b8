package retry_test

import (
	"fmt"
	"time"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/retry"
)

// night is a policy of a hospital that retries quickly and gives up before the day shift.
func night() *retry.Policy {
	p, err := retry.New(retry.Settings{
		Name: "night", Base: 10 * time.Minute, Factor: 2, Min: 5 * time.Minute, Max: time.Hour,
		Jitter: 0.2, Precision: time.Minute,
		MaxRetries: 4, Zone: time.UTC, IDs: retry.ClaimIDs, Unknown: retry.Unknown,
		Rules: []retry.Rule{
			{ID: "busy", Class: retry.Transient, Condition: evidence.Condition{HTTP: []string{"503"}}},
			{ID: "duplicate", Class: retry.Permanent, Condition: evidence.Condition{Contains: []string{"DUPLICATE"}}},
		},
	})
	if err != nil {
		panic(err)
	}
	return p
}

func ExamplePolicy_Decide() {
	at := time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC)
	for _, failure := range []string{"HTTP 503", "duplicate claim", ""} {
		d, err := night().Decide(retry.Request{ClaimID: "CLM-001-1", SubmissionError: failure, ProcessInstanceKey: 7}, at)
		switch {
		case err != nil:
			fmt.Println(err)
		case d.Outcome == retry.OutcomeRetry:
			fmt.Printf("%s; wait until %s\n", d.Reason(), d.NextRetryTime.Format("15:04"))
		default:
			fmt.Printf("%s; BPMN error %s\n", d.Reason(), d.ErrorCode())
		}
	}
	// Output:
	// Transient error, retry 1 of 4; wait until 23:11
	// Permanent error DUPLICATE, no retry; BPMN error PERMANENT_ERROR
	// invalid input: submissionError is empty but must be the text of the submission error, not blank. Correct the process variables, then resolve the incident
}
