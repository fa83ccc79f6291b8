package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// faultName is a reason for which a claim is not sent again. The names are stable.
type faultName string

const (
	jobNotFound        faultName = "job_not_found"
	maxRetriesExceeded faultName = "max_retries_exceeded"
	invalidRetryState  faultName = "invalid_retry_state"
)

var faultExits = map[faultName]int{jobNotFound: exitNotFound, maxRetriesExceeded: exitMaxRetries, invalidRetryState: exitInvalidState}

// faultError says why a claim is not sent again.
type faultError struct {
	name  faultName
	claim string
	why   string
}

// Error is the name of the fault, the claim and the reason.
func (e *faultError) Error() string {
	return fmt.Sprintf("%s: claim %s: %s", e.name, plain(e.claim), e.why)
}

// exitCode is the exit code of the fault.
func (e *faultError) exitCode() int { return faultExits[e.name] }

// candidate is a claim as the store knows it. Its JSON form is stable.
type candidate struct {
	ClaimID string `json:"claimId"`
	// Status is how the claim stands, as worker history says it; empty where nothing is known of it.
	Status string `json:"status,omitempty"`
	// The rest is of the claim's last decision; absent where something came after it.
	Classification string     `json:"errorClassification,omitempty"`
	RuleID         string     `json:"ruleId,omitempty"`
	Policy         string     `json:"policy,omitempty"`
	RetryReason    string     `json:"retryReason,omitempty"`
	DecidedAt      *time.Time `json:"decidedAt,omitempty"`

	last *told
}

// lastHeard is the record that says how the claim stands, nil where there is none. That an answer did not arrive says
// nothing of that, and is wrong where the answer came through after all.
func lastHeard(records []audit.Record) *audit.Record {
	for i := range slices.Backward(records) {
		if records[i].Kind != audit.KindUndelivered {
			return &records[i]
		}
	}
	return nil
}

func candidateOf(r *audit.Record, now time.Time) (candidate, error) {
	t, err := tell(r)
	if err != nil {
		return candidate{}, err
	}
	c := candidate{ClaimID: r.ClaimID, last: &t}
	c.Status, _ = standing(&t, now)
	if r.Kind.IsDecision() {
		c.Classification, c.RetryReason, c.DecidedAt = string(t.facts.ErrorClassification), t.facts.RetryReason, &r.At
		c.RuleID, c.Policy = t.facts.RetryDecision.RuleID, t.facts.RetryDecision.Policy
	}
	return c, nil
}

// refused says why the claim is not to be sent again, nil where it is.
func (c *candidate) refused(force bool) *faultError {
	why := func(name faultName, format string, args ...any) *faultError {
		return &faultError{name, c.ClaimID, fmt.Sprintf(format, args...)}
	}
	switch last := c.last; last.kind {
	case audit.KindRetry:
		return nil
	case audit.KindExhausted:
		if force {
			return nil
		}
		return why(maxRetriesExceeded, "its retries are over (%s); --force sends it all the same", c.RetryReason)
	case audit.KindPermanent:
		if force {
			return nil
		}
		return why(invalidRetryState, "its error is permanent (%s): wrong data fails again, and a duplicate may be billed twice; "+
			"see that it is corrected, then --force sends it again", c.RetryReason)
	case audit.KindRejected:
		return why(invalidRetryState, "an incident is open since %s: correct the input and resolve it, the claim then goes on by itself", utc(last.At))
	case audit.KindRedriven, audit.KindResubmitted:
		return why(invalidRetryState, "it is on its way already: %s sent it again at %s", plain(last.who()), utc(last.At))
	case audit.KindSubmitted:
		return why(invalidRetryState, "the insurer accepted it at %s: sent again it would be billed twice", utc(last.At))
	case audit.KindAbandoned:
		return why(invalidRetryState, "%s gave it up at %s: its process is over", plain(last.who()), utc(last.At))
	case audit.KindUndelivered: // is never the last one that was heard
	}
	return why(invalidRetryState, "its last record is of a kind that this worker does not know (%s)", c.last.Kind)
}

// choose returns the claims whose last record since a time is a decision that fits, the longest decided first.
func choose(ctx context.Context, store audit.Store, since, now time.Time, filter redriveFilter) ([]candidate, error) {
	last := map[string]audit.Record{}
	err := store.Between(ctx, since, farFuture(), func(r *audit.Record) error {
		switch known := last[r.ClaimID]; {
		case r.ClaimID == "", r.Kind == audit.KindUndelivered, r.ID < known.ID:
		case r.Kind.IsDecision():
			last[r.ClaimID] = *r
		default: // it is not chosen, and there may be very many of these
			last[r.ClaimID] = audit.Record{ID: r.ID, Kind: r.Kind}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var chosen []candidate
	for _, r := range last {
		if !r.Kind.IsDecision() {
			continue
		}
		c, err := candidateOf(&r, now)
		if err != nil {
			return nil, err
		}
		if filter.fits(&c) {
			chosen = append(chosen, c)
		}
	}
	slices.SortFunc(chosen, func(a, b candidate) int {
		if d := a.DecidedAt.Compare(*b.DecidedAt); d != 0 {
			return d
		}
		return strings.Compare(a.ClaimID, b.ClaimID)
	})
	return chosen, nil
}

func (f redriveFilter) fits(c *candidate) bool {
	for _, one := range [][2]string{{f.class, c.Classification}, {f.rule, c.RuleID}, {f.policy, c.Policy}, {f.status, c.Status}} {
		if one[0] != "" && one[0] != one[1] {
			return false
		}
	}
	return true
}
