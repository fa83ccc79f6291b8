package retry_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/match"
	"hospital.example/analyze-retry/internal/testing/check"
)

// upper is what rules read of a text that is not blank.
func upper(text string) string {
	return strings.ToUpper(text[:min(len(text), match.MaxBytes)])
}

// FuzzBuiltInRules holds of every built-in policy and any text: what is found is one of the rule's own words, and it does
// stand in the text.
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
			if got.Code != "" && !slices.Contains(slices.Concat(p.Rules[i].Codes, p.Rules[i].Contains), got.Code) {
				t.Fatalf("%s: %q: %q is no word of %s", name, errorText, got.Code, got.RuleID)
			}
			if !strings.Contains(upper(errorText), got.Code) {
				t.Fatalf("%s: %q does not contain %q", name, errorText, got.Code)
			}
		}
	})
}

// FuzzMatch holds of any rule and any text: it is compiled or refused, and what it finds is its own.
func FuzzMatch(f *testing.F) {
	f.Add("HTTP", "503", `HTTP {code}\b`, "TEST", "http 503")
	f.Add("", "503", "", "", "R$ 503,00 CLM-503 503")
	f.Add("ß", "ﬁ", "(?i){code}{code}", "(", "straße ﬁ")
	f.Add("", "\xff", "{code}|(?P<x>.)", "", "\xff\xfe")
	f.Fuzz(func(t *testing.T, contains, code, pattern, unless, text string) {
		m := match.Condition{Pattern: pattern, Unless: unless}
		if contains != "" {
			m.Contains = []string{contains}
		}
		if code != "" {
			m.Codes = []string{code}
		}
		p := plain(t).Settings
		p.Rules = []retry.Rule{{ID: "rule", Class: retry.Transient, Condition: m}}
		made, err := retry.New(p)
		if err != nil {
			return
		}
		if got := made.Classify(text); got.Code != "" && got.Code != strings.ToUpper(contains) && got.Code != strings.ToUpper(code) {
			t.Errorf("found %q, which is no word of the rule", got.Code)
		}
		if strings.TrimSpace(text) == "" {
			return // no rule is asked
		}
		flags := ""
		if strings.ToUpper(pattern) != pattern {
			if strings.ContainsFunc(pattern+text, func(c rune) bool { return c > unicode.MaxASCII }) {
				return // some letters, such as the Kelvin sign, are the same letter as K, but not in upper case
			}
			flags = "(?i)"
		}
		if plain, err := regexp.Compile(flags + pattern); err == nil && pattern != "" && !strings.Contains(pattern, match.CodeMark) {
			if is, want := found(t, match.Condition{Pattern: pattern}, text) != "-", plain.MatchString(upper(text)); is != want {
				t.Errorf("%q in %q: found is %v, want %v", pattern, text, is, want)
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
	tiss := policy.BuiltIn("tiss")
	f.Fuzz(func(t *testing.T, text string) {
		got := tiss.Classify(text)
		upper := upper(text)
		switch got.Class {
		case retry.Permanent, retry.Transient:
			if !strings.Contains(upper, got.Code) {
				t.Errorf("%q matched %s, which it does not contain", text, got.RuleID)
			}
		case retry.Unknown:
			for _, known := range knownErrors {
				if strings.Contains(upper, known.code) {
					t.Errorf("%q contains %s and is UNKNOWN", text, known.code)
				}
			}
		}
		if got.Class == retry.Permanent {
			return
		}
		for _, known := range knownErrors[:5] {
			if strings.Contains(upper, known.code) {
				t.Errorf("%q contains %s and is %s", text, known.code, got.Class)
			}
		}
	})
}
