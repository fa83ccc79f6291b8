// Package contract is what the worker and the process model agree on: the job types, the names of the process
// variables and of the task headers, and a decision as it goes over the wire and into the audit trail. Each
// shape stands here once, with the one writer and the one reader that everybody uses. The package is pure.
package contract

// The job types. A job type that a setting adds is answered as [JobType].
const (
	// JobType is the job type of RN-BIL-005.
	JobType = "analyze-retry"
	// BackoffJobType is that of RN-BIL-004, which has output variables of its own.
	BackoffJobType = "retry-submission-backoff"
	// OutcomeJobType is the one with which a model reports how a round of submissions of a claim ended, or
	// that a person had the claim sent again before its time.
	OutcomeJobType = "record-retry-outcome"
)

// The variables that a decision job may bring.
const (
	ClaimID            = "claimId"
	SubmissionError    = "submissionError"
	RetryCount         = "retryCount"
	LastSubmissionTime = "lastSubmissionTime"
	RetryUntil         = "retryUntil"
	RetryAfter         = "retryAfter"
	// MaxAttempts, RetryDelay and MaxRetryDelay change numbers of a policy that allows it (the queue's
	// document).
	MaxAttempts   = "max_attempts"
	RetryDelay    = "retry_delay"
	MaxRetryDelay = "max_retry_delay"
)

// The variables that an outcome job may bring in addition to [ClaimID].
const (
	Outcome       = "outcome"
	Justification = "justification"
	DecidedBy     = "decidedBy"
	RedriveID     = "redriveId"
	// RedriveWait is how long a claim waits that a person has sent again with its schedule kept.
	RedriveWait = "redriveWait"
	// DecisionProblem is what was wrong with a person's answer, in words.
	DecisionProblem = "decisionProblem"
)

// OriginalError is the variable of an answer that repeats the error text of the job. It is never stored: it
// may hold personal data (RN-BIL-005 section 10.1, LGPD).
const OriginalError = "originalError"

// The task headers with which a service task picks its policy and changes numbers of it.
const (
	HeaderPolicy     = "retryPolicy"
	HeaderMaxRetries = "maxRetries"
	HeaderBase       = "base"
	HeaderMax        = "max"
	HeaderDeadline   = "deadline"
)

// The task headers that name with whom the model leaves a claim that is stopped, such as "billing".
const (
	HeaderOnExhausted = "onExhausted"
	HeaderOnPermanent = "onPermanent"
)

// HeaderByPerson is the task header by which a record of SUBMITTED has who said so, and why: "true".
const HeaderByPerson = "byPerson"

// Headers are the names of the task headers of a decision.
func Headers() []string {
	return []string{
		HeaderPolicy, HeaderMaxRetries, HeaderBase, HeaderMax, HeaderDeadline,
		HeaderOnExhausted, HeaderOnPermanent,
	}
}

// DecisionVariables are the variables to fetch with a decision job: exactly what is read. To fetch all of
// them would let a foreign variable that is nested too deep stop the whole job type.
func DecisionVariables() []string {
	return []string{
		ClaimID, SubmissionError, RetryCount, LastSubmissionTime, RetryUntil, RetryAfter,
		MaxAttempts, RetryDelay, MaxRetryDelay,
	}
}

// OutcomeVariables are the variables to fetch with an outcome job; the first two are required.
func OutcomeVariables() []string {
	return []string{ClaimID, Outcome, Justification, DecidedBy, RedriveID, RedriveWait, DecisionProblem}
}

// The bounds of what a person says, in characters.
const (
	MaxJustification   = 500
	MaxDecidedBy       = 128
	MaxDecisionProblem = 500
)
