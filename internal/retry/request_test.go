package retry_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

func TestClaimID(t *testing.T) {
	for form, ids := range map[retry.IDForm]map[string]bool{
		retry.ClaimIDs: {
			"CLM-001-1234567890":                     true,
			"CLM--1":                                 true,
			"CLM-" + strings.Repeat("0", 122) + "-1": true,
			"CLM-1":                                  false, // the pattern wants a second dash
			"clm-001-1":                              false,
			"CLM-001-1\n":                            false,
			"CLM-0\n1-1":                             false,
			"CLM-0\u202e1-1":                         false, // right-to-left override: shown backwards in a report
			"CLM-0\ufeff1-1":                         false,
			"CLM-0\u20281-1":                         false, // line and paragraph separators: a line break to some readers
			"CLM-0\ufffd1-1":                         false, // what a lone surrogate becomes
			"CLM-001-١٢":                             false, // Arabic digits are not \d
			"CLM-" + strings.Repeat("0", 123) + "-1": false,
			"":                                       false,
		},
		retry.AnyIDs: { // one word
			"job_123": true, "123e4567-e89b-12d3-a456-426614174000": true, "mail:2025/01.7": true, "CLM-ÇÃO-7": true,
			"": false, "-1": false, "a b": false, "a@b.c": false, "é": false, "a\n": false, "_a": false,
		},
	} {
		p := plain(t, func(p *retry.Settings) { p.IDs = form })
		for id, valid := range ids {
			if faults := p.Faults(retry.Request{ClaimID: id, SubmissionError: "X"}); (faults == nil) != valid {
				t.Errorf("%s: %q: faults %v, want valid %v", form, id, faults, valid)
			}
		}
	}
}

func TestAFaultNamesVariableValueAndRule(t *testing.T) {
	err := &retry.InvalidInputError{Faults: policy.BuiltIn("tiss").Faults(retry.Request{ClaimID: "João 123.456.789-09"})}
	want := `invalid input: claimId is "Xxxx 999.999.999-99" but must be a text that matches CLM-<any>-<digits> on one line, ` +
		`without control characters, at most 128 bytes; ` +
		`submissionError is empty but must be the text of the submission error, not blank. ` +
		`Correct the process variables, then resolve the incident`
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAShapeRepeatsNoLetterAndNoDigit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 60, -1).Draw(t, "text")
		shape := retry.Shape(text).String()
		for _, c := range shape {
			if unicode.IsControl(c) {
				t.Fatalf("%q has a control character", shape)
			}
		}
		shown, _, _ := strings.Cut(shape, ` (`) // the length behind it has digits of its own
		for _, c := range shown {
			if (unicode.IsLetter(c) && c != 'x' && c != 'X') || (unicode.IsDigit(c) && c != '9') {
				t.Fatalf("%q shows %q of %q", shape, c, text)
			}
		}
	})
}
