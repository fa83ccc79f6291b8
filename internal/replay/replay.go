// Package replay asks another policy about the decisions that the audit trail holds: which of them it would have taken
// otherwise, and how many claims that would have saved or lost.
//
// What it says of a single decision is known: the same question, put to the other policy. What it says of a claim is an
// estimate, because the insurer's answer is not known for a time at which it was not asked; see [Rounds].
// The texts of the trail are redacted and cut, and a job's own retryUntil is not in it.
package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// Decisions compares single decisions. Its JSON form is stable.
type Decisions struct {
	// Replayed is how many decisions were asked again. Refused is how many more the policy takes for invalid input, for
	// example for the form of the id.
	Replayed int `json:"replayed"`
	Refused  int `json:"invalidInput"`
	// How many come out with another outcome, another class, and another wait before jitter.
	Outcome int `json:"otherOutcome"`
	Class   int `json:"otherClass"`
	Wait    int `json:"otherWaitBeforeJitter"`
	// OwnPolicy is how many were taken by this very version of the policy, and OwnOtherwise how many of those come out in any
	// way otherwise now: what the trail does not hold shows in them.
	OwnPolicy    int `json:"ofThisVersion"`
	OwnOtherwise int `json:"ofThisVersionOtherwise"`
	// Rows are all pairs of rules and outcomes: changed outcomes first, then changed classes, then by number.
	Rows []Row `json:"byRule"`
}

// Row counts the decisions that one rule and outcome has turned into another.
type Row struct {
	Decisions int      `json:"decisions"`
	Before    Verdict  `json:"before"`
	After     Verdict  `json:"after"`
	Claims    []string `json:"exampleClaims"`
}

// Verdict is what a policy makes of an error text.
type Verdict struct {
	Rule    string      `json:"ruleId"`
	Class   retry.Class `json:"errorClassification"`
	Outcome string      `json:"outcome"`
	// MeanWait is 0 where not both verdicts are retries.
	MeanWait Seconds `json:"meanWaitSeconds,omitempty"`
}

// Seconds is a duration that JSON has in seconds.
type Seconds time.Duration

// MarshalJSON writes 1.5 for one and a half seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// rowKey is of two verdicts without their waits.
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
		Verdict{Rule: was.RuleID, Class: facts.ErrorClassification, Outcome: record.Kind.String()},
		Verdict{Rule: d.Error.RuleID, Class: d.Error.Class, Outcome: audit.KindOf(d.Outcome).String()},
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
		row.Before.MeanWait += Seconds(record.NextRetryTime.Sub(record.At)) // the sum, until it is asked for
		row.After.MeanWait += Seconds(d.NextRetryTime.Sub(record.At))
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
	sum.Rows = []Row{} // in JSON a list, even where it is empty
	for _, row := range r.rows {
		one := *row
		one.Before.MeanWait /= Seconds(one.Decisions)
		one.After.MeanWait /= Seconds(one.Decisions)
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

// question is a recorded question, and the policy that is asked now: with the overrides that the job had. The policy is nil
// where it does not take them.
type question struct {
	policy  *retry.Policy
	request retry.Request
}

// questionOf reads the question out of a record. It fails where the record is not one that this worker writes.
func (r *Replay) questionOf(record *audit.Record, facts *contract.Facts) (q question, err error) {
	q.request = retry.Request{
		ClaimID: record.ClaimID, SubmissionError: facts.SubmissionError, RetryCount: record.RetryCount,
		ProcessInstanceKey: record.ProcessInstanceKey,
	}
	if c := r.claims[record.ClaimID]; c != nil && record.RetryCount > 0 {
		q.request.FirstFailure = c.first
	}
	// A hint of the text is found there again.
	if hint := facts.RetryDecision.Hint; hint != nil && hint.Source == retry.HintVariable {
		if q.request.RetryAfter, err = hint.Rule(); err != nil {
			return question{}, fmt.Errorf("audit record %d: its hint cannot be read: %w", record.ID, err)
		}
	}
	if q.policy, err = r.with(facts.RetryDecision.Overrides); err != nil {
		return question{}, fmt.Errorf("audit record %d: its overrides cannot be read: %w", record.ID, err)
	}
	return q, nil
}

// with returns the policy with the overrides of a job, nil where it does not take them.
func (r *Replay) with(recorded *contract.Overrides) (*retry.Policy, error) {
	if recorded == nil {
		return r.policy, nil
	}
	o, err := recorded.Rule()
	if err != nil {
		return nil, err
	}
	key := overridesKey{o.Base, o.Max, o.Deadline, -1}
	if o.MaxRetries != nil {
		key.maxRetries = *o.MaxRetries
	}
	p, known := r.overridden[key]
	if !known {
		p, _ = r.policy.With(o)
		r.overridden[key] = p
	}
	return p, nil
}

// overridesKey is [retry.Overrides] by value; maxRetries is -1 where they do not state it.
type overridesKey struct {
	base, max, deadline time.Duration
	maxRetries          int
}
