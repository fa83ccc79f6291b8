package retry

import (
	"cmp"
	"time"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// Decide answers the request at the time now (RN-BIL-005 section II). What a request must be has been seen to
// where it was read, by worker/input.
func (p *Policy) Decide(r Request, now time.Time) Decision {
	t := errtext.Read(r.SubmissionError)
	defer t.Free()
	d := Decision{
		Error:         p.classify(t),
		MaxRetries:    p.MaxRetries,
		Hint:          p.findHint(&r, t, now),
		Deadline:      p.deadline(&r, now),
		Policy:        p.Name,
		PolicyVersion: p.version,
		Overrides:     p.overrides,
		Ignored:       r.Ignored,
	}
	if !r.LastSubmissionTime.IsZero() {
		d.SinceLastSubmission = now.Sub(r.LastSubmissionTime)
	}
	if r.Retried > r.RetryCount {
		r.RetryCount, d.CountFrom = r.Retried, CountFromTrail
	}
	d.RetryCount = r.RetryCount
	if p.isInDoubt(t) {
		d.Advice = AdviceCheckStatus
	}
	switch {
	case r.RetryCount >= p.MaxRetries: // V1, before V2: the count holds for every error
		d.Step, d.Outcome = StepCount, OutcomeExhausted
	case d.Error.Class == Permanent: // V2
		d.Step, d.Outcome = StepPermanent, OutcomePermanent
	default:
		p.wait(&r, &d, now)
	}
	if d.Outcome == OutcomeRetry {
		d.RetryCount++
	}
	return d
}

// deadline returns the earlier deadline of job and policy, in whole seconds; zero for none.
func (p *Policy) deadline(r *Request, now time.Time) time.Time {
	deadline := r.RetryUntil
	if p.Deadline > 0 {
		end := cmp.Or(r.FirstFailure, now).Add(time.Duration(p.Deadline))
		if deadline.IsZero() || end.Before(deadline) {
			deadline = end
		}
	}
	return deadline.UTC().Truncate(time.Second)
}
