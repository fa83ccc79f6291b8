package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Decision is the answer to a decision job as process variables: the agreed names of RN-BIL-005 section 3.2,
// and everything else in the one object `retryDecision`, so that the agreed names stay as they are.
type Decision struct {
	ShouldRetry         bool              `json:"shouldRetry"`
	RetryCount          int               `json:"retryCount"`
	MaxRetries          int               `json:"maxRetries"`
	BackoffMinutes      int               `json:"backoffMinutes"`
	NextRetryTime       *time.Time        `json:"nextRetryTime"` // null unless the claim is retried
	RetryReason         string            `json:"retryReason"`
	ErrorClassification retry.Class       `json:"errorClassification"`
	RetryDecision       retry.Explanation `json:"retryDecision"`
}

// Of returns a decision of the rule as jobs of this type get it, its reason in a language.
func Of(d *retry.Decision, jobType string, l text.Language) Decision {
	words := text.In(l)
	c := Decision{
		ShouldRetry:         d.Outcome == retry.OutcomeRetry,
		RetryCount:          d.RetryCount,
		MaxRetries:          d.MaxRetries,
		BackoffMinutes:      d.BackoffMinutes(),
		RetryReason:         words.Text(d.Reason()),
		ErrorClassification: d.Error.Class,
		RetryDecision:       d.Explanation,
	}
	if c.ShouldRetry {
		c.NextRetryTime = &d.NextRetryTime
	}
	if about := words.Name("rule", d.Error.ID); d.Error.Means == "" && about != d.Error.ID {
		c.RetryDecision.MatchedMeaning = about
	}
	if jobType == BackoffJobType { // RN-BIL-004 section 3.2
		c.RetryDecision.With = "" // its model is not told, and leaves the claim with whom it names
		if c.ShouldRetry {
			c.RetryReason = words.Sprintf("Retry %d of %d", d.RetryCount, d.MaxRetries)
		}
	}
	return c
}

// ISODuration is a duration that is ISO 8601 in JSON.
type ISODuration = retry.ISODuration

// Detail is what a record of the audit trail keeps in addition to its columns and the answer. What a kind of
// record does not know is zero and left out.
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
	// Attempts is, for an outcome and a re-drive, how often the claim was submitted in this round; 0 for
	// other records.
	Attempts int `json:"attempts,omitempty"`
	// FirstFailureTime is, for an outcome and a re-drive, when the first submission of the round was found to
	// have failed; zero where none had.
	FirstFailureTime time.Time `json:"firstFailureTime,omitzero"`
	// Policy is, for a rejected input, the one that would have decided; for an outcome and a re-drive, the
	// one that decided last. It is empty where there is none.
	Policy string `json:"policy,omitempty"`
	// Justification is why a person had the claim sent again or gave it up, redacted, at most
	// [MaxJustification] characters; DecidedBy is by whom that was decided, as given, at most [MaxDecidedBy]:
	// a user of the hospital, not a patient. Both are empty where the model did not say so.
	Justification string `json:"justification,omitempty"`
	DecidedBy     string `json:"decidedBy,omitempty"`
	// RedriveID is the UUID of the command that had the claim sent again; empty where none had.
	RedriveID string `json:"redriveId,omitempty"`
	// RedriveWait is how long the process waits before it sends the claim again; 0 where it does so at once.
	RedriveWait ISODuration `json:"redriveWait,omitzero"`
	// DecisionProblem is what was wrong with a person's answer that was no decision, redacted, at most
	// [MaxDecisionProblem] characters.
	DecisionProblem string `json:"decisionProblem,omitempty"`
}

// Steps are the times of the six steps that every decision takes (RN-BIL-005 section VII). The rule is one
// computation of some microseconds, so the four steps within it bear the same time.
type Steps struct {
	// ErrorReceived is when the job was received: UTC, in whole microseconds.
	ErrorReceived time.Time `json:"errorReceived"`
	// AfterMicros says how many microseconds later each was done: error received, error classified, counter
	// checked, backoff computed, decision taken, next try scheduled.
	AfterMicros [6]int64 `json:"afterMicros"`
}

// Times returns when each was done.
func (s *Steps) Times() (times [6]time.Time) {
	for i, after := range s.AfterMicros {
		times[i] = s.ErrorReceived.Add(time.Duration(after) * time.Microsecond)
	}
	return times
}

// Facts is everything that a record says beyond its columns, by the names of the process variables and of
// RN-BIL-005 section VII. What a kind of record does not know is zero.
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

// Encode returns the variables of a decision as they are stored.
func (d *Decision) Encode() string { return encode(d) }

// Encode returns the detail of a record as it is stored.
func (d *Detail) Encode() string { return encode(d) }

// backoffAnswer has the five names of RN-BIL-004 section 3.2.
type backoffAnswer struct {
	ShouldRetry    bool       `json:"shouldRetry"`
	NextRetryTime  *time.Time `json:"nextRetryTime"`
	RetryCount     int        `json:"retryCount"`
	RetryReason    string     `json:"retryReason"`
	BackoffMinutes int        `json:"backoffMinutes"`
}

// AnswerTo returns stored variables as a job of this type is answered with them: those of its rule, and for
// [JobType] its own error text, which is not stored: it repeats what the process holds already (RN-BIL-005
// section 3.2).
func AnswerTo(jobType, stored, originalError string) string {
	if jobType != BackoffJobType {
		return strings.TrimSuffix(stored, "}") + `,"` + OriginalError + `":` + encode(originalError) + "}"
	}
	var answer backoffAnswer
	_ = json.Unmarshal([]byte(stored), &answer) // this package wrote it
	return encode(answer)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of these types every value can be written
	}
	return string(b)
}
