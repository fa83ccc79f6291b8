// Package claims finds where every claim is, from the records of the audit trail alone (RN-BIL-005 sections 7.2 and 12.5). It
// states what the trail knows and no more: what a model does with a BPMN error stands in the trail only where the model says so.
package claims

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
)

// State is where a claim stands. It is a label of metrics.
type State string

// The states of claims that failed and have not ended, then those of claims that ended.
const (
	// Waiting is a retry whose time has not come, Overdue one whose time has come without news.
	Waiting State = "waiting"
	Overdue State = "overdue"
	// Stopped is a BPMN error that was thrown; DeadLetter is one of a model that keeps such claims as dead letters.
	Stopped    State = "stopped"
	DeadLetter State = "dead-letter"
	// Incident is an input that was rejected.
	Incident State = "incident"
	// Redriven is a claim that a person had sent again, without news since.
	Redriven State = "redriven"
	// Submitted is a claim that the insurer accepted, Abandoned one that was given up.
	Submitted State = "submitted"
	Abandoned State = "abandoned"
)

// OpenStates returns the states of claims that have not ended.
func OpenStates() []State { return []State{Waiting, Overdue, Stopped, DeadLetter, Incident, Redriven} }

// EndedStates returns the states of claims that ended.
func EndedStates() []State { return []State{Submitted, Abandoned} }

// IsOpen reports whether a claim in this state has not ended.
func (s State) IsOpen() bool { return slices.Contains(OpenStates(), s) }

// NoPolicy is the policy of a claim about which no policy has decided.
const NoPolicy = "none"

// WithDeadLetters is what a model says of a task whose errors end among the dead letters.
const WithDeadLetters = "dead-letter"

// Claim is a claim and where it stands. Its JSON form is stable: names are added, never changed.
type Claim struct {
	ClaimID string `json:"claimId"`
	State   State  `json:"state"`
	// Policy is the one that decided last, [NoPolicy] where none has.
	Policy string `json:"policy"`
	// Since is when the claim came into its state.
	Since time.Time `json:"since"`
	// Opened is when the claim had its first record since its last end. For one that ended, it is when the round that ended first
	// failed, and absent where it never failed.
	Opened *time.Time `json:"opened,omitempty"`
	// NextRetryTime is when the claim is to be submitted again; absent unless State is Waiting or Overdue.
	NextRetryTime *time.Time `json:"nextRetryTime,omitempty"`
	// RetryCount is how many retries the claim had in its round, MaxRetries how many its policy allows, 0 where that is not known.
	RetryCount int `json:"retryCount"`
	MaxRetries int `json:"maxRetries,omitempty"`
	// Kind is the name of the record that shows the state, such as MAX_RETRIES_EXCEEDED.
	Kind string `json:"kind"`
	// Classification and MatchedCode are those of the last error.
	Classification string `json:"errorClassification,omitempty"`
	MatchedCode    string `json:"matchedCode,omitempty"`
	// With is with whom a stopped claim is, where the model says so, and DecidedBy who decided how a claim ended.
	With      string `json:"with,omitempty"`
	DecidedBy string `json:"decidedBy,omitempty"`
	// The key is a text for the sake of JavaScript, as in the events.
	ProcessInstanceKey string `json:"processInstanceKey"`
}

// Age returns how long ago Opened was, 0 where the claim never failed.
func (c *Claim) Age(now time.Time) time.Duration {
	if c.Opened == nil {
		return 0
	}
	return max(now.Sub(*c.Opened), 0)
}

// OfOpen returns an open claim as it stands at the time now.
func OfOpen(o *audit.OpenClaim, now time.Time) (Claim, error) {
	c, err := of(&o.Record, now)
	opened := o.Opened
	c.Opened = &opened
	return c, err
}

// of returns the claim of a record that shows how it stands at the time now: any that shows it ([audit.Kind.ShowsState]).
func of(r *audit.Record, now time.Time) (Claim, error) {
	facts, err := r.Facts()
	if err != nil {
		return Claim{}, err
	}
	next := NextTry(r, &facts)
	c := Claim{
		ClaimID: r.ClaimID, State: StateOf(r.Kind, next, facts.With == WithDeadLetters, now), Policy: cmp.Or(facts.PolicyName(), NoPolicy), Since: r.At,
		RetryCount: max(r.RetryCount, facts.RetryCount), MaxRetries: facts.MaxRetries, Kind: r.Kind.String(),
		Classification: string(facts.ErrorClassification), MatchedCode: facts.RetryDecision.MatchedCode,
		With: facts.With, DecidedBy: facts.DecidedBy, Opened: facts.FirstFailureTime,
		ProcessInstanceKey: strconv.FormatInt(r.ProcessInstanceKey, 10),
	}
	if c.State == Waiting || c.State == Overdue {
		if c.NextRetryTime = &next; c.State == Overdue {
			c.Since = next
		}
	}
	return c, nil
}

func waiting(next, now time.Time) State {
	if now.Before(next) {
		return Waiting
	}
	return Overdue
}

// NextTry returns when the claim of a record is to be submitted again: the time of a retry, or that of a re-drive that keeps the
// schedule. It is zero where there is none.
func NextTry(r *audit.Record, facts *contract.Facts) time.Time {
	wait, err := contract.ParseISODuration(facts.RedriveWait)
	if err != nil || wait == 0 { // absent, or not written by this worker
		return r.NextRetryTime
	}
	return r.At.Add(wait)
}

// StateOf returns the state at the time now of a claim with a last record of this kind. next is that of [NextTry], and deadLetter
// reports whether the model keeps stopped claims as dead letters.
func StateOf(kind audit.Kind, next time.Time, deadLetter bool, now time.Time) State {
	switch kind {
	case audit.KindRetry:
		return waiting(next, now)
	case audit.KindExhausted, audit.KindPermanent:
		if deadLetter {
			return DeadLetter
		}
		return Stopped
	case audit.KindSubmitted:
		return Submitted
	case audit.KindAbandoned:
		return Abandoned
	case audit.KindRedriven, audit.KindResubmitted:
		if !next.IsZero() {
			return waiting(next, now)
		}
		return Redriven
	case audit.KindRejected, audit.KindUndelivered, audit.KindDecisionRefused:
	}
	return Incident
}
