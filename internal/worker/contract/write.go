package contract

import (
	"encoding/json"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
)

// Encode returns what is stored of a decision: the variables of the answer to a job of this type, and the
// record's detail. What the answer of a job type leaves out is in the detail, so that the audit trail holds
// the same of each.
func Encode(jobType string, d *Decision, rest *Detail) (variables, detail string) {
	if jobType != BackoffJobType {
		return encode(d), rest.Encode()
	}
	return encode(struct { // the five names of RN-BIL-004 section 3.2
			ShouldRetry    bool       `json:"shouldRetry"`
			NextRetryTime  *time.Time `json:"nextRetryTime"`
			RetryCount     int        `json:"retryCount"`
			RetryReason    string     `json:"retryReason"`
			BackoffMinutes int        `json:"backoffMinutes"`
		}{d.ShouldRetry, d.NextRetryTime, d.RetryCount, d.RetryReason, d.BackoffMinutes}), encode(struct {
			*Detail

			MaxRetries          int         `json:"maxRetries"`
			ErrorClassification retry.Class `json:"errorClassification"`
			RetryDecision       Explanation `json:"retryDecision"`
		}{rest, d.MaxRetries, d.ErrorClassification, d.RetryDecision})
}

// Encode returns the detail of a record that is no decision.
func (d *Detail) Encode() string { return encode(d) }

// AnswerTo returns stored variables as a job of this type is answered with them. For [JobType] that is with
// its own error text, which is not stored: it repeats what the process holds already (RN-BIL-005 section
// 3.2).
func AnswerTo(jobType, stored, originalError string) string {
	if jobType == BackoffJobType {
		return stored
	}
	return strings.TrimSuffix(stored, "}") + `,"` + OriginalError + `":` + encode(originalError) + "}"
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of these types every value can be written
	}
	return string(b)
}
