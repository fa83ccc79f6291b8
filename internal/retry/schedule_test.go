package retry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// scheduled writes a schedule as "shortest-longest (total shortest-longest)", in minutes.
func scheduled(p *retry.Policy, r retry.Request) string {
	var lines []string
	for _, s := range retry.Schedule(p, r, now) {
		m := func(d time.Duration) string { return fmt.Sprint(d.Minutes()) }
		wait, total := s.Wait(), s.Total()
		lines = append(lines, fmt.Sprintf("%d: %s-%s (%s-%s)", s.Retry, m(wait.Shortest), m(wait.Longest), m(total.Shortest), m(total.Longest)))
	}
	return strings.Join(lines, "; ")
}

func TestScheduleListsTheWaitsThatLieAhead(t *testing.T) {
	jitter := []func(*retry.Settings){func(s *retry.Settings) { s.Base, s.Jitter = retry.Duration(minutes(10)), 0.2 }}
	for _, tt := range []struct {
		name    string
		changes []func(*retry.Settings)
		request retry.Request
		want    string
	}{
		{"to the limit", nil, request("BUSY", 3), "4: 40-40 (40-40); 5: 80-80 (120-120)"},
		{"a permanent error", nil, request("FATAL", 0), ""},
		{"a hint, once", nil, request("BUSY, Retry-After: 600", 3), "4: 10-10 (10-10); 5: 80-80 (90-90)"},
		{
			"the deadline cuts the longest waits first",
			append(jitter, func(s *retry.Settings) { s.Deadline = retry.Duration(minutes(31)) }),
			request("BUSY", 0), "1: 8-12 (8-12); 2: 16-23 (24-31); 3: 5-7 (29-31)",
		},
	} {
		if got := scheduled(plain(t, tt.changes...), tt.request); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// A schedule is what the rule will say: each decision at the end of the wait before lies
// within its band.
func TestScheduleAgreesWithTheDecisionsToCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		precision := rapid.SampledFrom([]func(*retry.Settings){func(*retry.Settings) {}, bySecond, byMillisecond}).Draw(t, "unit")
		p := plain(t, precision, func(s *retry.Settings) {
			s.Jitter = rapid.SampledFrom([]float64{0, 0.2, 1}).Draw(t, "jitter")
			s.Deadline = retry.Duration(rapid.Int64Range(0, 4*3600).Draw(t, "deadline") * int64(time.Second))
		})
		r := request(rapid.SampledFrom([]string{"BUSY", "BUSY, Retry-After: 900"}).Draw(t, "error"), rapid.IntRange(0, 5).Draw(t, "count"))
		at := now.Add(time.Duration(rapid.IntRange(0, 1999).Draw(t, "ms")) * time.Millisecond)
		waits := retry.Schedule(p, r, at)
		r.FirstFailure = at
		var total time.Duration
		for i := 0; ; i++ {
			d := p.Decide(r, at)
			if d.Outcome != retry.OutcomeRetry {
				return // other claims, whose waits were shorter, may have one more
			}
			if i >= len(waits) || waits[i].Retry != d.RetryCount || time.Duration(waits[i].BeforeJitter) != d.Delay {
				t.Fatalf("wait %d of %+v, want %v before jitter, %v after it", i, waits, d.Delay, d.Backoff)
			}
			total += d.Backoff
			for own, band := range map[time.Duration]text.Range{d.Backoff: waits[i].Wait(), total: waits[i].Total()} {
				if own < band.Shortest || own > band.Longest {
					t.Fatalf("wait %d, %v, lies outside of %v", i, own, band)
				}
			}
			if unit(p) == time.Minute {
				at = at.Truncate(time.Second) // from where whole minutes are counted
			}
			r.RetryCount, r.SubmissionError, at = d.RetryCount, "BUSY", at.Add(d.Backoff)
		}
	})
}
