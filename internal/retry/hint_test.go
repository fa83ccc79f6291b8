package retry_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

// say is a hint in words: "TEXT after 2m0s" or "WINDOW until 2026-12-01T03:00:00Z".
func say(h retry.Hint) string {
	switch {
	case h == retry.Hint{}:
		return "none"
	case h.Until.IsZero():
		return fmt.Sprintf("%s after %v", h.Source, time.Duration(h.After))
	default:
		return fmt.Sprintf("%s until %s", h.Source, h.Until.UTC().Format(time.RFC3339))
	}
}

func TestAHintIsReadAsWrittenDown(t *testing.T) {
	p := plain(t, func(p *retry.Settings) { p.Zone = saoPaulo(t) })
	for _, row := range check.Rows(t, "testdata/hints.tsv", 2) {
		if got := say(p.Decide(request(row[1], 0), now).Hint); got != row[0] {
			t.Errorf("%q: %s, want %s", row[1], got, row[0])
		}
	}
}

func saoPaulo(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	check.Must(t, err)
	return zone
}

func TestHintsAreTakenFromVariableThenTextThenWindow(t *testing.T) {
	window := "3091 PERIODO DE 01/02/2025 ATE 10/02/2025"
	for _, tt := range []struct {
		variable retry.Hint
		text     string
		want     string
	}{
		{retry.Hint{Source: retry.HintVariable, After: retry.ISODuration(time.Minute)}, "Retry-After: 120 " + window, "VARIABLE after 1m0s"},
		{retry.Hint{}, "Retry-After: 120 " + window, "TEXT after 2m0s"},
		{retry.Hint{}, window, "WINDOW until 2025-02-01T00:00:00Z"},
		// A time that has come does not hide what else was asked for.
		{retry.Hint{Source: retry.HintVariable, Until: now}, "Retry-After: 120", "TEXT after 2m0s"},
		{retry.Hint{Source: retry.HintVariable}, "Retry-After: 120", "TEXT after 2m0s"},
		{retry.Hint{Source: retry.HintVariable}, "Retry-After: 0", "none"},
	} {
		r := request(tt.text, 0)
		r.RetryAfter = tt.variable
		if got := say(plain(t).Decide(r, now).Hint); got != tt.want {
			t.Errorf("%s and %q: %s, want %s", say(tt.variable), tt.text, got, tt.want)
		}
	}
}

// Whole minutes from 5 to 240; the hint is the earliest time, so it is rounded up.
func TestAHintBecomesTheWaitWithinTheBounds(t *testing.T) {
	for _, tt := range []struct {
		hint   retry.Hint
		wait   time.Duration
		bounds string
	}{
		{retry.Hint{After: retry.ISODuration(time.Hour + time.Second)}, minutes(61), "[]"},
		{retry.Hint{After: retry.ISODuration(time.Second)}, minutes(5), "[MIN]"},
		{retry.Hint{After: retry.ISODuration(minutes(240))}, minutes(240), "[]"},
		{retry.Hint{After: retry.ISODuration(minutes(240) + 1)}, minutes(240), "[MAX]"},
		{retry.Hint{After: 1<<63 - 1}, minutes(240), "[MAX]"},
		{retry.Hint{Until: now.Add(time.Hour + 1)}, minutes(61), "[]"},
	} {
		r := request("BUSY", 3)
		r.RetryAfter = tt.hint
		d := plain(t).Decide(r, now)
		if d.Step != retry.StepHint || d.Backoff != tt.wait || fmt.Sprint(d.Bounds) != tt.bounds {
			t.Errorf("%s: %v by %s, bounds %v; want %v by HINT, %s", say(tt.hint), d.Backoff, d.Step, d.Bounds, tt.wait, tt.bounds)
		}
		if d.Delay != minutes(40) {
			t.Errorf("%s: %v before jitter, want the policy's own 40m, to compare", say(tt.hint), d.Delay)
		}
	}
}

// One outage must not call every claim back at one second, and no claim earlier than the other side said.
func TestAHintIsSpreadUpwardByAFifth(t *testing.T) {
	p := plain(t, func(p *retry.Settings) { p.Jitter = 0.2 })
	waits := map[time.Duration]int{}
	for n := range 1000 {
		r := request("BUSY, Retry-After: 6000", 0)
		r.ProcessInstanceKey = int64(n)
		d := p.Decide(r, now)
		waits[d.Backoff]++
	}
	shortest, longest := slices.Min(slices.Collect(maps.Keys(waits))), slices.Max(slices.Collect(maps.Keys(waits)))
	if shortest != minutes(100) || longest != minutes(120) || len(waits) != 21 {
		t.Errorf("%d waits from %v to %v, want each of the 21 minutes from 100 to 120", len(waits), shortest, longest)
	}
	for text, want := range map[string]time.Duration{"Retry-After: 99999": minutes(240), "Retry-After: 10": minutes(5)} { // no room, no whole minute
		if d := p.Decide(request("BUSY, "+text, 0), now); d.Backoff != want {
			t.Errorf("%s: %v, want %v", text, d.Backoff, want)
		}
	}
	if d := p.Decide(request("BUSY, Retry-After: 13200", 0), now); fmt.Sprint(d.Bounds) != "[MAX]" {
		t.Errorf("from 220 to 264 minutes: bounds %v, want the MAX that cuts them", d.Bounds)
	}
}
