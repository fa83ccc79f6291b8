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
	return p.DecideRead(t, r, now)
}

// DecideRead does what [Policy.Decide] does, for who has read the request's error text already.
func (p *Policy) DecideRead(t *errtext.Text, r Request, now time.Time) Decision {
	found := p.classify(t)
	d := Decision{Error: found, MaxRetries: p.MaxRetries, Explanation: Explanation{
		Policy:         p.Name,
		PolicyVersion:  p.version,
		RuleID:         found.ID,
		MatchedCode:    found.Code,
		MatchedMeaning: found.Means,
		Hint:           p.findHint(&r, t, now),
		Deadline:       p.deadline(&r, now),
		Overrides:      p.overrides,
		Ignored:        r.Ignored,
	}}
	d.Hint.Until, d.Deadline = writable(d.Hint.Until), writable(d.Deadline)
	if !r.LastSubmissionTime.IsZero() {
		d.SecondsSinceLastSubmission = int64(now.Sub(r.LastSubmissionTime) / time.Second)
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
	case found.Class == Permanent: // V2
		d.Step, d.Outcome, d.With = StepPermanent, OutcomePermanent, found.Team
	default:
		p.wait(&r, &d, now)
	}
	if d.Outcome == OutcomeRetry {
		d.RetryCount++
	}
	d.RetriesLeft = max(d.MaxRetries-d.RetryCount, 0)
	d.DelayBeforeJitter, d.BackoffDuration = ISODuration(d.Delay).String(), ISODuration(d.Backoff).String()
	return d
}

// writable returns a time that JSON can hold: 31/12/9999 23:59 of a zone west of UTC is in the year 10000.
func writable(t time.Time) time.Time {
	if last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC); t.After(last) {
		return last
	}
	return t
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
