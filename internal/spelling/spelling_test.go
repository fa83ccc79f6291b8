package spelling_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/spelling"
)

func TestNearestAllowsAThirdOfTheLetters(t *testing.T) {
	known := []string{"base", "factor", "maxRetries"}
	for name, want := range map[string]string{
		"maxRetry": "maxRetries", "maxretries": "maxRetries", "MAX_RETRIES": "maxRetries",
		"bas": "base", "facter": "factor", "fa": "", "colour": "", "": "",
	} {
		if got := spelling.Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := spelling.Nearest("base", nil); got != "" {
		t.Errorf("of no names: %q", got)
	}
}

func TestOneSlipIsOneLetterOrTwoNeighbours(t *testing.T) {
	const name = "maxRetries"
	for _, slip := range []string{"maxRetrie", "maxRetriess", "axRetries", "maxRetreies", "MaxRetrias", "maxRetires", "amxretries"} {
		if !spelling.OneSlip(slip, name) || !spelling.OneSlip(name, slip) {
			t.Errorf("%q is no slip of %s", slip, name)
		}
	}
	for _, other := range []string{"maxRetries", "MAXRETRIES", "maxEntries", "maxTries", "maxRetry", "", "m", "xmaRetries", "maxReetris"} {
		if spelling.OneSlip(other, name) || spelling.OneSlip(name, other) {
			t.Errorf("%q is taken for a slip of %s", other, name)
		}
	}
}
