package replay

import (
	"cmp"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

// course is how a round of a claim went, and how it would go under the policy.
type course struct {
	claim string
	// first is when it failed first, last when it failed last, due when its next try is to be, and tries how many retries
	// there were: all as recorded.
	first, last, due time.Time
	tries            int
	symptom          symptom
	// needless is how many retries were made after an error that the policy calls permanent.
	needless  int
	permanent bool
	cut       bool
	byHand    bool
	over      audit.Kind // how it ended without being accepted; 0 while it is under way
	earlier   *course    // the round before it, where that was not accepted either; nil for none

	// What the policy does: its request of the last failure, when it tries next (zero when it has stopped), and how many
	// retries it has made.
	policy    *retry.Policy
	request   retry.Request
	next      time.Time
	triesThen int
	// after are its tries after the recorded end, as Unix seconds, and own is when the claim was accepted in a later round.
	after []int64
	own   time.Time
}

// symptom identifies a kind of failure: by its rule, and by its text if no rule knew it.
type symptom struct{ rule, text string }

func symptomOf(facts *contract.Facts) symptom {
	s := symptom{rule: facts.RetryDecision.RuleID}
	if s.rule == retry.RuleUnknown || s.rule == "" {
		s.text = facts.SubmissionError
	}
	return s
}

// acceptance is a round that failed and was accepted in the end.
type acceptance struct{ first, last, at time.Time }

// follow takes the course of a claim to its next recorded failure; permanent is what the policy calls that one.
func (r *Replay) follow(record *audit.Record, facts *contract.Facts, q *question, permanent bool) {
	c := r.claims[record.ClaimID]
	if c == nil || record.RetryCount == 0 {
		c = r.begin(record, c)
		c.says(q)
		c.fail(record.At)
	} else {
		if c.over != 0 {
			return // the same end asked again
		}
		if c.permanent && record.RetryCount > c.tries {
			c.needless++
		}
		c.tryUntil(c.due)
		c.says(q)
		if !c.next.IsZero() && !c.next.After(record.At) { // this very try
			c.triesThen++
			c.fail(record.At)
		}
	}
	c.last, c.due, c.tries = record.At, record.NextRetryTime, max(c.tries, record.RetryCount)
	c.symptom = symptomOf(facts)
	c.permanent = c.permanent || permanent && record.Kind == audit.KindRetry
	if record.Kind != audit.KindRetry {
		r.giveUp(c, record.Kind)
	}
}

// begin returns the course of a new round. An open round before it has no known end.
func (r *Replay) begin(record *audit.Record, before *course) *course {
	c := &course{
		claim: record.ClaimID, first: record.At, cut: record.RetryCount > 0,
		request: retry.Request{ClaimID: record.ClaimID, ProcessInstanceKey: record.ProcessInstanceKey},
	}
	switch {
	case before == nil:
	case before.over != 0:
		c.earlier = before
	case before.tries > 0 || before.request.ProcessInstanceKey != record.ProcessInstanceKey: // or else the same failure asked again
		r.rounds.Open++
	}
	r.claims[record.ClaimID] = c
	return c
}

// says takes over what insurer and job said at a recorded failure.
func (c *course) says(q *question) {
	c.policy, c.request.SubmissionError, c.request.RetryAfter = q.policy, q.request.SubmissionError, q.request.RetryAfter
}

// fail asks the policy what to do about a failure.
func (c *course) fail(at time.Time) {
	c.next = time.Time{}
	d, err := c.policy.Decide(c.request, at)
	if err != nil || d.Outcome != retry.OutcomeRetry {
		return
	}
	if c.request.RetryCount == 0 {
		c.request.FirstFailure = at
	}
	c.request.RetryCount, c.next = d.RetryCount, d.NextRetryTime
}

// tryUntil lets all tries before a time fail with the last text.
func (c *course) tryUntil(end time.Time) {
	for !c.next.IsZero() && c.next.Before(end) {
		c.triesThen++
		c.fail(c.next)
	}
}

// giveUp ends a round that was not accepted. The policy may go on.
func (r *Replay) giveUp(c *course, how audit.Kind) {
	c.over = how
	if c.cut || c.byHand {
		return
	}
	r.failed = append(r.failed, c)
	for !c.next.IsZero() {
		c.after = append(c.after, c.next.Unix())
		c.fail(c.next)
	}
	c.request.SubmissionError = ""
}

// triedFrom returns the number, from 1, of the first try after the recorded end that is not before a time; 0 for none.
func (c *course) triedFrom(up time.Time) int {
	if up.IsZero() {
		return 0
	}
	i, _ := slices.BinarySearchFunc(c.after, up, func(second int64, up time.Time) int { return cmp.Compare(second, up.Unix()) })
	if i == len(c.after) {
		return 0
	}
	return i + 1
}
