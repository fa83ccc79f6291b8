package policy_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// triesAgain reports whether a policy has any of these texts tried again after the first submission.
func triesAgain(t *testing.T, p *retry.Policy) bool {
	t.Helper()
	for _, text := range []string{"A", "BUSY", "TIMEOUT", "GATEWAY 502", "SOMETHING ELSE", " "} {
		if text == " " && !p.AcceptEmptyError {
			continue
		}
		d, err := p.Decide(retry.Request{ClaimID: "CLM-1-1", SubmissionError: text}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome == retry.OutcomeRetry {
			return true
		}
	}
	return false
}

func TestAPolicyIsInErrorWhereItNeverTriesAgainAndNowhereElse(t *testing.T) {
	files, err := filepath.Glob("testdata/lint/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	number := map[bool]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set, err := policy.Parse(file, text)
		if err != nil {
			t.Fatal(err)
		}
		for p := range set.All() {
			inError := slices.ContainsFunc(set.Lint(p.Name, 0), func(f policy.Finding) bool { return f.Severity == policy.SevereError })
			byTheJob := p.MaxRetries == 0 && p.JobOverrides
			if tries := triesAgain(t, p); tries == inError && !byTheJob {
				t.Errorf("%s: %s is in error: %v; it tries again: %v", file, p.Name, inError, tries)
			}
			number[inError]++
		}
	}
	if number[true] < 5 || number[false] < 5 {
		t.Errorf("%d policies in error and %d others: too few to tell", number[true], number[false])
	}
}

func TestNothingIsSaidAboutTheHorizonOfAPolicyThatNeverTriesAgain(t *testing.T) {
	set := parse(t, "policies:\n  - {name: never, base: 5m, max: 20m, maxRetries: 3, unknown: PERMANENT}\n")
	findings := set.Lint("never", 12*time.Hour)
	if len(findings) != 1 || findings[0].Check != "all-permanent" || findings[0].Severity != policy.SevereError {
		t.Errorf("%+v", findings)
	}
}
