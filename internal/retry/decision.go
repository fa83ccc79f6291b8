package retry

import (
	"time"

	"hospital.example/analyze-retry/internal/text"
)

// Outcome is what becomes of a claim. Where it stops that is its BPMN error code, which is part of the
// contract with the process model.
type Outcome string

// The outcomes of a decision. The zero value is none of them.
const (
	// OutcomeRetry: wait for Backoff, then submit the claim again.
	OutcomeRetry Outcome = "RETRY"
	// OutcomeExhausted: all retries are used up, or none fits before the deadline; the billing team looks at
	// the claim (V1).
	OutcomeExhausted Outcome = "MAX_RETRIES_EXCEEDED"
	// OutcomePermanent: a retry cannot help; somebody has to correct the data (V2).
	OutcomePermanent Outcome = "PERMANENT_ERROR"
)

// Step is the step of the rule that settled a decision.
type Step string

// The steps, in the order in which they are taken; the first one that holds settles the decision.
const (
	// StepCount: the retries are used up.
	StepCount Step = "COUNT"
	// StepPermanent: the error does not pass by itself.
	StepPermanent Step = "PERMANENT"
	// StepDeadline: no try fits before the deadline any more.
	StepDeadline Step = "DEADLINE"
	// StepHint: the wait is what the other side asked for.
	StepHint Step = "HINT"
	// StepBackoff: the wait is the policy's own.
	StepBackoff Step = "BACKOFF"
)

// Bound is what has cut a wait. The values are part of the contract.
type Bound string

// The bounds.
const (
	// BoundMin and BoundMax: the policy's Min or Max took something off the wait or off the band it was drawn
	// from.
	BoundMin Bound = "MIN"
	BoundMax Bound = "MAX"
	// BoundDeadline: the wait was shortened to end before the deadline.
	BoundDeadline Bound = "DEADLINE"
)

// AdviceCheckStatus: the last submission may have reached its receiver. Ask for the protocol's status first;
// a claim that is sent twice is billed twice.
const AdviceCheckStatus = "CHECK_STATUS"

// CountFromTrail: the audit trail knows of more retries than the process brought, which has lost its count.
const CountFromTrail = "TRAIL"

// Decision is the answer to a [Request]. It is made only by [Policy.Decide].
type Decision struct {
	Outcome Outcome
	// Error is what was found about the error text.
	Error Classification
	// RetryCount is the count that goes back to the process: one more than asked on a retry, unchanged
	// otherwise.
	RetryCount int
	// MaxRetries is the policy's limit.
	MaxRetries int
	// Delay is the policy's wait before jitter, Backoff the wait itself in whole units of Precision, and
	// NextRetryTime when it ends: UTC, in whole seconds, in the future (V5). All are zero unless the claim is
	// retried.
	Delay, Backoff time.Duration
	NextRetryTime  time.Time
	Explanation
}

// Explanation is how a decision explains itself: the object `retryDecision` of its answer. Durations are ISO
// 8601, so that a timer event can use them; times are UTC in whole seconds. What is not known, or did not
// happen, is zero and left out. Its JSON form is stable, in this order: names are added, never changed.
type Explanation struct {
	// Policy, at PolicyVersion, has decided; RuleID gave the error its class, by MatchedCode where it looks
	// for a code.
	Policy        string `json:"policy,omitempty"`
	PolicyVersion string `json:"policyVersion,omitempty"`
	RuleID        string `json:"ruleId,omitempty"`
	MatchedCode   string `json:"matchedCode"`
	// MatchedMeaning is what MatchedCode means by its table, such as the term of a glosa, or what its rule is
	// about, in the language of the answer; empty where neither is known.
	MatchedMeaning string `json:"matchedMeaning,omitempty"`
	// Step is the step of the rule that settled it.
	Step Step `json:"reason,omitempty"`
	// DelayBeforeJitter is the policy's own wait before jitter, BackoffDuration the wait itself; PT0M where
	// it is not retried.
	DelayBeforeJitter string `json:"delayBeforeJitter,omitempty"`
	BackoffDuration   string `json:"backoffDuration,omitempty"`
	// With is, for a decision that stops a claim, who must act: the team of the rule that stops it, else whom
	// the task's header onPermanent or onExhausted names; empty where neither does.
	With string `json:"with,omitempty"`
	// Bounds are what cut the wait or the band it was drawn from, at most once each.
	Bounds      []Bound `json:"bounds,omitempty"`
	RetriesLeft int     `json:"retriesLeft"`
	// CountFrom is [CountFromTrail] where the count is the trail's; empty where it is that of the process.
	CountFrom string `json:"countFrom,omitempty"`
	// Hint is what the other side asked for, also where another step settled the decision; zero where it
	// asked for nothing.
	Hint Hint `json:"hint,omitzero"`
	// Deadline is the time after which no try is made; zero where there is none.
	Deadline time.Time `json:"deadline,omitzero"`
	// Advice is [AdviceCheckStatus], what to do before the claim is sent again, by the process or by a
	// person; empty for nothing.
	Advice string `json:"advice,omitempty"`
	// SecondsSinceLastSubmission is how long ago the claim was last submitted. It is 0 where that is not
	// known, and negative where the submitting system's clock runs ahead of ours.
	SecondsSinceLastSubmission int64 `json:"secondsSinceLastSubmission,omitempty"`
	// Overrides are the numbers of the policy that the task or the job had changed.
	Overrides Overrides `json:"overrides,omitzero"`
	// Ignored are the job's variables that could not be read; the decision is the one without them.
	Ignored []string `json:"ignored,omitempty"`
}

// ErrorCode returns the BPMN error code of a decision that stops the claim, empty for a retry.
func (d *Decision) ErrorCode() string {
	if d.Outcome == OutcomeRetry {
		return ""
	}
	return string(d.Outcome)
}

// Reason returns in a few words why the decision was taken, for example "Transient error, retry 2 of 5".
func (d *Decision) Reason() text.Message {
	name := classNames[d.Error.Class]
	switch d.Step {
	case StepCount:
		return text.Messagef("%s, %s", name, text.Messagef("all %d retries used", d.MaxRetries))
	case StepPermanent:
		return text.Messagef("Permanent error %s, no retry", d.Error.Cause())
	case StepDeadline:
		deadline := d.Deadline.UTC().Format(time.RFC3339)
		return text.Messagef("DEADLINE: %s, no retry fits before %s", name, deadline)
	case StepHint, StepBackoff:
	}
	return text.Messagef("%s, retry %d of %d", name, d.RetryCount, d.MaxRetries)
}

var classNames = map[Class]text.Message{
	Transient: text.Messagef("Transient error"),
	Permanent: text.Messagef("Permanent error"),
	Unknown:   text.Messagef("Unknown error"),
}

// BackoffMinutes returns the wait in minutes, rounded up.
func (d *Decision) BackoffMinutes() int { return int(ceil(d.Backoff, time.Minute) / time.Minute) }
