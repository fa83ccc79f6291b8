package contract

import (
	"encoding/json"
	"fmt"
	"time"
)

// Detail is what a record of the audit trail keeps in addition to its columns and the answer. What a kind of record does not
// know is zero and left out.
type Detail struct {
	// ProcessID and ElementID name the task of the model that asked.
	ProcessID string `json:"processId,omitempty"`
	ElementID string `json:"elementId,omitempty"`
	// SubmissionError is the insurer's text, redacted and cut.
	SubmissionError string `json:"submissionError,omitempty"`
	// Steps are the times of the six steps of a decision; nil for other records.
	Steps *Steps `json:"steps,omitempty"`
	// ExecutionTimeMs is how long the analysis took, in milliseconds.
	ExecutionTimeMs float64 `json:"executionTimeMs,omitempty"`
	// Attempts is, for an outcome and a re-drive, how often the claim was submitted in this round; 0 for other records.
	Attempts int `json:"attempts,omitempty"`
	// FirstFailureTime is, for an outcome and a re-drive, when the first submission of the round was found to have
	// failed; nil where none had.
	FirstFailureTime *time.Time `json:"firstFailureTime,omitempty"`
	// Undelivered is, for a record of an answer that did not arrive, the hash of the record that holds the answer.
	Undelivered string `json:"undelivered,omitempty"`
	// Justification is why a person had the claim sent again or gave it up, redacted, at most [MaxJustification] characters;
	// Operator is who, redacted, at most [MaxOperator].
	Justification string `json:"justification,omitempty"`
	Operator      string `json:"operator,omitempty"`
	// RedriveID is the UUID of the command that had the claim sent again; empty where none had.
	RedriveID string `json:"redriveId,omitempty"`
	// Traceparent is the trace that the record belongs to, as W3C writes it; empty where there is none. It is no input of
	// the decision, so that a job is known again with any trace.
	Traceparent string `json:"traceparent,omitempty"`
}

// Steps are the times of the six steps that every decision takes (RN-BIL-005 section VII). The rule is one computation
// of some microseconds, so the four steps within it bear the same time.
type Steps struct {
	// ErrorReceived is when the job was received: UTC, in whole microseconds.
	ErrorReceived time.Time `json:"errorReceived"`
	// AfterMicros says, for each of [StepNames], how many microseconds later it was done.
	AfterMicros [6]int64 `json:"afterMicros"`
}

// StepNames are the six steps in their order.
func StepNames() [6]string {
	return [6]string{"errorReceived", "errorClassified", "counterChecked", "backoffComputed", "decisionTaken", "nextTryScheduled"}
}

// Times returns when each of [StepNames] was done.
func (s *Steps) Times() (times [6]time.Time) {
	for i, after := range s.AfterMicros {
		times[i] = s.ErrorReceived.Add(time.Duration(after) * time.Microsecond)
	}
	return times
}

// Facts is everything that a record says beyond its columns, by the names of the process variables and of RN-BIL-005
// section VII. What a kind of record does not know is zero.
type Facts struct {
	Decision
	Detail
}

// Read reads the variables and the detail of a record, of any job type; either may be empty. It fails only
// where they are not what this package writes.
func Read(variables, detail string) (Facts, error) {
	var f Facts
	for _, part := range []struct{ name, text string }{{"variables", variables}, {"detail", detail}} {
		if part.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part.text), &f); err != nil {
			return Facts{}, fmt.Errorf("its %s cannot be read: %w", part.name, err)
		}
	}
	return f, nil
}
