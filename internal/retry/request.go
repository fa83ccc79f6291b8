package retry

import "time"

// Request is what a decision depends on.
type Request struct {
	// ClaimID is the claim's identifier, in the form that the policy asks for.
	ClaimID string
	// SubmissionError is the error text as received, for example the insurer's (RN-BIL-005 V4).
	SubmissionError string
	// RetryCount is how often the claim has been tried again so far, 0 or more (RN-BIL-004 V5).
	RetryCount int
	// Retried is how often the audit trail has the claim retried in its present round, by other jobs of the
	// same process instance; 0 where it was not asked. The greater of it and RetryCount counts, because a
	// mapping in the model can lose the count.
	Retried int
	// LastSubmissionTime is when the claim was last submitted; the zero time means not known. It is kept with
	// the decision for analysis and decides nothing.
	LastSubmissionTime time.Time
	// RetryUntil is the time after which the claim is not tried again; the zero time means no such bound.
	RetryUntil time.Time
	// RetryAfter is a hint that came apart from the error text; it goes before one in the text.
	RetryAfter Hint
	// FirstFailure is when the first submission of this round was decided about; zero where this is the
	// first. Only a policy with a Deadline asks for it.
	FirstFailure time.Time
	// ProcessInstanceKey identifies the process instance that asks.
	ProcessInstanceKey int64
	// Ignored are the variables that were left out of the request because they could not be read. They are
	// kept with the decision.
	Ignored []string
}

// IDForm is the form that a policy asks of claim ids.
type IDForm string

// The forms of claim ids.
const (
	// ClaimIDs: CLM-<any>-<digits>; on one line.
	ClaimIDs IDForm = "claim"
	// AnyIDs: any word, for jobs that are no claims; such as a UUID.
	AnyIDs IDForm = "any"
)
