// Package replay asks another policy about the decisions that the audit trail holds: which of them it would have taken
// otherwise, and how many claims that would have saved or lost.
//
// What it says of a single decision is known: the same question, put to the other policy. What it says of a claim is an
// estimate, because the insurer's answer is not known for a time at which it was not asked; see [Rounds].
// The texts of the trail are redacted and cut, and a job's own retryUntil is not in it.
package replay

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

// maxExamples is how many examples are kept of a kind.
const maxExamples = 3

// Replay compares a policy with an audit trail. Its records are added one by one, in the order of [audit.History.Between]. It keeps
// a few words for each claim that is not accepted yet, and nothing of the others. It is for one goroutine.
type Replay struct {
	policy    *retry.Policy
	recorded  string
	decisions Decisions
	rows      map[rowKey]*Row
	// overridden are the policy with the overrides of jobs; nil where the policy does not take them.
	overridden map[overridesKey]*retry.Policy

	claims   map[string]*course
	failed   []*course // rounds that were not accepted
	accepted map[symptom][]acceptance
	rounds   Rounds
}

// New returns a replay under a policy. If recorded is not empty, it replays only the decisions of the policy of that name.
func New(p *retry.Policy, recorded string) *Replay {
	return &Replay{
		policy: p, recorded: recorded, rows: map[rowKey]*Row{}, overridden: map[overridesKey]*retry.Policy{},
		claims: map[string]*course{}, accepted: map[symptom][]acceptance{},
	}
}

// Decisions compares single decisions.
type Decisions struct {
	// Replayed is how many decisions were asked again. Refused is how many more the policy takes for invalid input, for
	// example for the form of the id.
	Replayed, Refused int
	// Class, Outcome and Wait are how many come out with another class, another outcome, and another wait before jitter.
	Class, Outcome, Wait int
	// OwnPolicy is how many were taken by this very version of the policy, and OwnOtherwise how many of those come out in any
	// way otherwise now: what the trail does not hold shows in them.
	OwnPolicy, OwnOtherwise int
	// Rows are all pairs of rules and outcomes: changed outcomes first, then changed classes, then by number.
	Rows []Row
}

// Row counts the decisions that one rule and outcome has turned into another.
type Row struct {
	Before, After Verdict
	Decisions     int
	// WaitBefore and WaitAfter are the mean waits where both are retries, and 0 otherwise.
	WaitBefore, WaitAfter time.Duration
	// Claims are examples.
	Claims []string
}

// Verdict is what a policy makes of an error text.
type Verdict struct {
	Rule    string
	Class   retry.Class
	Outcome audit.Kind
}

type rowKey struct{ before, after Verdict }

// Add replays a record. It fails only where the record is not one that this worker writes.
func (r *Replay) Add(record *audit.Record) error {
	switch {
	case record.Kind.IsDecision():
		facts, err := record.Facts()
		if err != nil {
			return err
		}
		if r.recorded == "" || facts.RetryDecision.Policy == r.recorded {
			return r.decided(record, &facts)
		}
	case record.Kind.IsOutcome():
		r.ended(record)
	case record.Kind == audit.KindRedriven:
		if c := r.claims[record.ClaimID]; c != nil {
			c.byHand = true
		}
	}
	return nil
}

// decided asks the policy about one recorded decision, and takes the claim's course further.
func (r *Replay) decided(record *audit.Record, facts *contract.Facts) error {
	q, err := r.questionOf(record, facts)
	if err != nil {
		return err
	}
	if q.policy == nil {
		r.decisions.Refused++
		return nil
	}
	d, err := q.policy.Decide(q.request, record.At)
	if err != nil { // it says what is wrong with the input
		r.decisions.Refused++
		return nil //nolint:nilerr // counted
	}
	r.compare(record, facts, &d)
	r.follow(record, facts, &q, d.Outcome == retry.OutcomePermanent)
	return nil
}

func (r *Replay) compare(record *audit.Record, facts *contract.Facts, d *retry.Decision) {
	was := &facts.RetryDecision
	key := rowKey{
		Verdict{was.RuleID, facts.ErrorClassification, record.Kind},
		Verdict{d.Error.RuleID, d.Error.Class, audit.KindOf(d.Outcome)},
	}
	row := r.rows[key]
	if row == nil {
		row = &Row{Before: key.before, After: key.after}
		r.rows[key] = row
	}
	row.Decisions++
	if len(row.Claims) < maxExamples && !slices.Contains(row.Claims, record.ClaimID) {
		row.Claims = append(row.Claims, record.ClaimID)
	}
	sum := &r.decisions
	sum.Replayed++
	if key.before.Class != key.after.Class {
		sum.Class++
	}
	if key.before.Outcome != key.after.Outcome {
		sum.Outcome++
	} else if d.Outcome == retry.OutcomeRetry {
		row.WaitBefore += record.NextRetryTime.Sub(record.At)
		row.WaitAfter += d.NextRetryTime.Sub(record.At)
		if was.DelayBeforeJitter != contract.ISODuration(d.Delay) {
			sum.Wait++
		}
	}
	if was.Policy == d.Policy && was.PolicyVersion == d.PolicyVersion {
		sum.OwnPolicy++
		if key.before != key.after || !record.NextRetryTime.Equal(d.NextRetryTime) {
			sum.OwnOtherwise++
		}
	}
}

// Decisions returns the comparison so far.
func (r *Replay) Decisions() Decisions {
	sum := r.decisions
	for _, row := range slices.Collect(maps.Values(r.rows)) {
		one := *row
		one.WaitBefore /= time.Duration(one.Decisions)
		one.WaitAfter /= time.Duration(one.Decisions)
		sum.Rows = append(sum.Rows, one)
	}
	slices.SortFunc(sum.Rows, func(a, b Row) int {
		return cmp.Or(
			-cmp.Compare(a.change(), b.change()), -cmp.Compare(a.Decisions, b.Decisions),
			cmp.Compare(a.Before.Rule, b.Before.Rule), cmp.Compare(a.After.Rule, b.After.Rule),
			cmp.Compare(a.Before.Outcome, b.Before.Outcome), cmp.Compare(a.After.Outcome, b.After.Outcome),
			cmp.Compare(a.Before.Class, b.Before.Class), cmp.Compare(a.After.Class, b.After.Class),
		)
	})
	return sum
}

// change returns how much a row changes: 2 for the outcome, 1 for the class, 0 for neither.
func (r *Row) change() int {
	switch {
	case r.Before.Outcome != r.After.Outcome:
		return 2
	case r.Before.Class != r.After.Class:
		return 1
	default:
		return 0
	}
}
