//go:build !race

package redact_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

// What is here takes a minute with the race detector, a tenth of that without it, and has one goroutine.

func TestNoneOfAHundredThousandCanariesSurvives(t *testing.T) {
	t.Parallel()
	const texts = 100_000
	leaks := 0
	for _, c := range redacttest.Take(1, texts) {
		redacted := redact.Text(c.Text)
		if left := redacttest.NewFinder(c).Find([]byte(redacted)); len(left) > 0 {
			if leaks++; leaks <= 20 {
				t.Errorf("%q\n becomes %q,\n   which has %v", c.Text, redacted, left)
			}
		}
		if again := redact.Text(redacted); again != redacted {
			t.Errorf("%q\n becomes %q,\n    then %q", c.Text, redacted, again)
		}
	}
	t.Logf("%d of %d texts leak", leaks, texts)
}
