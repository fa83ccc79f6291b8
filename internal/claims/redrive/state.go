package redrive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// Fault is a reason for which a claim is not sent again, and an error that [Claim.Err] wraps. The names are
// stable.
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

// Choose returns the claims whose last record is a decision since a time that fits, the longest decided
// first, each of them planned or refused.
func (r *Redriver) Choose(ctx context.Context, since time.Duration, filter Filter) ([]Claim, error) {
	var fit []string
	now := r.Now()
	err := r.Store.Open(ctx, func(id string, s *audit.State) error {
		c, recent := claims.Open(id, s, now), !s.At.Before(now.Add(-since))
		if s.Kind.IsDecision() && recent && filter.fits(&c) {
			fit = append(fit, id)
		}
		return nil
	})
	chosen := []Claim{} // in JSON a list, even where it is empty
	for _, id := range fit {
		c := r.Look(ctx, id)
		switch {
		case c.Result == Failed:
			return nil, c.Err
		case c.Kind.IsDecision(): // it has not gone on meanwhile
			chosen = append(chosen, c)
		}
	}
	slices.SortFunc(chosen, func(a, b Claim) int {
		return cmp.Or(a.Last.At.Compare(b.Last.At), cmp.Compare(a.ClaimID, b.ClaimID))
	})
	return chosen, err
}

// Look finds out how a claim stands, and whether it may be sent again.
func (r *Redriver) Look(ctx context.Context, claimID string) Claim {
	c := Claim{Result: Planned}
	state, records, err := r.Store.Claim(ctx, claimID)
	if err == nil {
		c.Known, err = claims.Know(claimID, &state, records, r.Now())
	}
	c.ClaimID, c.Advice = claimID, string(c.Facts.RetryDecision.Advice)
	if err != nil {
		c.ends(Failed, "", err)
	} else if fault, why := r.judge(&c); why != nil {
		c.ends(Refused, fault, why)
	}
	return c
}

// gone says why a claim is not sent again whose last record is no decision, with who decided that and when.
var gone = map[audit.Kind]string{
	audit.KindRejected:    "its input was rejected%s: correct it and resolve the incident, then it goes on",
	audit.KindRedriven:    "it is on its way already: sent again%s",
	audit.KindResubmitted: "it is on its way already: sent again%s",
	audit.KindSubmitted:   "the insurer accepted it%s: sent again it would be billed twice",
	audit.KindAbandoned:   "abandoned%s: its process is over",
}

// judge returns why a claim is not to be sent again, and finds how long another one is to wait. A claim can
// keep its schedule only if it is stopped: one that waits does so already.
func (r *Redriver) judge(c *Claim) (Fault, error) {
	switch {
	case c.Last == nil:
		return JobNotFound, errors.New("no decision was asked for it, or its retention is over")
	case !c.Kind.IsDecision():
		recorded := " at " + c.Last.At.UTC().Format(time.RFC3339)
		if c.DecidedBy != "" {
			recorded = " by " + c.DecidedBy + recorded
		}
		return InvalidRetryState, fmt.Errorf(gone[c.Kind], recorded)
	case c.Kind == audit.KindExhausted && !r.Force:
		return MaxRetriesExceeded, fmt.Errorf("its retries are over (%s); --force sends it all the same",
			c.Facts.RetryReason)
	case c.Kind == audit.KindPermanent && !r.Force:
		return InvalidRetryState, fmt.Errorf("its error is permanent (%s): wrong data fails again, and a "+
			"duplicate may be billed twice; see that it is corrected, then --force sends it again",
			c.Facts.RetryReason)
	case r.Backoff == nil:
		return "", nil
	case c.Kind == audit.KindRetry:
		return InvalidRetryState, errors.New("it is not stopped: its next retry is due by the policy " +
			"already; without --wait it is sent at once")
	}
	wait, err := r.Backoff(c)
	if err == nil {
		c.Wait = contract.ISODuration(wait)
	}
	return InvalidRetryState, err
}
