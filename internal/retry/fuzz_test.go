package retry_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/testing/check"
)

// upper is what rules read of a text that is not blank.
func upper(text string) string {
	return strings.ToUpper(text[:min(len(text), evidence.MaxBytes)])
}

// FuzzBuiltInRules holds of every built-in policy and any text: a rule that looks for words has found one of them in the text.
func FuzzBuiltInRules(f *testing.F) {
	for _, text := range []string{
		"erro timeout", "HTTP/1.1 503", "<ans:codigoGlosa>1308</ans:codigoGlosa>", "550-5.1.1 unknown", "421 4.3.2", "R$ 503", "\xff503\xfe",
		"ValidationError", "read tcp: i/o timeout", "3091 PERIODO DE 01/12/2026 ATE 10/12/2026",
	} {
		f.Add(text)
	}
	policies := policy.BuiltIns()
	f.Fuzz(func(t *testing.T, errorText string) {
		for _, name := range policies.Names() {
			p, _ := policies.Get(name)
			got := p.Classify(errorText)
			if got.RuleID == "unknown" || got.RuleID == "empty" {
				continue
			}
			i := slices.IndexFunc(p.Rules, func(r retry.Rule) bool { return r.ID == got.RuleID })
			if i < 0 || p.Rules[i].Class != got.Class {
				t.Fatalf("%s: %q is %s by %s, which is no such rule", name, errorText, got.Class, got.RuleID)
			}
			if words := p.Rules[i].Condition.Contains; len(words) > 0 && (!slices.Contains(words, got.Code) || !strings.Contains(upper(errorText), got.Code)) {
				t.Fatalf("%s: %q: %q is no word of %s, or not of the text", name, errorText, got.Code, got.RuleID)
			}
		}
	})
}

// FuzzHint holds of any text: a hint is a span or a time to come, and the wait keeps to the bounds.
func FuzzHint(f *testing.F) {
	for _, text := range []string{
		"Retry-After: 120", "retry_after=30s", `{"Retry-After":"Sun, 12 Jan 2025 11:00:00 GMT"}`, "Retry-After: Sun Jan 12 11:00:00 2025",
		"retry after 3 attempts", "Retry-After: 99999999999999999999", "3091 PERIODO DE 01/12/2026 08:00 ATE 10/12/2026", "3091 PERÍODO DE 31/02/26 A 10-03-26",
	} {
		f.Add(text)
	}
	p := plain(f)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.TrimSpace(text) == "" || !utf8.ValidString(text) {
			return // such a text does not come out of a job
		}
		d, err := p.Decide(request(text, 0), now)
		check.Must(t, err)
		if h := d.Hint; h != (retry.Hint{}) && (h.Source == "" || h.After < 0 || !h.Until.IsZero() && (h.After != 0 || !h.Until.After(now))) {
			t.Errorf("hint %+v", h)
		}
		if d.Outcome == retry.OutcomeRetry && (d.Backoff < p.Min || d.Backoff > p.Max || d.Backoff%time.Minute != 0) {
			t.Errorf("waits %v", d.Backoff)
		}
	})
}

func FuzzClassify(f *testing.F) {
	for _, known := range knownErrors {
		f.Add("erro " + strings.ToLower(known.code) + " \x00\u202e")
	}
	f.Add(strings.Repeat("TIMEOU", 20_000))
	f.Add("\xff\xfe TIMEOUT")
	documents := policy.BuiltIn("rn-bil-005")
	f.Fuzz(func(t *testing.T, text string) {
		got, upper := documents.Classify(text), upper(text)
		for _, known := range knownErrors {
			if !strings.Contains(upper, known.code) || known.code == "TEMPORARY_ERROR" { // which is of RN-BIL-004
				continue
			}
			if got.Code != known.code && !strings.Contains(upper, got.Code) || got.Class == retry.Unknown {
				t.Errorf("%.200q contains %s and is %s by %q", text, known.code, got.Class, got.Code)
			}
			if known.class == retry.Permanent && got.Class != retry.Permanent {
				t.Errorf("%.200q contains %s and is %s", text, known.code, got.Class)
			}
		}
		if got.Class != retry.Unknown && !strings.Contains(upper, got.Code) {
			t.Errorf("%q does not contain %q", text, got.Code)
		}
	})
}
