package report_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/simulate"
)

// million returns the answer about a million claims under two policies, with these results.
func million(first, second simulate.Result) string {
	const claims = 1_000_000
	s := simulate.Scenario{Claims: claims, Error: "boom", Outages: []simulate.Outage{{End: 100 * time.Hour}}}
	p, q := policy.BuiltIn("fast"), policy.BuiltIn("job-queue")
	return report.SimulationOf(s, []report.Play{
		{Policy: p, With: &first, Plain: &first}, {Policy: q, With: &second, Plain: &second},
	}).Text()
}

func TestComparisonOfAMillionClaimsFitsATerminal(t *testing.T) {
	wave := simulate.Wave{At: 99 * time.Hour, Retries: 1_000_000}
	text := million(
		simulate.Result{Survivors: 1_000_000, Tries: 9_000_000, Wasted: 8_000_000, Largest: wave, Waves: []simulate.Wave{wave}, P50: time.Second, P95: 101 * time.Hour, Max: 200 * time.Hour, LastAccepted: 201 * time.Hour},
		simulate.Result{Exhausted: 999_999, AtOnce: 1, Tries: 1_000_000},
	)
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	for _, part := range []string{"1000000 (100 %)", "999999 (99.9 %)", "-1000000", "last survivor, after the outage  4 d 5 h          -", "1000000 │"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "100.0 %") {
		t.Errorf("nearly all are not all:\n%s", text)
	}
}
