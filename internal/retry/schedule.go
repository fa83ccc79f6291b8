package retry

import (
	"iter"
	"math"
	"time"

	"hospital.example/analyze-retry/internal/evidence"
)

// Scheduled is one of the waits that lie ahead of a claim, in whole units of Precision but for Delay.
type Scheduled struct {
	// Retry is the number of the retry that ends the wait, from 1.
	Retry int
	// Delay is the policy's wait before jitter, Shortest and Longest are the band in which the wait lies.
	Delay, Shortest, Longest time.Duration
	// Wait is the claim's own. It is 0 where the deadline comes before the claim's own try, although other claims have one.
	Wait time.Duration
	// TotalShortest, TotalLongest and Total are all the waits up to and with this one.
	TotalShortest, TotalLongest, Total time.Duration
	// Cut reports whether the deadline shortens the wait of some claims, or leaves them none.
	Cut bool
}

// Schedule returns the waits from a request on, if the submission fails whenever it is tried, and at once, up to the
// policy's limit of retries or the deadline, whichever comes first. Only the first failure may have a hint. Without an error
// text it is the schedule of any retried error; for an error that is not retried it is empty.
//
// The claim's own waits are those that [Policy.Decide] would give it. The request is not checked for faults.
func Schedule(p *Policy, r Request, now time.Time) iter.Seq[Scheduled] {
	return func(yield func(Scheduled) bool) {
		t := evidence.Read(r.SubmissionError)
		defer t.Free()
		if p.classify(t).Class == Permanent {
			return
		}
		hint, deadline, start := p.findHint(&r, t, now), p.deadline(&r, now), p.start(now)
		var last Scheduled
		own := true // the claim's own tries have not met the deadline yet
		for ; r.RetryCount < p.MaxRetries; r.RetryCount++ {
			next := Scheduled{Retry: r.RetryCount + 1, Delay: p.Delay(r.RetryCount)}
			next.Shortest, next.Longest = p.Band(r.RetryCount)
			if own {
				wait, step := p.wait(&r, hint, deadline, start.Add(last.Total))
				next.Wait, own = wait.Backoff, step != StepDeadline
			}
			if hint != (Hint{}) {
				next.Shortest, next.Longest, _ = p.hinted(hint, start)
				hint = Hint{}
			}
			if !deadline.IsZero() && !p.cut(&next, &last, deadline, start) {
				return
			}
			next.TotalShortest = add(last.TotalShortest, next.Shortest)
			next.TotalLongest = add(last.TotalLongest, next.Longest)
			next.Total = add(last.Total, next.Wait)
			if !deadline.IsZero() {
				all := p.left(deadline, start)
				next.TotalShortest, next.TotalLongest = min(next.TotalShortest, all), min(next.TotalLongest, all)
			}
			if !yield(next) {
				return
			}
			last = next
		}
	}
}

// cut pulls a band forward to the deadline and reports whether a try still fits for any claim. The claim whose waits were
// the longest so far has the least time left, so the band may get wider at its lower end.
func (p *Policy) cut(next, last *Scheduled, deadline, start time.Time) (fits bool) {
	most, least := p.left(deadline, start.Add(last.TotalShortest)), p.left(deadline, start.Add(last.TotalLongest))
	if most < p.Min {
		return false
	}
	next.Cut = next.Longest > least
	next.Shortest = min(next.Shortest, max(least, p.Min))
	next.Longest = min(next.Longest, most)
	return true
}

// add returns the sum, at most the longest Duration: a thousand waits of a year are more than it holds.
func add(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
