package text_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/text"
)

func TestNearestAllowsAThirdOfTheLetters(t *testing.T) {
	known := []string{"base", "factor", "maxRetries"}
	for name, want := range map[string]string{
		"maxRetry": "maxRetries", "maxretries": "maxRetries", "MAX_RETRIES": "maxRetries",
		"bas": "base", "facter": "factor", "fa": "", "colour": "", "": "",
	} {
		if got := text.Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := text.Nearest("base", nil); got != "" {
		t.Errorf("of no names: %q", got)
	}
}

func TestOneSlipIsOneLetterOrTwoNeighbours(t *testing.T) {
	const name = "maxRetries"
	for _, slip := range []string{"maxRetrie", "maxRetriess", "axRetries", "maxRetreies", "MaxRetrias", "maxRetires", "amxretries"} {
		if !text.OneSlip(slip, name) || !text.OneSlip(name, slip) {
			t.Errorf("%q is no slip of %s", slip, name)
		}
	}
	for _, other := range []string{"maxRetries", "MAXRETRIES", "maxEntries", "maxTries", "maxRetry", "", "m", "xmaRetries", "maxReetris"} {
		if text.OneSlip(other, name) || text.OneSlip(name, other) {
			t.Errorf("%q is taken for a slip of %s", other, name)
		}
	}
}
