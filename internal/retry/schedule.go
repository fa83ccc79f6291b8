package retry

import (
	"cmp"
	"iter"
	"time"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// Scheduled is one of the waits that lie ahead of a claim, in whole units of Precision but for Delay.
type Scheduled struct {
	// Retry is the number of the retry that ends the wait, from 1.
	Retry int
	// Delay is the policy's wait before jitter, Shortest and Longest are the band in which the wait lies.
	Delay, Shortest, Longest time.Duration
	// Wait is the claim's own. It is 0 where the deadline comes before the claim's own try, although other
	// claims have one.
	Wait time.Duration
	// TotalShortest, TotalLongest and Total are all the waits up to and with this one.
	TotalShortest, TotalLongest, Total time.Duration
	// Cut reports whether the deadline shortens the wait of some claims, or leaves them none.
	Cut bool
}

// Schedule returns the waits from a request on, if the submission fails whenever it is tried, and at once, up
// to the policy's limit of retries or the deadline, whichever comes first. Only the first failure may have a
// hint. Without an error text it is the schedule of any retried error; for an error that is not retried it is
// empty.
//
// The claim's own waits are those that [Policy.Decide] would give it. The request is not checked for faults.
func Schedule(p *Policy, r Request, now time.Time) iter.Seq[Scheduled] {
	return func(yield func(Scheduled) bool) {
		t := errtext.Read(r.SubmissionError)
		defer t.Free()
		if p.classify(t).Class == Permanent {
			return
		}
		hint := p.findHint(&r, t, now)
		const longest = 100 * maxWait // more is no Duration any more
		deadline := cmp.Or(p.deadline(&r, now), now.Add(longest))
		start := p.start(now)
		all := min(p.left(deadline, start), longest)
		var last Scheduled
		own := true // the claim's own tries have not met the deadline yet
		for ; r.RetryCount < p.MaxRetries; r.RetryCount++ {
			next := Scheduled{Retry: r.RetryCount + 1, Delay: p.Delay(r.RetryCount)}
			next.Shortest, next.Longest, _ = p.Band(r.RetryCount)
			if own {
				d := Decision{Hint: hint, Deadline: deadline}
				p.wait(&r, &d, start.Add(last.Total))
				next.Wait, own = d.Backoff, d.Step != StepDeadline
			}
			if hint != (Hint{}) {
				next.Shortest, next.Longest, _ = p.hinted(hint, start)
				hint = Hint{}
			}
			// The claim whose waits were the longest so far has the least time left, so that the band may get
			// wider at its lower end.
			most := p.left(deadline, start.Add(last.TotalShortest))
			least := p.left(deadline, start.Add(last.TotalLongest))
			if most < p.Min {
				return
			}
			next.Cut = next.Longest > least
			next.Shortest = min(next.Shortest, max(least, p.Min))
			next.Longest = min(next.Longest, most)
			next.TotalShortest = min(last.TotalShortest+next.Shortest, all)
			next.TotalLongest = min(last.TotalLongest+next.Longest, all)
			next.Total = last.Total + next.Wait
			if !yield(next) {
				return
			}
			last = next
		}
	}
}
