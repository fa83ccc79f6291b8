package retry_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/match"
)

// found is what a rule of these conditions finds in a text: its code, or "-" where it does not hold.
func found(t failer, m match.Condition, text string) string {
	t.Helper()
	p := plain(t, func(p *retry.Settings) {
		p.Rules = []retry.Rule{{ID: "rule", Class: retry.Transient, Condition: m}}
	})
	c := p.Classify(text)
	if c.RuleID != "rule" {
		return "-"
	}
	return c.Code
}

func TestACodeStandsAlone(t *testing.T) {
	t.Parallel()
	code := match.Condition{Codes: []string{"503"}}
	for _, text := range []string{
		"503", "(503)", "[503]", "<code>503</code>", `"503"`, "'503'", "HTTP 503", "status=503", "code:503", "status: 503", "503.", "503,", "503!",
		"503: unavailable", "503-Service Unavailable", "503 - Service", "503/Service", "erro 503\nlinha", "HTTP/1.1 503 Service", "\t503\t",
		"5030 503", "503503 503", "503…", "—503—", "nº 503", "R$ 10 503",
	} {
		if got := found(t, code, text); got != "503" {
			t.Errorf("%q: not found", text)
		}
	}
	for _, text := range []string{
		"1503", "5031", "150399", "A503", "503A", "É503", "503é", "_503", "503_", "٣503", // inside of a word or a number
		"CLM-503", "CLM-ENC-503-12", "GUIA/503", "2025/503", "503/2025", "12-503", "503-12", // an id, a date
		"1.503,00", "503,00", "503.00", "0.503", "1,503", "1 503,00", // an amount
		"R$ 503", "R$503", "US$ 503", "€ 503", "R$\u00a0503", "R$  503",
		"10.0.0.1:503", "line 503:12", "12:503", // a port, a line, a time
		"", "50 3", "5O3",
	} {
		if got := found(t, code, text); got != "-" {
			t.Errorf("%q: found %s", text, got)
		}
	}
}

func TestACodeOfLettersStandsAloneToo(t *testing.T) {
	t.Parallel()
	code := match.Condition{Codes: []string{"e42", "4.4.1"}}
	for text, want := range map[string]string{
		"erro e42": "E42", "E42.": "E42", "E421": "-", "RE42": "-", "450 4.4.1 timeout": "4.4.1", "14.4.1": "-", "4.4.12": "-", "1.4.4.1": "-",
	} {
		if got := found(t, code, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestAWordIsContainedAnywhereInUpperCaseOfAllAlphabets(t *testing.T) {
	t.Parallel()
	words := match.Condition{Contains: []string{"não autorizado", "σφάλμα", "ab"}}
	for text, want := range map[string]string{
		"Procedimento NÃO AUTORIZADO.": "NÃO AUTORIZADO",
		"xnão autorizadox":             "NÃO AUTORIZADO",
		"ΣΦΆΛΜΑ 17":                    "ΣΦΆΛΜΑ",
		"σφάλμα":                       "ΣΦΆΛΜΑ",
		"cab":                          "AB", // words of less than three letters too
		"nao autorizado":               "-",  // an accent is a letter of its own
		"na\u0303o autorizado":         "-",  // and so is one that stands apart
		"":                             "-",
	} {
		if got := found(t, words, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestAllConditionsMustHoldAndAnyOneOfAList(t *testing.T) {
	t.Parallel()
	all := match.Condition{Contains: []string{"HTTP", "STATUS"}, Codes: []string{"502", "504"}, Pattern: `GATEWAY|PROXY`, Unless: `TEST`}
	for text, want := range map[string]string{
		"HTTP 502 gateway":      "502",
		"status 504 proxy":      "504",
		"504 502 http gateway":  "502", // the first of the list, not of the text
		"502 gateway":           "-",
		"HTTP gateway":          "-",
		"HTTP 502":              "-",
		"HTTP 1502 gateway":     "-",
		"HTTP 502 gateway test": "-",
	} {
		if got := found(t, all, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for name, tt := range map[string]struct {
		m    match.Condition
		want string
	}{
		"a word is named where there is no code": {match.Condition{Contains: []string{"HTTP"}, Pattern: `\d`}, "HTTP"},
		"nothing is named for a pattern alone":   {match.Condition{Pattern: `HTTP \d+`}, ""},
	} {
		if got := found(t, tt.m, "http 502"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestARuleIsNamedByItsOnlyWordInMetricsAndByItsIDOtherwise(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		m    match.Condition
		want string
	}{
		{match.Condition{Contains: []string{"busy"}}, "BUSY"},
		{match.Condition{Contains: []string{"busy", "full"}}, "rule"},
		{match.Condition{Contains: []string{"busy"}, Pattern: "BUSY"}, "rule"},
		{match.Condition{Contains: []string{"busy"}, Codes: []string{"1"}}, "rule"},
	} {
		p := plain(t, func(p *retry.Settings) {
			p.Rules = []retry.Rule{{ID: "rule", Class: retry.Transient, Condition: tt.m}}
		})
		if got := p.Classify("busy 1").Label; got != tt.want {
			t.Errorf("%+v: label %q, want %q", tt.m, got, tt.want)
		}
	}
}

func TestARuleThatCannotWorkIsRefusedByItsName(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]retry.Rule{
		"rule r: contains is missing, and so are code and pattern: one of them is needed": {ID: "r", Class: retry.Transient},
		"rule r: contains has an empty text":                                              {ID: "r", Class: retry.Transient, Condition: match.Condition{Contains: []string{" "}}},
		"rule r: code has an empty text":                                                  {ID: "r", Class: retry.Transient, Condition: match.Condition{Codes: []string{""}}},
		"rule r: pattern has {code}, but there is no code":                                {ID: "r", Class: retry.Transient, Condition: match.Condition{Pattern: "X{code}"}},
		"rule r: pattern is no regular expression: error parsing":                         {ID: "r", Class: retry.Transient, Condition: match.Condition{Pattern: "("}},
		"rule r: unless is no regular expression: error parsing":                          {ID: "r", Class: retry.Transient, Condition: match.Condition{Contains: []string{"X"}, Unless: "("}},
		"rule r: class must be TRANSIENT or PERMANENT":                                    {ID: "r", Class: retry.Unknown, Condition: match.Condition{Contains: []string{"X"}}},
		"id is missing: decisions and the audit trail name their rule":                    {Class: retry.Transient, Condition: match.Condition{Contains: []string{"X"}}},
	} {
		p := plain(t).Settings
		p.Rules = []retry.Rule{r}
		_, err := retry.New(p)
		var fault *retry.SettingError
		if !errors.As(err, &fault) || !strings.HasPrefix(err.Error(), want) || fault.Rule != r.ID {
			t.Errorf("%v, want %s", err, want)
		}
		if r.Class != retry.Transient || r.ID == "" {
			continue // the class of such a rule is not used
		}
		p.Rules, p.InDoubt = nil, []retry.Rule{r}
		if _, err := retry.New(p); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("in inDoubt: %v, want %s", err, want)
		}
	}
}

// Sixty-four kilobytes made to be slow: no search in them may go back and forth.
func TestAHostileTextIsStillClassified(t *testing.T) {
	t.Parallel()
	m := match.Condition{Codes: []string{"111"}, Pattern: `(?:A|AA)*B{code}`}
	for _, text := range []string{
		strings.Repeat("1", match.MaxBytes),
		strings.Repeat("1 ", match.MaxBytes/2),
		strings.Repeat("A", match.MaxBytes-5) + " 111",
		strings.Repeat("RETRY-AFTER:", match.MaxBytes/12),
		"3091 " + strings.Repeat("PERIODO DE 01/02/2025 ", match.MaxBytes/22),
		strings.Repeat("\xff", 2*match.MaxBytes),
		strings.Repeat("ŉ", match.MaxBytes/2), // longer in upper case
	} {
		if got := found(t, m, text); got != "-" {
			t.Errorf("%.20q: found %q", text, got)
		}
	}
}

// Policies are made of other policies: what was made ready for the old conditions must not answer for the new ones.
func TestARuleThatWasChangedIsMadeAnew(t *testing.T) {
	t.Parallel()
	p := plain(t, func(p *retry.Settings) {
		p.Rules = []retry.Rule{{ID: "rule", Class: retry.Transient, Condition: match.Condition{Codes: []string{"502"}, Pattern: `HTTP {code}`, Unless: "TEST"}}}
	}).Settings
	p.Rules = slices.Clone(p.Rules)
	p.Rules[0].Condition.Codes, p.Rules[0].Pattern, p.Rules[0].Unless = nil, "GATEWAY", ""
	changed, err := retry.New(p)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"gateway test": "rule", "http 502": "unknown"} {
		if got := changed.Classify(text).RuleID; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestTheOrderOfTheWordsDecidesWhichOfThemIsNamed(t *testing.T) {
	t.Parallel()
	if got := found(t, match.Condition{Contains: []string{"B", "A"}}, "A B"); got != "B" {
		t.Errorf("named the word %s, want B", got)
	}
	if got := found(t, match.Condition{Codes: []string{"502", "501"}}, "501 502"); got != "502" {
		t.Errorf("named the code %s, want 502", got)
	}
}
