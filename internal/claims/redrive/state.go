package redrive

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/text"
)

// Fault is a reason for which a claim is not sent again. The names are stable.
type Fault string

// The faults.
const (
	JobNotFound        Fault = "job_not_found"
	MaxRetriesExceeded Fault = "max_retries_exceeded"
	InvalidRetryState  Fault = "invalid_retry_state"
)

// Error returns the name.
func (f Fault) Error() string { return string(f) }

// Statuses are the words by which claims are chosen: how they wait, or why they are stopped.
func Statuses() []string { return []string{"exhausted", "permanent", "waiting", "overdue"} }

// Status returns that word for a claim; for others it is the name of the claim's standing.
func Status(c *claims.Claim) string {
	stopped := map[audit.Kind]string{audit.KindExhausted: "exhausted", audit.KindPermanent: "permanent"}
	return cmp.Or(stopped[c.Kind], string(c.Standing))
}

// Filter chooses claims by their last decision. An empty field chooses all.
type Filter struct {
	Rule           string // its id, or the code that it found, as alerts name it
	Policy, Status string
}

func (f *Filter) fits(c *claims.Claim) bool {
	fits := func(want, is string) bool { return want == "" || want == is }
	return (fits(f.Rule, c.Rule) || strings.EqualFold(f.Rule, c.Code)) &&
		fits(f.Policy, c.Policy) && fits(f.Status, Status(c))
}

// Choose returns the claims whose last record is a decision since a time that fits, the oldest first, each of
// them planned or refused, as one is that has gone on meanwhile.
func (r *Redriver) Choose(ctx context.Context, since time.Duration, filter Filter) ([]Claim, error) {
	now := r.Now()
	open, err := claims.List(ctx, r.Store, claims.Query{}, now)
	chosen := []Claim{} // in JSON a list, even where it is empty
	for i := range open {
		one := &open[i]
		if !one.Kind.IsDecision() || one.At.Before(now.Add(-since)) || !filter.fits(one) {
			continue
		}
		c := r.Look(ctx, one.ClaimID)
		if c.Err != nil {
			return nil, c.Err
		}
		chosen = append(chosen, c)
	}
	return chosen, err
}

// PlannedClaim is what a plan, a list of [Claim] in JSON, binds the sending to.
type PlannedClaim struct {
	ClaimID string
	Result  Result
	Record  int64 `json:",string"`
}

// Pick returns the claims that a plan sends again, with the faults of those that do not stand as they did.
func (r *Redriver) Pick(ctx context.Context, plan []PlannedClaim) []Claim {
	picked := []Claim{}
	for _, p := range plan {
		if p.Result == Planned {
			picked = append(picked, r.again(ctx, p.ClaimID, p.Record))
		}
	}
	return picked
}

// again looks at a claim that was planned when this record was its last.
func (r *Redriver) again(ctx context.Context, claimID string, record int64) Claim {
	c := r.Look(ctx, claimID)
	if c.Result == Planned && c.Record != record {
		c.ends(Refused, InvalidRetryState,
			text.Messagef("it failed again since it was planned: look at it again"))
	}
	return c
}

// Look finds out how a claim stands, and whether it may be sent again.
func (r *Redriver) Look(ctx context.Context, claimID string) Claim {
	c := Claim{Result: Planned}
	state, records, err := r.Store.Claim(ctx, claimID)
	c.Claim, c.last = claims.Know(claimID, &state, records, r.Now())
	if c.last != nil {
		c.Record = c.last.ID
	}
	if err == nil {
		c.Check, err = check(records)
	}
	if err != nil {
		c.failed(err)
	} else if fault, why := r.judge(&c); fault != "" {
		c.ends(Refused, fault, why)
	}
	return c
}

// duplicate is what stands in rules and codes by which an insurer says that it has a claim: also two glosas.
var duplicate = []string{"duplicate", "1308", "1702"}

// check returns why a claim may have arrived, by any try since it was opened or a person sent it again: a
// refused connection says nothing of the tries before it. Policies without such advice know duplicates too.
func check(records []audit.Record) (string, error) {
	for i := range slices.Backward(records) {
		r := &records[i]
		if r.Kind.Ends() || r.Kind == audit.KindResubmitted || r.Kind == audit.KindRedriven {
			break // the person who sent it again has asked about the tries before
		}
		found := strings.ToLower(r.Rule + " " + r.Code)
		if slices.ContainsFunc(duplicate, func(one string) bool { return strings.Contains(found, one) }) {
			return "DUPLICATE", nil
		}
		facts, err := r.Facts()
		if advice := facts.RetryDecision.Advice; err != nil || advice != "" {
			return advice, err
		}
	}
	return "", nil
}

// gone says why a claim is not sent again whose last record is no decision, with who decided that and when.
func gone(c *Claim) text.Message {
	at := c.last.At
	recorded := text.Messagef("at %s", at)
	if c.DecidedBy != "" {
		recorded = text.Messagef("by %s at %s", c.DecidedBy, at)
	}
	switch c.Kind { //nolint:exhaustive // all others are on their way
	case audit.KindRejected:
		return text.Messagef("its input was rejected %s: %s", recorded, c.last.Message)
	case audit.KindSubmitted:
		return text.Messagef("the insurer accepted it %s: sent again it would be billed twice", recorded)
	case audit.KindAbandoned:
		return text.Messagef("abandoned %s: its process is over", recorded)
	default:
		return text.Messagef("it is on its way already: sent again %s", recorded)
	}
}

// judge returns why a claim is not to be sent again, no fault where it is.
func (r *Redriver) judge(c *Claim) (Fault, text.Message) {
	switch {
	case c.last == nil:
		return JobNotFound, text.Messagef("no decision was asked for it, or its retention is over")
	case !c.Kind.IsDecision():
		return InvalidRetryState, gone(c)
	case c.Kind == audit.KindExhausted && !r.Force:
		return MaxRetriesExceeded, text.Messagef("its retries are over; --force sends it all the same")
	case c.Kind == audit.KindPermanent && !r.Force:
		return InvalidRetryState, text.Messagef("its error is permanent (rule %s): wrong data fails "+
			"again; see that it is corrected, then --force sends it", c.Rule)
	case c.Check != "" && !r.Checked:
		return InvalidRetryState, text.Messagef("it may have arrived (%s), and sent again it would be "+
			"billed twice: ask the insurer for its protocol's status; if it is not there, --checked sends "+
			"it", c.Check)
	case c.Kind == audit.KindRetry && r.Wait > 0:
		return InvalidRetryState, text.Messagef("it is not stopped: its next retry is due by the policy " +
			"already; without --wait it is sent at once")
	}
	return "", text.Message{}
}
