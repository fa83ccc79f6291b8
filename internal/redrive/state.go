package redrive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/contract"
)

// Fault is a reason for which a claim is not sent again. The names are stable.
type Fault string

// The faults.
const (
	JobNotFound        Fault = "job_not_found"
	MaxRetriesExceeded Fault = "max_retries_exceeded"
	InvalidRetryState  Fault = "invalid_retry_state"
)

// FaultError words why a claim is not sent again.
type FaultError struct {
	Fault Fault
	Claim string
	Why   string
}

// Error returns the name of the fault, the claim and the reason.
func (e *FaultError) Error() string {
	return fmt.Sprintf("%s: claim %s: %s", e.Fault, e.Claim, e.Why)
}

// Candidate is a claim as the store knows it. Its JSON form is stable.
type Candidate struct {
	ClaimID string `json:"claimId"`
	// Status is empty where nothing is known of the claim.
	Status string `json:"status,omitempty"`
	// The rest is of the claim's last decision. It is absent where another record came after that.
	Classification string     `json:"errorClassification,omitempty"`
	RuleID         string     `json:"ruleId,omitempty"`
	Policy         string     `json:"policy,omitempty"`
	RetryReason    string     `json:"retryReason,omitempty"`
	DecidedAt      *time.Time `json:"decidedAt,omitempty"`

	// Last is the record that the status comes from, and Facts what it holds.
	Last  *audit.Record  `json:"-"`
	Facts contract.Facts `json:"-"`
}

// The statuses of the claims that can be chosen. The names are stable.
const (
	Waiting   = "waiting"   // for its next retry
	Overdue   = "overdue"   // the time of its retry has come, and nothing followed
	Exhausted = "exhausted" // its retries, or the time for them, are used up
	Permanent = "permanent" // its error is permanent
)

var statuses = map[audit.Kind]string{
	audit.KindExhausted: Exhausted, audit.KindPermanent: Permanent, audit.KindRejected: "rejected", audit.KindUndelivered: "undelivered",
	audit.KindRedriven: "redriven", audit.KindSubmitted: "submitted", audit.KindResubmitted: "resubmitted", audit.KindAbandoned: "abandoned",
}

// StatusOf returns how a claim stands by its last record.
func StatusOf(last *audit.Record, f *contract.Facts, now time.Time) string {
	switch next := claims.NextTry(last, f); {
	case next.IsZero():
		return cmp.Or(statuses[last.Kind], "unknown")
	case next.After(now):
		return Waiting
	default:
		return Overdue
	}
}

// lastHeard returns the record that decides the state of a claim, nil where there is none. A record of an undelivered answer
// says nothing about that, and is wrong where the answer came through after all; one of a refused decision changes nothing.
func lastHeard(records []audit.Record) *audit.Record {
	for i := range slices.Backward(records) {
		if records[i].Kind.ShowsState() {
			return &records[i]
		}
	}
	return nil
}

func candidateOf(r *audit.Record, now time.Time) (Candidate, error) {
	facts, err := r.Facts()
	if err != nil {
		return Candidate{}, err
	}
	c := Candidate{ClaimID: r.ClaimID, Status: StatusOf(r, &facts, now), Last: r, Facts: facts}
	if r.Kind.IsDecision() {
		c.Classification, c.RetryReason, c.DecidedAt = string(facts.ErrorClassification), facts.RetryReason, &r.At
		c.RuleID, c.Policy = facts.RetryDecision.RuleID, facts.RetryDecision.Policy
	}
	return c, nil
}

// refused returns why the claim is not to be sent again, nil where it is. A claim can keep its schedule only if it is stopped: one
// that waits does so already.
func (c *Candidate) refused(force, wait bool) *FaultError {
	why := func(fault Fault, format string, args ...any) *FaultError {
		return &FaultError{fault, c.ClaimID, fmt.Sprintf(format, args...)}
	}
	by, at := by(&c.Facts), c.Last.At.UTC().Format(time.RFC3339)
	switch c.Last.Kind {
	case audit.KindRetry:
		if wait {
			return why(InvalidRetryState, "it is not stopped: its next retry is due %s by the policy already; without --wait it is sent at once",
				c.Last.NextRetryTime.UTC().Format(time.RFC3339))
		}
		return nil
	case audit.KindExhausted:
		if force {
			return nil
		}
		return why(MaxRetriesExceeded, "its retries are over (%s); --force sends it all the same", c.RetryReason)
	case audit.KindPermanent:
		if force {
			return nil
		}
		return why(InvalidRetryState, "its error is permanent (%s): wrong data fails again, and a duplicate may be billed twice; "+
			"see that it is corrected, then --force sends it again", c.RetryReason)
	case audit.KindRejected:
		return why(InvalidRetryState, "an incident is open since %s: correct the input and resolve it, the claim then goes on by itself", at)
	case audit.KindRedriven, audit.KindResubmitted:
		return why(InvalidRetryState, "it is on its way already: sent again%s at %s", by, at)
	case audit.KindSubmitted:
		return why(InvalidRetryState, "the insurer accepted it at %s: sent again it would be billed twice", at)
	case audit.KindAbandoned:
		return why(InvalidRetryState, "abandoned%s at %s: its process is over", by, at)
	case audit.KindUndelivered, audit.KindDecisionRefused: // never show the state of a claim
	}
	return why(InvalidRetryState, "its last record is of a kind that this worker does not know (%s)", c.Last.Kind)
}

// by names the person who ordered or decided, where the record does.
func by(f *contract.Facts) string {
	if f.DecidedBy == "" {
		return ""
	}
	return " by " + f.DecidedBy
}

// Filter chooses claims by their last decision. An empty field chooses all.
type Filter struct {
	Rule           string // its id, or the code that it found, as alerts name it
	Policy, Status string
}

func (f Filter) fits(c *Candidate) bool {
	fits := func(want, is string) bool { return want == "" || want == is }
	byRule := fits(f.Rule, c.RuleID) || strings.EqualFold(f.Rule, c.Facts.RetryDecision.MatchedCode)
	return byRule && fits(f.Policy, c.Policy) && fits(f.Status, c.Status)
}

// choose returns the open claims whose last record is a decision since a time that fits, the longest decided first.
func choose(ctx context.Context, store audit.Store, since, now time.Time, filter Filter) ([]Candidate, error) {
	var chosen []Candidate
	err := store.OpenClaims(ctx, func(o *audit.OpenClaim) error {
		if !o.Kind.IsDecision() || o.At.Before(since) {
			return nil
		}
		r := o.Record
		c, err := candidateOf(&r, now)
		if err == nil && filter.fits(&c) {
			chosen = append(chosen, c)
		}
		return err
	})
	slices.SortFunc(chosen, func(a, b Candidate) int {
		return cmp.Or(a.DecidedAt.Compare(*b.DecidedAt), cmp.Compare(a.ClaimID, b.ClaimID))
	})
	return chosen, err
}
