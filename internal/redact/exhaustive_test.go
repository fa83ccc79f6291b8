//go:build !race

package redact_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

// What is here takes a minute with the race detector, a tenth of that without it, and has one goroutine.

func TestNoneOfAHundredThousandCanariesSurvives(t *testing.T) {
	t.Parallel()
	const texts = 100_000
	leaks, n := 0, 0
	for c := range redacttest.Canaries(1) {
		if n++; n > texts {
			break
		}
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

// A long text is read in pieces; none of them may begin between two words of a name.
func TestNamesAcrossPiecesAreFound(t *testing.T) {
	t.Parallel()
	const piece, page = 16 << 10, evidence.MaxBytes
	for _, tt := range []struct{ name, leak string }{{"Aurora Dias Xavier", "Dias"}, {"Rita de Campos", "Campos"}, {"paciente dias campos", "dias"}, {"J O S E", "S E"}} {
		for _, filler := range []string{"erro no sistema ", "x", "1 "} {
			for size := piece - 24; size < piece+2; size++ {
				text := strings.Repeat(filler, size/len(filler)+1)[:size] + " " + tt.name + strings.Repeat(" sistema", page/len(" sistema"))
				if got := redact.Text(text); strings.Contains(got, tt.leak) || !strings.HasSuffix(got, " sistema sistema") {
					t.Fatalf("behind %d bytes of %q %s becomes %q", size, filler, tt.name, got[max(0, len(got)-900):])
				}
			}
		}
	}
}
