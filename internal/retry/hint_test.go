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

// hintOf is what the policy understands of a text, in words: "TEXT after 2m0s" or "WINDOW until
// 2026-12-01T03:00:00Z".
func hintOf(t *testing.T, p *retry.Policy, text string) string {
	t.Helper()
	return say(answer(t, p, request(text, 0)).Hint)
}

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

// now is Sunday, 12 January 2025, 10:40 UTC.
func TestRetryAfterIsReadAsProgramsLogIt(t *testing.T) {
	for text, want := range map[string]string{
		"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 120\r\n": "TEXT after 2m0s",
		`{"error":"busy","retry-after": "120"}`:                  "TEXT after 2m0s",
		`{"retry_after": 1.337}`:                                 "TEXT after 2s",   // never earlier than said
		"map[Content-Length:[0] Retry-After:[120]]":              "TEXT after 2m0s", // Go
		"{'Retry-After': '120'}":                                 "TEXT after 2m0s", // Python requests
		`{"retry-after"=>"120"}`:                                 "TEXT after 2m0s", // Ruby
		"busy retry_after=30s":                                   "TEXT after 30s",  // a Go duration
		"busy retry_after=30 status=503":                         "TEXT after 30s",
		"Retry-After: 99999999999":                               "TEXT after 8784h0m0s", // more than a year is a year

		// The date of HTTP, and the time of JSON.
		"Retry-After: Sun, 12 Jan 2025 11:00:00 GMT": "TEXT until 2025-01-12T11:00:00Z",
		`"retry-after": "2025-01-12T11:00:00Z"`:      "TEXT until 2025-01-12T11:00:00Z",

		"retry after: 5 minutes": "TEXT after 5m0s", // not the header's unit, but named

		// The first one that can be read.
		"Retry-After: never. Retry-After: 60":                         "TEXT after 1m0s",
		"Retry-After: 3 attempts failed, Retry-After: 60":             "TEXT after 1m0s",
		"Retry-After: Sun, 12 Jan 2025 10:00:00 GMT, Retry-After: 60": "TEXT after 1m0s",

		// No hints.
		"retry after 3 attempts failed":              "none",
		"Retry-After: -1":                            "none",
		"Retry-After: 30ms":                          "none",
		"retryAfterMs: 500":                          "none",
		"Retry-After: Sun, 12 Jan 2025 11:00:00 BRT": "none", // HTTP's dates are GMT
		"Retry-After: Sun, 12 Jan 2025 10:40:00 GMT": "none",
	} {
		if got := hintOf(t, plain(t), text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func saoPaulo(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	check.Must(t, err)
	return zone
}

// Insurers name days of their own zone: midnight in São Paulo is 03:00 UTC.
func TestWindowOfA3091AnswerIsAHint(t *testing.T) {
	p := plain(t, func(p *retry.Settings) { p.Zone = saoPaulo(t) })
	for text, want := range map[string]string{
		"3091 - COBRANÇA FORA DO PRAZO. PERIODO DE 01/02/2025 ATE 10/02/2025":                    "WINDOW until 2025-02-01T03:00:00Z",
		"3091 PER\ufffdODO DE 01/02/2025 AT\ufffd 10/02/2025":                                    "WINDOW until 2025-02-01T03:00:00Z", // spoilt letters
		"3091 PERIODO DE 01/02/25 ATE 10/02/25":                                                  "WINDOW until 2025-02-01T03:00:00Z", // without the century
		"<codigoGlosa>3091</codigoGlosa> PERIODO DE 12/01/2025 08:00 ATE 12/01/2025 18:00":       "WINDOW until 2025-01-12T11:00:00Z",
		"3161 - PRAZO DE ENVIO FORA DO PERÍODO CONTRATUAL: PERÍODO DE 01/02/2025 ATÉ 10/02/2025": "WINDOW until 2025-02-01T03:00:00Z",
		// Of two windows the next one, in either order.
		"3091 PERIODO DE 01/01/2025 ATE 10/01/2025 E PERIODO DE 15/01/2025 ATE 20/01/2025": "WINDOW until 2025-01-15T03:00:00Z",
		"3091 PERIODO DE 15/02/2025 ATE 20/02/2025, PERIODO DE 01/02/2025 ATE 05/02/2025":  "WINDOW until 2025-02-01T03:00:00Z",
		// No hints: open now, over, no such day, end before beginning, another number, no number.
		"3091 PERIODO DE 10/01/2025 ATE 20/01/2025":                                   "none",
		"3091 PERIODO DE 01/01/2025 ATE 10/01/2025":                                   "none",
		"3091 PERIODO DE 31/02/2025 ATE 10/03/2025":                                   "none",
		"3091 PERIODO DE 10/02/2025 ATE 01/02/2025":                                   "none",
		"guia 130915: PERIODO DE 01/02/2025 ATE 10/02/2025":                           "none",
		"1724 - VISITA MÉDICA INCLUÍDA NO PERÍODO DE 10 DIAS APÓS REALIZAÇÃO DO 3091": "none",
	} {
		if got := hintOf(t, p, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
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
	} {
		r := request(tt.text, 0)
		r.RetryAfter = tt.variable
		if got := say(answer(t, plain(t), r).Hint); got != tt.want {
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
		{retry.Hint{Source: retry.HintVariable}, minutes(5), "[MIN]"}, // "at once" is still no sooner than the policy's least
		{retry.Hint{After: retry.ISODuration(minutes(240))}, minutes(240), "[]"},
		{retry.Hint{After: retry.ISODuration(minutes(240) + 1)}, minutes(240), "[MAX]"},
		{retry.Hint{After: 1<<63 - 1}, minutes(240), "[MAX]"},
		{retry.Hint{Until: now.Add(time.Hour + 1)}, minutes(61), "[]"},
	} {
		r := request("BUSY", 3)
		r.RetryAfter = tt.hint
		d := answer(t, plain(t), r)
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
		d := answer(t, p, r)
		waits[d.Backoff]++
	}
	shortest, longest := slices.Min(slices.Collect(maps.Keys(waits))), slices.Max(slices.Collect(maps.Keys(waits)))
	if shortest != minutes(100) || longest != minutes(120) || len(waits) != 21 {
		t.Errorf("%d waits from %v to %v, want each of the 21 minutes from 100 to 120", len(waits), shortest, longest)
	}
	for text, want := range map[string]time.Duration{"Retry-After: 99999": minutes(240), "Retry-After: 10": minutes(5)} { // no room, no whole minute
		if d := answer(t, p, request("BUSY, "+text, 0)); d.Backoff != want {
			t.Errorf("%s: %v, want %v", text, d.Backoff, want)
		}
	}
}
