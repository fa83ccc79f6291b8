package spelling_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/spelling"
)

func TestANameIsGuessedWhereAThirdOfItIsWrongAtTheMost(t *testing.T) {
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
