// Package claims lists where every claim is, from the audit trail alone (RN-BIL-005 sections 7.2 and 12.5).
// How a claim stands, [audit.State] says; this package chooses, sorts and counts.
package claims

import (
	"cmp"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// OpenStandings returns the standings of claims that have not ended.
func OpenStandings() []audit.Standing {
	return []audit.Standing{
		audit.Waiting, audit.Overdue, audit.Stopped, audit.DeadLetter, audit.Incident, audit.Redriven,
	}
}

// Standings returns all standings.
func Standings() []audit.Standing { return append(OpenStandings(), audit.Submitted, audit.Abandoned) }

// IsOpen reports whether a claim of this standing has not ended.
func IsOpen(s audit.Standing) bool { return slices.Contains(OpenStandings(), s) }

// NoPolicy is the policy of a claim about which no policy has decided, and where the model names none either.
const NoPolicy = "none"

// Claim is a claim and where it stands. Its JSON form is stable: names are added, never changed.
type Claim struct {
	ClaimID  string         `json:"claimId"`
	Standing audit.Standing `json:"state,omitempty"`
	// Since is when the claim came to stand so.
	Since time.Time `json:"since,omitzero"`
	// State is what is known of it, with [NoPolicy] where no policy has decided. Of one that ended, Opened is
	// its first submission where that is known, in whole seconds, and zero where it never failed.
	audit.State
}

// Open returns an open claim as it stands at the time now.
func Open(claimID string, s *audit.State, now time.Time) Claim {
	c := Claim{ClaimID: claimID, Standing: s.Standing(now), Since: s.At, State: *s}
	c.Policy = cmp.Or(s.Policy, NoPolicy)
	if c.Standing == audit.Overdue {
		c.Since = s.NextRetryTime
	}
	return c
}

// Ended returns the claim that a record has ended.
func Ended(r *audit.Record) Claim {
	c := Claim{ClaimID: r.ClaimID, Standing: audit.Submitted, Since: r.At, State: audit.State{
		Policy: cmp.Or(r.Policy, NoPolicy), Kind: r.Kind, RetryCount: r.RetryCount, DecidedBy: r.DecidedBy,
		ProcessInstanceKey: r.ProcessInstanceKey,
	}}
	if r.Kind == audit.KindAbandoned {
		c.Standing = audit.Abandoned
	}
	if r.Course.Flags.Has(audit.CourseFailed) {
		c.Opened = r.At.Add(-time.Duration(r.Course.Seconds) * time.Second)
	}
	return c
}

// Know returns a claim as it stands at the time now by what [audit.Store.Claim] says of it, and the record
// that shows how it stands, nil where nothing is known that says so.
func Know(id string, s *audit.State, records []audit.Record, now time.Time) (Claim, *audit.Record) {
	for i := range slices.Backward(records) {
		r := &records[i]
		switch {
		case r.Kind == audit.KindDecisionRefused || s.IsZero() && !r.Kind.Ends():
			// The claim stands as it stood.
		case s.IsZero():
			return Ended(r), r
		default:
			return Open(id, s, now), r
		}
	}
	return Claim{ClaimID: id}, nil
}

// Count is how many open claims stand alike.
type Count struct {
	Claims int64
	// Oldest is when the oldest of them was opened, and Longest since when one of them has stood so for the
	// longest; zero where there is none.
	Oldest, Longest time.Time
}

// Census counts open claims by the policy that decided last and by how they stand.
type Census map[string]map[audit.Standing]Count

// Add counts an open claim.
func (c Census) Add(one Claim) {
	if c[one.Policy] == nil {
		c[one.Policy] = map[audit.Standing]Count{}
	}
	n := c[one.Policy][one.Standing]
	if n.Claims == 0 || one.Opened.Before(n.Oldest) {
		n.Oldest = one.Opened
	}
	if n.Claims == 0 || one.Since.Before(n.Longest) {
		n.Longest = one.Since
	}
	n.Claims++
	c[one.Policy][one.Standing] = n
}
