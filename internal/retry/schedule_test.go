package retry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
)

// scheduled writes a schedule as "shortest-longest own (total shortest-longest own)", in minutes, with a !
// where it is cut.
func scheduled(p *retry.Policy, r retry.Request) string {
	var lines []string
	for s := range retry.Schedule(p, r, now) {
		m := func(d time.Duration) string { return fmt.Sprint(d.Minutes()) }
		line := fmt.Sprintf("%d: %s-%s %s (%s-%s %s)", s.Retry, m(s.Shortest), m(s.Longest), m(s.Wait), m(s.TotalShortest), m(s.TotalLongest), m(s.Total))
		if s.Cut {
			line += "!"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

func TestScheduleListsTheWaitsThatLieAhead(t *testing.T) {
	jitter := []func(*retry.Settings){func(s *retry.Settings) { s.Base, s.Jitter = minutes(10), 0.2 }}
	for _, tt := range []struct {
		name    string
		changes []func(*retry.Settings)
		request retry.Request
		want    string
	}{
		{"to the limit", nil, request("BUSY", 3), "4: 40-40 40 (40-40 40); 5: 80-80 80 (120-120 120)"},
		{"a permanent error", nil, request("FATAL", 0), ""},
		{"a hint, once", nil, request("BUSY, Retry-After: 600", 3), "4: 10-10 10 (10-10 10); 5: 80-80 80 (90-90 90)"},
		{
			"the deadline cuts the longest waits first",
			append(jitter, func(s *retry.Settings) { s.Deadline = minutes(31) }),
			request("BUSY", 0), "1: 8-12 8 (8-12 8); 2: 16-23 16 (24-31 24)!; 3: 5-7 7 (29-31 31)!",
		},
	} {
		if got := scheduled(plain(t, tt.changes...), tt.request); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// A schedule is what the rule will say: each wait is the one of the decision at the end of the wait before.
func TestScheduleAgreesWithTheDecisionsToCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]func(*retry.Settings){func(*retry.Settings) {}, bySecond, byMillisecond}).Draw(t, "unit")
		p := plain(t, unit, func(s *retry.Settings) {
			s.Jitter = rapid.SampledFrom([]float64{0, 0.2, 1}).Draw(t, "jitter")
			s.Deadline = time.Duration(rapid.IntRange(0, 4*3600).Draw(t, "deadline")) * time.Second
		})
		r := request(rapid.SampledFrom([]string{"BUSY", "BUSY, Retry-After: 900"}).Draw(t, "error"), rapid.IntRange(0, 5).Draw(t, "count"))
		at := now.Add(time.Duration(rapid.IntRange(0, 1999).Draw(t, "ms")) * time.Millisecond)
		waits := slices.Collect(retry.Schedule(p, r, at))
		r.FirstFailure = at
		for i := 0; ; i++ {
			d := p.Decide(r, at)
			if d.Outcome != retry.OutcomeRetry {
				if i < len(waits) && waits[i].Wait != 0 {
					t.Fatalf("wait %d is %v, but the claim is not retried: %s", i, waits[i].Wait, d.Reason())
				}
				return
			}
			if i >= len(waits) || waits[i].Wait != d.Backoff || waits[i].Retry != d.RetryCount || waits[i].Delay != d.Delay {
				t.Fatalf("wait %d of %+v, want %v before jitter, %v after it", i, waits, d.Delay, d.Backoff)
			}
			if d.Backoff < waits[i].Shortest || d.Backoff > waits[i].Longest {
				t.Fatalf("wait %d, %v, lies outside of its band: %+v", i, d.Backoff, waits[i])
			}
			if p.Precision == time.Minute {
				at = at.Truncate(time.Second) // from where whole minutes are counted
			}
			r.RetryCount, r.SubmissionError, at = d.RetryCount, "BUSY", at.Add(d.Backoff)
		}
	})
}
