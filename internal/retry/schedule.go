package retry

import (
	"cmp"
	"time"

	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

// Scheduled is one of the waits that lie ahead of a claim, in whole units of Precision but for BeforeJitter.
// Its JSON form is stable: names are added, never changed.
type Scheduled struct {
	// Retry is the number of the retry that ends the wait, from 1.
	Retry int `json:"retry"`
	// BeforeJitter is the policy's wait before jitter, Shortest and Longest are the band in which the wait
	// lies.
	BeforeJitter ISODuration `json:"beforeJitter"`
	Shortest     ISODuration `json:"shortest"`
	Longest      ISODuration `json:"longest"`
	// TotalShortest and TotalLongest are the band of all the waits up to and with this one.
	TotalShortest ISODuration `json:"totalShortest"`
	TotalLongest  ISODuration `json:"totalLongest"`
}

// Wait returns the band in which the wait lies.
func (s *Scheduled) Wait() text.Range {
	return text.Range{Shortest: time.Duration(s.Shortest), Longest: time.Duration(s.Longest)}
}

// Total returns the band of all the waits up to and with this one.
func (s *Scheduled) Total() text.Range {
	return text.Range{Shortest: time.Duration(s.TotalShortest), Longest: time.Duration(s.TotalLongest)}
}

// Schedule returns the waits from a request on, if the submission fails whenever it is tried, and at once, up
// to the policy's limit of retries or the deadline, whichever comes first; none is an empty list. Only the
// first failure may have a hint. Without an error text it is the schedule of any retried error; for an error
// that is not retried it is empty. The request is not checked for faults.
func Schedule(p *Policy, r Request, now time.Time) []Scheduled {
	waits := []Scheduled{}
	t := errtext.Read(r.SubmissionError)
	defer t.Free()
	if p.classify(t).Class == Permanent {
		return waits
	}
	hint := p.findHint(&r, t, now)
	const longestOfAll = 100 * maxWait // more is no Duration any more
	deadline := cmp.Or(p.deadline(&r, now), now.Add(longestOfAll))
	start := p.start(now)
	all := min(p.left(deadline, start), longestOfAll)
	var total text.Range
	for ; r.RetryCount < p.MaxRetries; r.RetryCount++ {
		shortest, longest, _ := p.Band(r.RetryCount)
		if hint != (Hint{}) {
			shortest, longest, _ = p.hinted(hint, start)
			hint = Hint{}
		}
		// The claim whose waits were the longest so far has the least time left, so that the band may get
		// wider at its lower end.
		most := p.left(deadline, start.Add(total.Shortest))
		least := p.left(deadline, start.Add(total.Longest))
		if most < time.Duration(p.Min) {
			break
		}
		shortest = min(shortest, max(least, time.Duration(p.Min)))
		longest = min(longest, most)
		total.Shortest = min(total.Shortest+shortest, all)
		total.Longest = min(total.Longest+longest, all)
		waits = append(waits, Scheduled{
			Retry:         r.RetryCount + 1,
			BeforeJitter:  ISODuration(p.Delay(r.RetryCount)),
			Shortest:      ISODuration(shortest),
			Longest:       ISODuration(longest),
			TotalShortest: ISODuration(total.Shortest),
			TotalLongest:  ISODuration(total.Longest),
		})
	}
	return waits
}
