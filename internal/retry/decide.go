package retry

import "time"

// Decide answers the request at the time now (RN-BIL-005 section II). A request with faults is not decided: the error
// is then an [*InvalidInputError] that names all of them.
func (p *Policy) Decide(r Request, now time.Time) (Decision, error) {
	if faults := p.Faults(r); faults != nil {
		return Decision{}, &InvalidInputError{Faults: faults}
	}
	var t text
	t.read(r.SubmissionError)
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
	if p.inDoubt(&t) {
		d.Advice = AdviceCheckStatus
	}
	switch {
	case r.RetryCount >= p.MaxRetries: // V1, before V2: the count is settled whatever the last error says
		d.Outcome, d.Step = OutcomeExhausted, StepCount
	case d.Error.Class == Permanent: // V2
		d.Outcome, d.Step = OutcomePermanent, StepPermanent
	default:
		p.retry(&d, &r, now)
	}
	return d, nil
}

// retry gives the decision its wait: what the other side asked for, else the policy's own. What would end after the
// deadline is pulled forward to it, and where less than Min is left the claim is not tried again.
func (p *Policy) retry(d *Decision, r *Request, now time.Time) {
	d.Outcome = OutcomeRetry
	d.Delay = p.Delay(r.RetryCount)
	if d.Hint != (Hint{}) {
		d.Step = StepHint
		d.Backoff, d.Bounds = p.hinted(d.Hint, now)
	} else {
		d.Step = StepBackoff
		d.Backoff, d.Bounds = p.backoff(r)
	}
	d.NextRetryTime = p.after(now, d.Backoff)
	if !d.Deadline.IsZero() && d.NextRetryTime.After(d.Deadline) {
		p.pullForward(d, now)
	}
	if d.Outcome == OutcomeRetry {
		d.RetryCount++
	}
}

func (p *Policy) pullForward(d *Decision, now time.Time) {
	left := floor(d.Deadline.Sub(p.start(now)), p.Precision)
	if left < p.Min {
		d.Outcome, d.Step = OutcomeExhausted, StepDeadline
		d.Delay, d.Backoff, d.Bounds, d.NextRetryTime = 0, 0, 0, time.Time{}
		return
	}
	d.Backoff = left
	d.Bounds |= BoundDeadline
	d.NextRetryTime = p.after(now, left)
}

// start is the time from which a wait is counted: whole seconds where waits are whole minutes.
func (p *Policy) start(now time.Time) time.Time {
	if p.Precision < time.Minute {
		return now.UTC()
	}
	return now.UTC().Truncate(time.Second)
}

// after is when a wait ends, in whole seconds and strictly in the future (V5): a wait is never shorter than Min.
func (p *Policy) after(now time.Time, wait time.Duration) time.Time {
	end := p.start(now).Add(wait)
	if whole := end.Truncate(time.Second); whole.Before(end) {
		return whole.Add(time.Second)
	}
	return end
}

// deadline is the earlier one of the job's and the policy's, in whole seconds; zero where there is none.
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
