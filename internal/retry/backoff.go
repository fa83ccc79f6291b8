package retry

import "time"

// precision is the unit in which the process model waits: its timer reads PT<backoffMinutes>M.
const precision = time.Minute

// Delay is the wait before retry number retryCount+1 without jitter: Base doubled retryCount times, capped at Max.
// The cap comes before the jitter. retryCount is 0 or more; however large it is, the result stays at Max.
func (p *Policy) Delay(retryCount int) time.Duration {
	d := p.Base
	for range retryCount {
		if d >= p.Max { // stop doubling before it can overflow
			break
		}
		d *= 2
	}
	return min(d, p.Max)
}

// Band returns the shortest and the longest wait that the jitter can make of Delay(retryCount), both included, in whole
// minutes and within Min and Max (RN-BIL-005 V3).
func (p *Policy) Band(retryCount int) (shortest, longest time.Duration) {
	d := p.Delay(retryCount)
	spread := d * time.Duration(p.JitterPercent) / 100
	shortest = (d - spread + precision - 1).Truncate(precision)
	longest = (d + spread).Truncate(precision)
	return max(shortest, p.Min), min(longest, p.Max)
}

// Backoff is the wait before the next try of this request: one of the whole minutes of Band, chosen by the jitter.
//
// The minute is drawn from the band itself rather than rounded and clamped into it afterwards. Both give the same set
// of minutes, but rounding would choose the two ends half as often as the rest, and clamping would pile up on Min and
// Max the very claims that the jitter is there to spread (RN-BIL-004 V4).
func (p *Policy) Backoff(r Request) time.Duration {
	shortest, longest := p.Band(r.RetryCount)
	minutes := int64((longest-shortest)/precision) + 1
	return shortest + time.Duration(p.jitter(r)*float64(minutes))*precision
}
