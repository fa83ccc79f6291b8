package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

// lint returns the findings about the policies of a file. Its first line may be a comment that states an outage.
func lint(t *testing.T, file string) []policy.Finding {
	t.Helper()
	text, err := os.ReadFile(file)
	check.Must(t, err)
	var outage time.Duration
	first, _, _ := strings.Cut(string(text), "\n")
	if stated, found := strings.CutPrefix(first, "# outage: "); found {
		if outage, err = policy.ParseDuration(stated); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Base(file)
	set, err := policy.Parse(name, text)
	check.Must(t, err)
	var findings []policy.Finding
	for p := range set.All() {
		if set.Origin(p.Name) == name {
			findings = append(findings, set.Lint(p.Name, outage)...)
		}
	}
	return findings
}

func TestEachCheckFiresInItsFile(t *testing.T) {
	var got strings.Builder
	for _, file := range glob(t, "testdata/lint/*.yaml") {
		wanted := strings.TrimSuffix(filepath.Base(file), ".yaml")
		findings := lint(t, file)
		if fires := slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Check == wanted }); !fires && wanted != "good" {
			t.Errorf("%s: there is no finding %s", file, wanted)
		}
		if wanted == "good" && len(findings) > 0 {
			t.Errorf("a good policy has %+v", findings)
		}
		for _, f := range findings {
			fmt.Fprintf(&got, "%s:%d: %s %s: policy %s", f.File, f.Line, f.Severity, f.Check, f.Policy)
			if f.Rule != "" {
				fmt.Fprintf(&got, ": rule %s", f.Rule)
			}
			fmt.Fprintf(&got, ": %s. %s\n", f.Problem, f.Advice)
		}
		got.WriteString("\n")
	}
	checkGolden(t, "lint", got.String())
}

func TestBuiltInPoliciesHaveNoWarning(t *testing.T) {
	var checks []string
	for p := range policy.BuiltIns().All() {
		for _, f := range policy.BuiltIns().Lint(p.Name, 0) {
			if f.Severity != policy.SevereInformation {
				t.Errorf("%+v", f)
			}
			checks = append(checks, f.Policy+" "+f.Check)
		}
	}
	if !slices.Contains(checks, "tiss cap-not-reached") { // docs/policies.md says so
		t.Errorf("the findings are %v", checks)
	}
}

// A rule that never decides, according to the lint, must decide no text at all.
func TestRuleFoundNeverToDecideDecidesNoText(t *testing.T) {
	dead, alive := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[AB1 .]{1,4}`)
		word := text.Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
		pattern := rapid.SampledFrom([]string{"", "", "A", "B ?1", `\bA\b`, "^A", "a", "(?i)b", "{code}", "A{code}", "({code})?B", `\B A`, "A$"})
		var b strings.Builder
		b.WriteString("policies:\n  - name: mine\n    base: 1m\n    max: 2m\n    maxRetries: 2\n    rules:\n")
		for i := range rapid.IntRange(2, 4).Draw(t, "rules") {
			contains := rapid.SliceOfNDistinct(word, 0, 2, rapid.ID[string]).Draw(t, "contains")
			codes := rapid.SliceOfNDistinct(word, 0, 2, rapid.ID[string]).Draw(t, "code")
			p := pattern.Draw(t, "pattern")
			if strings.Contains(p, "{code}") && len(codes) == 0 {
				p = "A"
			}
			if len(contains)+len(codes) == 0 && p == "" {
				contains = []string{"A"}
			}
			fmt.Fprintf(&b, "      - id: r%d\n        class: %s\n", i, rapid.SampledFrom([]string{"TRANSIENT", "PERMANENT"}).Draw(t, "class"))
			if len(contains) > 0 {
				fmt.Fprintf(&b, "        contains: %q\n", contains)
			}
			if len(codes) > 0 {
				fmt.Fprintf(&b, "        code: %q\n", codes)
			}
			if p != "" {
				fmt.Fprintf(&b, "        pattern: %q\n", p)
			}
			if u := pattern.Filter(func(s string) bool { return !strings.Contains(s, "{") }).Draw(t, "unless"); u != "" {
				fmt.Fprintf(&b, "        unless: %q\n", u)
			}
		}
		// YAML reads the list [a b] of %q as one text: commas are missing.
		set, err := policy.Parse("random.yaml", []byte(strings.ReplaceAll(b.String(), `" "`, `", "`)))
		check.Must(t, err)
		never := map[string]string{}
		for _, f := range set.Lint("mine", 0) {
			if strings.Contains(f.Problem, "the rule never") {
				never[f.Rule] = f.Problem
			}
		}
		p, _ := set.Get("mine")
		for range 30 {
			alive++
			sample := rapid.StringMatching(`[ABab1 .]{1,12}`).Draw(t, "text")
			if problem, said := never[p.Classify(sample).RuleID]; said {
				t.Fatalf("%q: %s decides it, although %s\n%s", sample, p.Classify(sample).RuleID, problem, b.String())
			}
		}
		dead += len(never)
	})
	if dead == 0 || alive == 0 {
		t.Errorf("%d rules were found never to decide, %d texts were tried", dead, alive)
	}
}

// triesAgain reports whether a policy retries any of these texts after the first submission.
func triesAgain(t *testing.T, p *retry.Policy) bool {
	t.Helper()
	for _, text := range []string{"A", "BUSY", "TIMEOUT", "GATEWAY 502", "SOMETHING ELSE", " "} {
		if text == " " && !p.AcceptEmptyError {
			continue
		}
		d, err := p.Decide(retry.Request{ClaimID: "CLM-1-1", SubmissionError: text}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
		check.Must(t, err)
		if d.Outcome == retry.OutcomeRetry {
			return true
		}
	}
	return false
}

func TestOnlyPolicyThatNeverRetriesIsInError(t *testing.T) {
	number := map[bool]int{}
	for _, file := range glob(t, "testdata/lint/*.yaml") {
		text, err := os.ReadFile(file)
		check.Must(t, err)
		set, err := policy.Parse(file, text)
		check.Must(t, err)
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
