package replay

import (
	"fmt"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// question is a recorded question, and the policy that is asked now: with the overrides that the job had. The policy is nil
// where it does not go with them.
type question struct {
	policy  *retry.Policy
	request retry.Request
}

// questionOf is what a record says about the question. It fails where the record is not one that this worker writes.
func (r *Replay) questionOf(record *audit.Record, facts *contract.Facts) (q question, err error) {
	q.request = retry.Request{
		ClaimID: record.ClaimID, SubmissionError: facts.SubmissionError, RetryCount: record.RetryCount,
		ProcessInstanceKey: record.ProcessInstanceKey,
	}
	if c := r.claims[record.ClaimID]; c != nil && record.RetryCount > 0 {
		q.request.FirstFailure = c.first
	}
	if q.request.RetryAfter, err = hintOf(facts.RetryDecision.Hint); err != nil {
		return question{}, fmt.Errorf("audit record %d: its hint cannot be read: %w", record.ID, err)
	}
	if q.policy, err = r.with(facts.RetryDecision.Overrides); err != nil {
		return question{}, fmt.Errorf("audit record %d: its overrides cannot be read: %w", record.ID, err)
	}
	return q, nil
}

// hintOf is a hint that came in a variable. One of the text is found there again.
func hintOf(recorded *contract.Hint) (hint retry.Hint, err error) {
	if recorded == nil || recorded.Source != retry.HintVariable {
		return retry.Hint{}, nil
	}
	hint.Source = retry.HintVariable
	if recorded.Until != nil {
		hint.Until = *recorded.Until
		return hint, nil
	}
	hint.After, err = span(recorded.After)
	return hint, err
}

// with is the policy with the overrides of a job.
func (r *Replay) with(recorded *contract.Overrides) (*retry.Policy, error) {
	if recorded == nil {
		return r.policy, nil
	}
	o := retry.Overrides{}
	for _, field := range []struct {
		text string
		into *time.Duration
	}{{recorded.Base, &o.Base}, {recorded.Max, &o.Max}, {recorded.Deadline, &o.Deadline}} {
		var err error
		if *field.into, err = span(field.text); err != nil {
			return nil, err
		}
	}
	key := overridesKey{o.Base, o.Max, o.Deadline, -1}
	if recorded.MaxRetries != nil {
		key.maxRetries = *recorded.MaxRetries
		o.MaxRetries = &key.maxRetries
	}
	p, known := r.overridden[key]
	if !known {
		p, _ = r.policy.With(o) // nil where it does not go with them
		r.overridden[key] = p
	}
	return p, nil
}

// overridesKey is [retry.Overrides] by value; maxRetries is -1 where they do not say it.
type overridesKey struct {
	base, max, deadline time.Duration
	maxRetries          int
}

// span reads a duration of a record; empty is 0.
func span(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return policy.ParseDuration(text)
}
