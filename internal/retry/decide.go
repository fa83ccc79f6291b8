package retry

import (
	"time"

	"hospital.example/analyze-retry/internal/retry/match"
)

// Decide answers the request at the time now (RN-BIL-005 section II). A request with faults is not decided: the error
// is then an [*InvalidInputError] that names all of them.
func (p *Policy) Decide(r Request, now time.Time) (Decision, error) {
	p.check()
	if faults := p.Faults(r); faults != nil {
		return Decision{}, &InvalidInputError{Faults: faults}
	}
	var t match.Text
	t.Read(r.SubmissionError)
	d := Decision{
		Error:               p.classify(&t),
		RetryCount:          r.RetryCount,
		MaxRetries:          p.MaxRetries,
		Hint:                p.findHint(&r, &t, now),
		Deadline:            p.deadline(&r, now),
		SinceLastSubmission: r.sinceLastSubmission(now),
		Policy:              p.Name,
		PolicyVersion:       p.version,
		Overrides:           p.overrides,
		Ignored:             r.Ignored,
	}
	if p.isInDoubt(&t) {
		d.Advice = AdviceCheckStatus
	}
	switch {
	case r.RetryCount >= p.MaxRetries: // V1, before V2: the count holds for every error
		return d.exhausted(StepCount), nil
	case d.Error.Class == Permanent: // V2
		return d.permanent(), nil
	}
	wait, fits := p.wait(&r, d.Hint, d.Deadline, now)
	if !fits {
		return d.exhausted(StepDeadline), nil
	}
	return d.retry(wait), nil
}

// wait returns the wait from now on: what the other side asked for, else the policy's own. A wait that would end after the
// deadline is pulled forward to it. fits is false if less than Min is left, so that the claim is not tried again.
func (p *Policy) wait(r *Request, h Hint, deadline, now time.Time) (w Wait, fits bool) {
	w.Delay = p.Delay(r.RetryCount)
	if h != (Hint{}) {
		w.Backoff, w.Bounds = p.hinted(h, now)
	} else {
		w.Backoff, w.Bounds = p.backoff(r)
	}
	w.NextRetryTime = p.after(now, w.Backoff)
	if deadline.IsZero() || !w.NextRetryTime.After(deadline) {
		return w, true
	}
	left := p.left(deadline, now)
	if left < p.Min {
		return Wait{}, false
	}
	w.Backoff, w.Bounds, w.NextRetryTime = left, w.Bounds|BoundDeadline, p.after(now, left)
	return w, true
}

// left returns the time until the deadline, in whole units of Precision.
func (p *Policy) left(deadline, now time.Time) time.Duration {
	return floor(deadline.Sub(p.start(now)), p.Precision)
}

// start returns the time from which a wait is counted: a whole second if waits are whole minutes.
func (p *Policy) start(now time.Time) time.Time {
	if p.Precision < time.Minute {
		return now.UTC()
	}
	return now.UTC().Truncate(time.Second)
}

// after returns when a wait ends, in whole seconds and strictly in the future (V5): a wait is never shorter than Min.
func (p *Policy) after(now time.Time, wait time.Duration) time.Time {
	end := p.start(now).Add(wait)
	if whole := end.Truncate(time.Second); whole.Before(end) {
		return whole.Add(time.Second)
	}
	return end
}

// deadline returns the earlier deadline of job and policy, in whole seconds; zero for none.
func (p *Policy) deadline(r *Request, now time.Time) time.Time {
	deadline := r.RetryUntil
	if p.Deadline > 0 {
		first := r.FirstFailure
		if first.IsZero() {
			first = now
		}
		if end := first.Add(p.Deadline); deadline.IsZero() || end.Before(deadline) {
			deadline = end
		}
	}
	return deadline.UTC().Truncate(time.Second)
}

func (r *Request) sinceLastSubmission(now time.Time) time.Duration {
	if r.LastSubmissionTime.IsZero() {
		return 0
	}
	return now.Sub(r.LastSubmissionTime)
}
