// Package claims lists where every claim is, from the audit trail alone (RN-BIL-005 sections 7.2 and 12.5).
// How a claim stands, [audit.State] says; this package chooses, sorts and counts.
package claims

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// OpenStandings returns the standings of claims that have not ended.
func OpenStandings() []audit.Standing {
	return []audit.Standing{
		audit.Waiting, audit.Overdue, audit.Stopped, audit.DeadLetter, audit.Incident, audit.Redriven,
	}
}

// EndedStandings returns the standings of claims that ended.
func EndedStandings() []audit.Standing { return []audit.Standing{audit.Submitted, audit.Abandoned} }

// IsOpen reports whether a claim of this standing has not ended.
func IsOpen(s audit.Standing) bool { return slices.Contains(OpenStandings(), s) }

// NoPolicy is the policy of a claim about which no policy has decided.
const NoPolicy = "none"

// Claim is a claim and where it stands. Its JSON form is stable: names are added, never changed.
type Claim struct {
	ClaimID string         `json:"claimId"`
	State   audit.Standing `json:"state,omitempty"`
	// Policy is the one that decided last, [NoPolicy] where none has.
	Policy string `json:"policy,omitempty"`
	// Since is when the claim came to stand so.
	Since time.Time `json:"since,omitzero"`
	// Opened is when the claim had its first record since its last end; of one that ended, before that end,
	// in whole seconds, and absent where it never failed.
	Opened time.Time `json:"opened,omitzero"`
	// NextRetryTime is when the claim is to be submitted again; absent unless State is Waiting or Overdue.
	NextRetryTime time.Time `json:"nextRetryTime,omitzero"`
	// RetryCount is how many retries the claim had in its round, MaxRetries how many its policy allows, 0
	// where that is not known.
	RetryCount int `json:"retryCount"`
	MaxRetries int `json:"maxRetries,omitempty"`
	// Kind is the name of the record that shows the state, such as MAX_RETRIES_EXCEEDED.
	Kind string `json:"kind,omitempty"`
	// Classification, RuleID and MatchedCode are those of the last error.
	Classification string `json:"errorClassification,omitempty"`
	RuleID         string `json:"ruleId,omitempty"`
	MatchedCode    string `json:"matchedCode,omitempty"`
	// With is with whom a stopped claim is, where the model says so, and DecidedBy who decided what became of
	// it.
	With      string `json:"with,omitempty"`
	DecidedBy string `json:"decidedBy,omitempty"`
	// The key is a text for the sake of JavaScript, as in the events.
	ProcessInstanceKey string `json:"processInstanceKey,omitempty"`
}

// Age returns how long ago Opened was, 0 where the claim never failed.
func (c *Claim) Age(now time.Time) time.Duration {
	if c.Opened.IsZero() {
		return 0
	}
	return max(now.Sub(c.Opened), 0)
}

// Open returns an open claim as it stands at the time now.
func Open(claimID string, s *audit.State, now time.Time) Claim {
	return Claim{
		ClaimID:            claimID,
		State:              s.Standing(now),
		Policy:             cmp.Or(s.Policy, NoPolicy),
		Since:              since(s, now),
		Opened:             s.Opened,
		NextRetryTime:      s.Next,
		RetryCount:         s.RetryCount,
		MaxRetries:         s.MaxRetries,
		Kind:               s.Last.String(),
		Classification:     string(s.Class),
		RuleID:             s.Rule,
		MatchedCode:        s.Code,
		With:               s.HeldBy,
		DecidedBy:          s.DecidedBy,
		ProcessInstanceKey: strconv.FormatInt(s.ProcessInstanceKey, 10),
	}
}

// since returns when an open claim came to stand as it does at the time now.
func since(s *audit.State, now time.Time) time.Time {
	if s.Standing(now) == audit.Overdue {
		return s.Next
	}
	return s.At
}

// Ended returns the claim that a record has ended.
func Ended(r *audit.Record) Claim {
	c := Claim{
		ClaimID:            r.ClaimID,
		State:              audit.Submitted,
		Policy:             cmp.Or(r.Policy, NoPolicy),
		Since:              r.At,
		RetryCount:         r.RetryCount,
		Kind:               r.Kind.String(),
		DecidedBy:          r.DecidedBy,
		ProcessInstanceKey: strconv.FormatInt(r.ProcessInstanceKey, 10),
	}
	if r.Kind == audit.KindAbandoned {
		c.State = audit.Abandoned
	}
	if r.Course.Flags.Has(audit.CourseFailed) {
		c.Opened = r.At.Add(-time.Duration(r.Course.Seconds) * time.Second)
	}
	return c
}

// Known returns a claim as it stands at the time now by what [audit.Store.Claim] says of it, and the record
// that shows that. There is no such record where nothing is known that says how the claim stands.
func Known(claimID string, s *audit.State, records []audit.Record, now time.Time) (Claim, *audit.Record) {
	for i := range slices.Backward(records) {
		switch r := &records[i]; {
		case r.Kind == audit.KindDecisionRefused: // the claim stands as it stood
		case !s.IsZero():
			return Open(claimID, s, now), r
		case r.Kind.Ends():
			return Ended(r), r
		}
	}
	return Claim{ClaimID: claimID}, nil
}
