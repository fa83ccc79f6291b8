package retry

import (
	"fmt"
	"time"
)

// Outcome is what becomes of a claim.
type Outcome uint8

// The outcomes of a decision. The zero value is none of them.
const (
	// OutcomeRetry: wait for Backoff, then submit the claim again.
	OutcomeRetry Outcome = iota + 1
	// OutcomeExhausted: all retries are used up; the billing team looks at the claim (V1).
	OutcomeExhausted
	// OutcomePermanent: a retry cannot help; somebody has to correct the data (V2).
	OutcomePermanent
)

// String returns the outcome's name.
func (o Outcome) String() string {
	switch o {
	case OutcomeRetry:
		return "retry"
	case OutcomeExhausted:
		return "exhausted"
	case OutcomePermanent:
		return "permanent"
	default:
		return "none"
	}
}

// The BPMN error codes that stop a claim. They are part of the contract with the process model.
const (
	CodeMaxRetriesExceeded = "MAX_RETRIES_EXCEEDED"
	CodePermanentError     = "PERMANENT_ERROR"
)

// Decision is the answer to a [Request]. It is made only by [Policy.Decide].
type Decision struct {
	Outcome Outcome
	// Rule is the rule that gave the error its class.
	Rule Rule
	// RetryCount is the count that goes back to the process: one more than asked on a retry, unchanged otherwise.
	RetryCount int
	// MaxRetries is the policy's limit.
	MaxRetries int
	// Delay is the wait before jitter, Backoff the wait itself in whole minutes. Both are 0 unless the claim is retried.
	Delay, Backoff time.Duration
	// NextRetryTime is when the wait ends, UTC, in whole seconds. It is zero unless the claim is retried.
	NextRetryTime time.Time
	// SinceLastSubmission is how long ago the claim was last submitted. It is 0 where that is not known, and negative
	// where the submitting system's clock runs ahead of ours.
	SinceLastSubmission time.Duration
	// Policy and PolicyVersion name the policy that decided.
	Policy, PolicyVersion string
}

// Decide answers the request at the time now (RN-BIL-005 section II). A request with faults is not decided: the error
// is then an [*InvalidInputError] that names all of them.
func (p *Policy) Decide(r Request, now time.Time) (Decision, error) {
	if faults := r.Faults(); faults != nil {
		return Decision{}, &InvalidInputError{Faults: faults}
	}
	rule := p.Classify(r.SubmissionError)
	switch {
	case r.RetryCount >= p.MaxRetries: // V1, before V2: the count is settled whatever the last error says
		return p.stop(OutcomeExhausted, r, rule, now), nil
	case rule.Class == Permanent: // V2
		return p.stop(OutcomePermanent, r, rule, now), nil
	default:
		return p.retry(r, rule, now), nil
	}
}

func (p *Policy) stop(outcome Outcome, r Request, rule Rule, now time.Time) Decision {
	return Decision{
		Outcome:             outcome,
		Rule:                rule,
		RetryCount:          r.RetryCount,
		MaxRetries:          p.MaxRetries,
		SinceLastSubmission: r.sinceLastSubmission(now),
		Policy:              p.Name,
		PolicyVersion:       p.version,
	}
}

func (p *Policy) retry(r Request, rule Rule, now time.Time) Decision {
	backoff := p.Backoff(r)
	return Decision{
		Outcome:             OutcomeRetry,
		Rule:                rule,
		RetryCount:          r.RetryCount + 1,
		MaxRetries:          p.MaxRetries,
		Delay:               p.Delay(r.RetryCount),
		Backoff:             backoff,
		NextRetryTime:       now.UTC().Truncate(time.Second).Add(backoff), // V5: the wait is never shorter than Min
		SinceLastSubmission: r.sinceLastSubmission(now),
		Policy:              p.Name,
		PolicyVersion:       p.version,
	}
}

func (r Request) sinceLastSubmission(now time.Time) time.Duration {
	if r.LastSubmissionTime.IsZero() {
		return 0
	}
	return now.Sub(r.LastSubmissionTime)
}

// ErrorCode is the BPMN error code of a decision that stops the claim, empty for a retry.
func (d Decision) ErrorCode() string {
	switch d.Outcome {
	case OutcomeExhausted:
		return CodeMaxRetriesExceeded
	case OutcomePermanent:
		return CodePermanentError
	case OutcomeRetry:
		return ""
	default:
		return ""
	}
}

// Reason says in a few words why the decision was taken, for example "Transient error, retry 2 of 5".
func (d Decision) Reason() string {
	switch d.Outcome {
	case OutcomeRetry:
		return fmt.Sprintf("%s error, retry %d of %d", className(d.Rule.Class), d.RetryCount, d.MaxRetries)
	case OutcomeExhausted:
		return fmt.Sprintf("%s error, all %d retries used", className(d.Rule.Class), d.MaxRetries)
	case OutcomePermanent:
		return "Permanent error " + d.Rule.Code + ", no retry"
	default:
		return ""
	}
}

func className(c Class) string {
	switch c {
	case Transient:
		return "Transient"
	case Permanent:
		return "Permanent"
	case Unknown:
		return "Unknown"
	default:
		return string(c)
	}
}

// RetriesLeft is how many retries remain after this decision.
func (d Decision) RetriesLeft() int {
	return max(d.MaxRetries-d.RetryCount, 0)
}
