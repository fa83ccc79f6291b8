package redact_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/redact"
	"hospital.example/analyze-retry/internal/testing/redacttest"
)

func TestNoneOfAHundredThousandCanariesSurvives(t *testing.T) {
	t.Parallel()
	const texts = 100_000
	leaks, n := 0, 0
	for c := range redacttest.Canaries(1) {
		if n++; n > texts {
			break
		}
		finder := redacttest.NewFinder(c)
		redacted := redact.Text(c.Text)
		if left := finder.Find([]byte(redacted)); len(left) > 0 {
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

func TestTheFinderSeesEveryCanaryBeforeItIsRedacted(t *testing.T) {
	t.Parallel()
	blind := 0
	for _, c := range redacttest.Take(2, 5_000) {
		found := redacttest.NewFinder(c).Find([]byte(c.Text))
		if len(found) < len(c.Secrets) {
			if blind++; blind <= 10 {
				t.Errorf("%q:\n finds %v of %v", c.Text, found, c.Secrets)
			}
		}
	}
	if blind > 0 {
		t.Errorf("%d texts", blind)
	}
}

func TestAtMostOneOrdinaryTextInAHundredIsChanged(t *testing.T) {
	t.Parallel()
	const texts = 10_000
	changed, n := 0, 0
	for text := range redacttest.Ordinary(1) {
		if n++; n > texts {
			break
		}
		if got := redact.Text(text); got != text {
			changed++
			t.Logf("%q becomes %q", text, got)
		}
	}
	t.Logf("%d of %d ordinary texts are changed", changed, texts)
	if changed > texts/100 {
		t.Errorf("%d of %d ordinary texts are changed, want at most %d", changed, texts, texts/100)
	}
}

func TestEveryBareValidNumberIsFound(t *testing.T) {
	t.Parallel()
	for _, kind := range []redacttest.Kind{redacttest.CPF, redacttest.CNS} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			const numbers = 100_000
			missed, n := 0, 0
			for d := range redacttest.Numbers(kind, 1) {
				if n++; n > numbers {
					break
				}
				if got := redact.Text("recusado " + d + " hoje"); got != "recusado ["+string(kind)+"] hoje" {
					missed++
				}
			}
			if missed > numbers/1000 {
				t.Errorf("%d of %d missed, want at most 1 in 1000", missed, numbers)
			}
		})
	}
}
