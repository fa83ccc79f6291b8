package report

import (
	"time"

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

	exact retry.Scheduled
}

// stepISO are the durations of a step.
type stepISO struct {
	BeforeJitter  isoDuration `json:"beforeJitter"`
	Shortest      isoDuration `json:"shortest"`
	Longest       isoDuration `json:"longest"`
	Wait          isoDuration `json:"wait,omitempty"`
	TotalShortest isoDuration `json:"totalShortest"`
	TotalLongest  isoDuration `json:"totalLongest"`
	Total         isoDuration `json:"total,omitempty"`
}

// stepsOf lists the waits to the limit, or to the deadline; lacksTime reports whether it is the deadline.
func stepsOf(p *retry.Policy, request retry.Request, now time.Time, waits Knowledge) (list []step, lacksTime bool) {
	for s := range retry.Schedule(p, request, now) {
		if waits == bandOnly {
			s.Wait, s.Total = 0, 0
		} else if s.Wait == 0 {
			break
		}
		list = append(list, step{
			s.Retry, minutes(s.Delay), minutes(s.Shortest), minutes(s.Longest), minutes(s.Wait),
			minutes(s.TotalShortest), minutes(s.TotalLongest), minutes(s.Total),
			stepISO{
				isoDuration(s.Delay), isoDuration(s.Shortest), isoDuration(s.Longest), isoDuration(s.Wait),
				isoDuration(s.TotalShortest), isoDuration(s.TotalLongest), isoDuration(s.Total),
			},
			s,
		})
	}
	return list, request.RetryCount+len(list) < p.MaxRetries
}

// minutes are whole minutes, rounded up.
func minutes(d time.Duration) int { return int((d + time.Minute - 1) / time.Minute) }
