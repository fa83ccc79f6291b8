package replay

import (
	"fmt"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

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
