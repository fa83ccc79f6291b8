package retry_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/match"
)

func TestAPatternPutsTheCodesWhereItsMarksStand(t *testing.T) {
	t.Parallel()
	m := match.Condition{Codes: []string{"50", "502", "5.7"}, Pattern: `HTTP[ /]*{code}\b|ERROR[ :]*{code}(?: .*\b{code})?$`}
	for text, want := range map[string]string{
		"http 502":              "502",
		"HTTP502":               "502", // where the pattern puts it, also joined to a word
		"error: 502":            "502",
		"error 50 then 502":     "50", // the first of two
		"error 5.7":             "5.7",
		"error 5x7 and 5.7":     "-", // the dot is no pattern
		"502 http":              "-",
		"HTTP 503, code 502":    "-",
		"http 1502 and 15021":   "-", // in no place apart from other digits
		"error 502 or so, 5.7":  "502",
		"http 50":               "50",
		"HTTP 502 and error 50": "502",
	} {
		if got := found(t, m, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A pattern that lets digits come before or behind its code means a code after all, and no number that holds one.
func TestAPatternIsNotAskedWhereItsCodesAreOnlyPartsOfNumbers(t *testing.T) {
	t.Parallel()
	m := match.Condition{Codes: []string{"502"}, Pattern: `HTTP/\d?{code}`}
	for text, want := range map[string]string{"HTTP/1502": "-", "HTTP/5021": "-", "HTTP/502": "502"} {
		if got := found(t, m, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestTheLongestCodeThatStandsThereIsTheOneThatIsFound(t *testing.T) {
	t.Parallel()
	m := match.Condition{Codes: []string{"50", "502"}, Pattern: `HTTP {code}`}
	for text, want := range map[string]string{"http 502": "502", "http 50": "50", "http 503 50": "-", "http 5020 502": "-"} {
		if got := found(t, m, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A text is read once for all rules with one pattern. What stands around a code is a part of its match, and may be the
// beginning of another one: a permanent code may not be lost in a transient one's.
func TestAMatchHidesNoOther(t *testing.T) {
	t.Parallel()
	const pattern = `GLOSA {code}\b|(?:^|;){code} - (?:GLOSA|GUIA)`
	p := plain(t, func(p *retry.Settings) {
		p.Rules = []retry.Rule{
			{ID: "transient", Class: retry.Transient, Condition: match.Condition{Codes: []string{"5008"}, Pattern: pattern}},
			{ID: "permanent", Class: retry.Permanent, Condition: match.Condition{Codes: []string{"1702", "1308"}, Pattern: pattern}},
		}
	})
	for text, want := range map[string]string{
		"5008 - glosa 1702":                       "permanent 1702",
		"5008 - glosa 5008;1308 - guia":           "permanent 1308",
		"5008 - glosa 5008 - glosa 5008":          "transient 5008",
		"5008 - glosa 17020, 1702 - glosa 017021": "transient 5008",
	} {
		if got := p.Classify(text); got.RuleID+" "+got.Code != want {
			t.Errorf("%q: %s %s, want %s", text, got.RuleID, got.Code, want)
		}
	}
}

func TestAMatchWithTwoCodesIsTheRulesWhereBothAre(t *testing.T) {
	t.Parallel()
	p := plain(t, func(p *retry.Settings) {
		p.Rules = nil
		for id, codes := range [][]string{{"1", "2"}, {"2", "3"}} {
			p.Rules = append(p.Rules, retry.Rule{ID: fmt.Sprint(id), Class: retry.Transient, Condition: match.Condition{Codes: codes, Pattern: `{code} AND {code}`}})
		}
	})
	for text, want := range map[string]string{"1 and 2": "0 1", "2 and 3": "1 2", "1 and 3": "unknown ", "3 and 2": "1 3"} {
		if got := p.Classify(text); got.RuleID+" "+got.Code != want {
			t.Errorf("%q: %s %s, want %s", text, got.RuleID, got.Code, want)
		}
	}
}

// A text is read once for rules with one pattern; what each of them finds must stay its own.
func TestRulesWithOnePatternFindTheirOwnCodesInALongText(t *testing.T) {
	t.Parallel()
	p := plain(t, func(p *retry.Settings) {
		p.Rules = nil
		for id, codes := range [][]string{{"1101", "1102"}, {"1201"}, {"1301"}} {
			p.Rules = append(p.Rules, retry.Rule{
				ID: fmt.Sprint(id), Class: retry.Transient, Condition: match.Condition{Codes: codes, Pattern: `(?m)GLOSA {code}$`},
			})
		}
	})
	page := strings.Repeat("1101 1201 1301 <br>\n", 1000)
	for text, want := range map[string]string{
		page:                              "unknown ",
		page + "glosa 1102":               "0 1102",
		"glosa 1301\n" + page:             "2 1301",
		page + "glosa 1301\nglosa 1201\n": "1 1201",
		page + "glosa 1401":               "unknown ",
	} {
		if got := p.Classify(text); got.RuleID+" "+got.Code != want {
			t.Errorf("%.30q...%q: %s %s, want %s", text, text[len(text)-20:], got.RuleID, got.Code, want)
		}
	}
}

// What is kept of a text is one of the rule's own words: nothing personal can be in it.
func TestAPatternThatIgnoresCaseNamesNothingThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	m := match.Condition{Codes: []string{"1K"}, Pattern: `(?i)CODE {code}`}
	if got := found(t, m, "1k, code 1\u212a"); got != "-" { // the sign of the kelvin is a k to (?i)
		t.Errorf("named %q", got)
	}
}
