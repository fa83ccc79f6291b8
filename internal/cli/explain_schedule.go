package cli

import (
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
)

// step is one wait of the schedule: in minutes, rounded up, and exactly, as ISO 8601 durations.
type step struct {
	Retry        int `json:"retry"`
	BeforeJitter int `json:"beforeJitterMinutes"`
	Shortest     int `json:"shortestMinutes"`
	Longest      int `json:"longestMinutes"`
	// Wait is the claim's own; absent where no claim was given.
	Wait int `json:"waitMinutes,omitempty"`
	// All the waits up to and with this one.
	TotalShortest int `json:"totalShortestMinutes"`
	TotalLongest  int `json:"totalLongestMinutes"`
	Total         int `json:"totalMinutes,omitempty"`

	ISO stepISO `json:"iso8601"`

	beforeJitter, shortest, longest, wait, totalShortest, totalLongest, total time.Duration
}

// stepISO are the spans of a step.
type stepISO struct {
	BeforeJitter  string `json:"beforeJitter"`
	Shortest      string `json:"shortest"`
	Longest       string `json:"longest"`
	Wait          string `json:"wait,omitempty"`
	TotalShortest string `json:"totalShortest"`
	TotalLongest  string `json:"totalLongest"`
	Total         string `json:"total,omitempty"`
}

// schedule is the waits from a request on, if every submission fails at once and says nothing of when to come back.
type schedule struct {
	policy   *retry.Policy
	request  retry.Request
	waits    knowledge
	deadline time.Time // zero for none
	now      time.Time
}

// steps lists the waits to the limit, or to the deadline; lacksTime says which. The first one is that of the decision.
func (s *schedule) steps(d *retry.Decision) (steps []step, lacksTime bool) {
	var last step
	for ; s.request.RetryCount < s.policy.MaxRetries; s.request.RetryCount++ {
		one := step{Retry: s.request.RetryCount + 1, beforeJitter: s.policy.Delay(s.request.RetryCount)}
		one.shortest, one.longest = s.policy.Band(s.request.RetryCount)
		if s.waits != bandOnly {
			one.wait = s.policy.Backoff(s.request)
		}
		if steps == nil && d.Step == retry.StepHint {
			one.shortest, one.longest = d.Backoff, d.Backoff
		}
		if steps == nil && s.waits != bandOnly {
			one.wait = d.Backoff
		}
		one.totalShortest = last.totalShortest + one.shortest
		if !s.bound(&one, &last) {
			return steps, true
		}
		one.totalLongest, one.total = last.totalLongest+one.longest, last.total+one.wait
		if all, bounded := s.left(0); bounded {
			one.totalShortest, one.totalLongest = min(one.totalShortest, all), min(one.totalLongest, all)
		}
		one.tell()
		steps, last = append(steps, one), one
	}
	return steps, false
}

// bound pulls a wait forward to the deadline, as the rule does; it reports whether a try still fits. How much time is left
// depends on the waits so far, so that the band may get wider at its lower end.
func (s *schedule) bound(one, last *step) (fits bool) {
	most, bounded := s.left(last.totalShortest)
	if !bounded {
		return true
	}
	least, _ := s.left(last.totalLongest)
	own, _ := s.left(last.total)
	if most < s.policy.Min || s.waits != bandOnly && own < s.policy.Min {
		return false
	}
	one.shortest = min(one.shortest, max(least, s.policy.Min))
	one.longest = min(one.longest, most)
	if s.waits != bandOnly {
		one.wait = min(one.wait, own)
	}
	return true
}

// left is how much of the time to the deadline is left after so much waiting, in whole units of the precision.
func (s *schedule) left(waited time.Duration) (left time.Duration, bounded bool) {
	if s.deadline.IsZero() {
		return 0, false
	}
	start := s.now.Truncate(time.Second) // as the rule counts whole minutes, and near enough for less
	return max(s.deadline.Sub(start)-waited, 0).Truncate(s.policy.Precision), true
}

// tell writes the spans as they are told.
func (s *step) tell() {
	s.BeforeJitter, s.Shortest, s.Longest, s.Wait = minutes(s.beforeJitter), minutes(s.shortest), minutes(s.longest), minutes(s.wait)
	s.TotalShortest, s.TotalLongest, s.Total = minutes(s.totalShortest), minutes(s.totalLongest), minutes(s.total)
	s.ISO = stepISO{
		BeforeJitter: contract.ISODuration(s.beforeJitter), Shortest: contract.ISODuration(s.shortest), Longest: contract.ISODuration(s.longest),
		TotalShortest: contract.ISODuration(s.totalShortest), TotalLongest: contract.ISODuration(s.totalLongest),
	}
	if s.wait > 0 {
		s.ISO.Wait, s.ISO.Total = contract.ISODuration(s.wait), contract.ISODuration(s.total)
	}
}

// minutes are whole minutes, rounded up.
func minutes(d time.Duration) int { return int((d + time.Minute - 1) / time.Minute) }
