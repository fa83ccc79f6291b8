package retry

import (
	"math"
	"time"
)

// wait returns the wait from now on, and the step that settles it: what the other side asked for, else the policy's own. A wait
// that would end after the deadline is pulled forward to it. If less than Min is left, the claim is not tried again: StepDeadline.
func (p *Policy) wait(r *Request, h Hint, deadline, now time.Time) (w Wait, step Step) {
	var shortest, longest time.Duration
	if step = StepBackoff; h == (Hint{}) {
		shortest, longest, w.Bounds = p.band(r.RetryCount)
	} else {
		step = StepHint
		shortest, longest, w.Bounds = p.hinted(h, now)
	}
	w.Delay, w.Backoff = p.Delay(r.RetryCount), p.draw(r, shortest, longest)
	w.NextRetryTime = p.after(now, w.Backoff)
	if deadline.IsZero() || !w.NextRetryTime.After(deadline) {
		return w, step
	}
	left := p.left(deadline, now)
	if left < p.Min {
		return Wait{}, StepDeadline
	}
	w.Backoff, w.Bounds, w.NextRetryTime = left, w.Bounds|BoundDeadline, p.after(now, left)
	return w, step
}

// hinted returns the band of waits that a hint asks for, in whole units of the policy's precision, rounded up: never earlier
// than the other side said, and up to a fifth later, so that one outage does not call every claim back at one second. It is
// bounded by Min and Max. A policy without jitter has none here either.
func (p *Policy) hinted(h Hint, now time.Time) (shortest, longest time.Duration, bounds Bounds) {
	asked := h.After
	if !h.Until.IsZero() {
		asked = h.Until.Sub(p.start(now))
	}
	asked = ceil(min(max(asked, 0), maxWait), p.Precision)
	if asked < p.Min {
		bounds = BoundMin
	} else if asked > p.Max {
		bounds = BoundMax
	}
	shortest = p.bounded(asked)
	longest = shortest
	if p.Jitter > 0 {
		longest = p.bounded(shortest + (shortest / 5).Truncate(p.Precision))
	}
	return shortest, longest, bounds
}

// left returns the time until the deadline, in whole units of Precision.
func (p *Policy) left(deadline, now time.Time) time.Duration {
	return deadline.Sub(p.start(now)).Truncate(p.Precision)
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

// Delay returns the wait before retry number retryCount+1 without jitter: Base times Factor to the power of retryCount, capped
// at Max. The cap comes before the jitter. retryCount is 0 or more; however large it is, the result stays at Max.
func (p *Policy) Delay(retryCount int) time.Duration {
	return min(p.uncapped(retryCount), p.Max)
}

// uncapped returns Delay before the cap, in whole milliseconds, the finest precision; what is too long for a Duration becomes
// a little more than Max. Rounding keeps a factor such as 1.1, which no float holds exactly, from making a wait a unit longer.
func (p *Policy) uncapped(retryCount int) time.Duration {
	d := float64(p.Base) * math.Pow(p.Factor, float64(retryCount))
	if d > float64(p.Max) {
		return p.Max + 1
	}
	return time.Duration(math.Round(d)).Round(time.Millisecond)
}

// Band returns the shortest and the longest wait that the jitter can make of Delay(retryCount), both included, in whole
// units of Precision and within Min and Max (RN-BIL-005 V3). Where no whole unit lies between, it is the next longer one.
func (p *Policy) Band(retryCount int) (shortest, longest time.Duration) {
	shortest, longest, _ = p.band(retryCount)
	return shortest, longest
}

func (p *Policy) band(retryCount int) (shortest, longest time.Duration, bounds Bounds) {
	uncapped := p.uncapped(retryCount)
	d := min(uncapped, p.Max)
	// To the microsecond: a float of so many nanoseconds is not exact, and a millionth of a second too much would make the band a
	// minute narrower.
	share := time.Duration(math.Round(float64(d) * p.Jitter)).Round(time.Microsecond)
	from, to := d-share, d+share
	if uncapped > p.Max || to > p.Max {
		bounds |= BoundMax
	}
	if from < p.Min {
		bounds |= BoundMin
	}
	shortest = ceil(from, p.Precision)
	longest = max(to.Truncate(p.Precision), shortest)
	return p.bounded(shortest), p.bounded(longest), bounds
}

func (p *Policy) bounded(wait time.Duration) time.Duration { return min(max(wait, p.Min), p.Max) }

func ceil(d, unit time.Duration) time.Duration { return (d + unit - 1).Truncate(unit) }

// Backoff returns the wait before the next try of this request: one of the whole units of Band, chosen by the jitter.
func (p *Policy) Backoff(r Request) time.Duration {
	shortest, longest := p.Band(r.RetryCount)
	return p.draw(&r, shortest, longest)
}

// draw returns one of the whole units from shortest to longest.
//
// The unit is drawn from the band itself rather than rounded and clamped into it afterwards. Both give the same set
// of waits, but rounding would choose the two ends half as often as the rest, and clamping would pile up on Min and
// Max the very claims that the jitter is there to spread (RN-BIL-004 V4).
func (p *Policy) draw(r *Request, shortest, longest time.Duration) time.Duration {
	units := int64((longest-shortest)/p.Precision) + 1
	return shortest + time.Duration(p.jitter(r)*float64(units))*p.Precision
}
