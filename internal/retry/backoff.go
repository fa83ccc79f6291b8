package retry

import (
	"math"
	"time"
)

// wait settles a decision by the wait from now on: what the other side asked for, else the policy's own. A
// wait that would end after the deadline is pulled forward to it. If less than Min is left, the claim is not
// tried again.
func (p *Policy) wait(r *Request, d *Decision, now time.Time) {
	now = p.start(now)
	d.Step, d.Outcome = StepBackoff, OutcomeRetry
	shortest, longest, bounds := p.Band(r.RetryCount)
	if d.Hint != (Hint{}) {
		d.Step = StepHint
		shortest, longest, bounds = p.hinted(d.Hint, now)
	}
	backoff := p.draw(r, shortest, longest)
	if !d.Deadline.IsZero() && after(now, backoff).After(d.Deadline) {
		if backoff = p.left(d.Deadline, now); backoff < time.Duration(p.Min) {
			d.Step, d.Outcome = StepDeadline, OutcomeExhausted
			return
		}
		bounds = append(bounds, BoundDeadline)
	}
	d.Delay, d.Backoff, d.Bounds = p.Delay(r.RetryCount), backoff, bounds
	d.NextRetryTime = after(now, backoff)
}

// hinted returns the band of waits that a hint asks for, in whole units of the policy's Precision, rounded
// up: never earlier than the other side said, and up to a fifth later, so that one outage does not call every
// claim back at one second. It is bounded by Min and Max. A policy without jitter has none here either.
func (p *Policy) hinted(h Hint, now time.Time) (shortest, longest time.Duration, bounds []Bound) {
	asked := time.Duration(h.After)
	if !h.Until.IsZero() {
		asked = h.Until.Sub(now)
	}
	asked = ceil(min(max(asked, 0), maxWait), p.unit)
	latest := max(asked, time.Duration(p.Min))
	if p.Jitter > 0 {
		latest += latest / 5
	}
	return p.bounded(asked, latest)
}

// start returns the time from which a wait is counted: a whole second if waits are whole minutes, so that a
// part of a second takes no minute off what a deadline or a hint leaves.
func (p *Policy) start(now time.Time) time.Time {
	if p.unit < time.Minute {
		return now
	}
	return now.Truncate(time.Second)
}

// left returns the time until the deadline, in whole units of Precision.
func (p *Policy) left(deadline, now time.Time) time.Duration {
	return deadline.Sub(now).Truncate(p.unit)
}

// after returns when a wait ends, in whole seconds and strictly in the future (V5).
func after(now time.Time, wait time.Duration) time.Time {
	return now.UTC().Add(wait + time.Second - 1).Truncate(time.Second)
}

// Delay returns the wait before retry number retryCount+1 without jitter: Base times Factor to the power of
// retryCount, capped at Max. The cap comes before the jitter. retryCount is 0 or more; however large it is,
// the result stays at Max.
func (p *Policy) Delay(retryCount int) time.Duration {
	return min(p.uncapped(retryCount), time.Duration(p.Max))
}

// uncapped returns Delay before the cap, in whole milliseconds, the finest precision; what is too long for a
// Duration becomes a little more than Max. Rounding keeps a factor such as 1.1, which no float holds exactly,
// from making a wait a unit longer.
func (p *Policy) uncapped(retryCount int) time.Duration {
	d := float64(p.Base) * math.Pow(p.Factor, float64(retryCount))
	if d > float64(p.Max) {
		return time.Duration(p.Max) + 1
	}
	return time.Duration(math.Round(d)).Round(time.Millisecond)
}

// Band returns the shortest and the longest wait that the jitter can make of Delay(retryCount), both
// included, in whole units of Precision and within Min and Max (RN-BIL-005 V3), and which of these have cut
// it. Where no whole unit lies between, it is the next longer one.
func (p *Policy) Band(retryCount int) (shortest, longest time.Duration, bounds []Bound) {
	uncapped := p.uncapped(retryCount)
	d := min(uncapped, time.Duration(p.Max))
	// To the microsecond: a float of so many nanoseconds is not exact, and a millionth of a second too much
	// would make the band a minute narrower.
	share := time.Duration(math.Round(float64(d) * p.Jitter)).Round(time.Microsecond)
	return p.bounded(d-share, max(d+share, uncapped))
}

// bounded returns a band in whole units of Precision and within Min and Max, and which of these have cut it.
func (p *Policy) bounded(from, to time.Duration) (shortest, longest time.Duration, bounds []Bound) {
	least, most := time.Duration(p.Min), time.Duration(p.Max)
	if from < least {
		bounds = append(bounds, BoundMin)
	}
	if to > most {
		bounds = append(bounds, BoundMax)
	}
	from = ceil(from, p.unit)
	to = max(to.Truncate(p.unit), from)
	return min(max(from, least), most), min(max(to, least), most), bounds
}

func ceil(d, unit time.Duration) time.Duration { return (d + unit - 1).Truncate(unit) }

// draw returns one of the whole units from shortest to longest, chosen by the jitter.
//
// The unit is drawn from the band itself rather than rounded and clamped into it afterwards. Both give the
// same set of waits, but rounding would choose the two ends half as often as the rest, and clamping would
// pile up on Min and Max the very claims that the jitter is there to spread (RN-BIL-004 V4).
func (p *Policy) draw(r *Request, shortest, longest time.Duration) time.Duration {
	units := int64((longest-shortest)/p.unit) + 1
	return shortest + time.Duration(p.jitter(r)*float64(units))*p.unit
}
