package retry_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/match"
	"hospital.example/analyze-retry/internal/testing/check"
)

// found is what a rule of these conditions finds in a text: its code, or "-" where it does not hold.
func found(t check.TB, m match.Condition, text string) string {
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

func TestConditionFindsItsOwnWordOrCode(t *testing.T) {
	for _, tt := range []struct {
		name      string
		condition match.Condition
		want      map[string]string // by text; "-" where the condition does not hold
	}{
		{"codes of letters stand alone too", match.Condition{Codes: []string{"e42", "4.4.1"}}, map[string]string{
			"erro e42": "E42", "E42.": "E42", "E421": "-", "RE42": "-", "450 4.4.1 timeout": "4.4.1", "14.4.1": "-", "4.4.12": "-", "1.4.4.1": "-",
		}},
		{"words in upper case of all alphabets", match.Condition{Contains: []string{"não autorizado", "σφάλμα", "ab"}}, map[string]string{
			"Procedimento NÃO AUTORIZADO.": "NÃO AUTORIZADO",
			"xnão autorizadox":             "NÃO AUTORIZADO",
			"ΣΦΆΛΜΑ 17":                    "ΣΦΆΛΜΑ",
			"σφάλμα":                       "ΣΦΆΛΜΑ",
			"cab":                          "AB", // words of less than three letters too
			"nao autorizado":               "-",  // an accent is a letter of its own
			"na\u0303o autorizado":         "-",  // and so is a combining one
			"":                             "-",
		}},
		{"all parts must hold, and any of a list", match.Condition{Contains: []string{"HTTP", "STATUS"}, Codes: []string{"502", "504"}, Pattern: `GATEWAY|PROXY`, Unless: `TEST`}, map[string]string{
			"HTTP 502 gateway":      "502",
			"status 504 proxy":      "504",
			"504 502 http gateway":  "502", // the first of the list, not of the text
			"502 gateway":           "-",
			"HTTP gateway":          "-",
			"HTTP 502":              "-",
			"HTTP 1502 gateway":     "-",
			"HTTP 502 gateway test": "-",
		}},
		{"a word where there is no code", match.Condition{Contains: []string{"HTTP"}, Pattern: `\d`}, map[string]string{"http 502": "HTTP"}},
		{"nothing for a pattern alone", match.Condition{Pattern: `HTTP \d+`}, map[string]string{"http 502": ""}},
		{"the first word of the list", match.Condition{Contains: []string{"B", "A"}}, map[string]string{"A B": "B"}},

		{"lower-case pattern", match.Condition{Pattern: `connection refused`}, map[string]string{"Connection refused by host": ""}},
		{"lower-case pattern with an accent", match.Condition{Pattern: `conexão [a-z]+`}, map[string]string{"CONEXÃO recusada": ""}},
		{"lower-case class", match.Condition{Pattern: `[^a-z]gone`}, map[string]string{"it is gone": "", "forgone": "-"}},
		{"lower-case pattern with a code", match.Condition{Pattern: `status {code}\b`, Codes: []string{"503"}}, map[string]string{"STATUS 503": "503", "gate 503": "-"}},
		{"lower-case unless", match.Condition{Contains: []string{"denied"}, Unless: `for now`}, map[string]string{"DENIED FOR NOW": "-", "denied": "DENIED"}},

		{"codes where the pattern has its marks", match.Condition{Codes: []string{"50", "502", "5.7"}, Pattern: `HTTP[ /]*{code}\b|ERROR[ :]*{code}(?: .*\b{code})?$`}, map[string]string{
			"http 502":              "502",
			"HTTP502":               "502", // where the pattern puts it, also joined to a word
			"error: 502":            "502",
			"error 50 then 502":     "50", // the first of two
			"error 5.7":             "5.7",
			"error 5x7 and 5.7":     "-", // the dot is no pattern
			"502 http":              "-",
			"HTTP 503, code 502":    "-",
			"http 1502 and 15021":   "-", // a part of a longer number
			"error 502 or so, 5.7":  "502",
			"http 50":               "50",
			"HTTP 502 and error 50": "502",
		}},
		{"no code as a part of a number, even if the pattern allows it", match.Condition{Codes: []string{"502"}, Pattern: `HTTP/\d?{code}`}, map[string]string{
			"HTTP/1502": "-", "HTTP/5021": "-", "HTTP/502": "502",
		}},
		{"the longest code", match.Condition{Codes: []string{"50", "502"}, Pattern: `HTTP {code}`}, map[string]string{
			"http 502": "502", "http 50": "50", "http 503 50": "-", "http 5020 502": "-",
		}},
		// What is stored of a text is one of the rule's own words: the Kelvin sign is a k to (?i).
		{"nothing that is not its own", match.Condition{Codes: []string{"1K"}, Pattern: `(?i)CODE {code}`}, map[string]string{"1k, code 1\u212a": "-"}},
	} {
		for text, want := range tt.want {
			if got := found(t, tt.condition, text); got != want {
				t.Errorf("%s: %q: %q, want %q", tt.name, text, got, want)
			}
		}
	}
}

func TestLabelIsTheOnlyWordOrTheID(t *testing.T) {
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

// A text is read once for all rules with one pattern. What each of them finds must stay its own.
func TestRulesWithOnePatternFindTheirOwnCodes(t *testing.T) {
	page := strings.Repeat("1101 1201 1301 <br>\n", 1000)
	for _, tt := range []struct {
		name, pattern string
		codes         [][]string        // of each rule; the last rule is permanent
		want          map[string]string // the rule's number and its code, by text
	}{
		// What stands around a code is a part of its match, and may be the beginning of another one: a permanent code may not be
		// lost in a transient one's.
		{"a match hides no other", `GLOSA {code}\b|(?:^|;){code} - (?:GLOSA|GUIA)`, [][]string{{"5008"}, {"1702", "1308"}}, map[string]string{
			"5008 - glosa 1702":                       "1 1702",
			"5008 - glosa 5008;1308 - guia":           "1 1308",
			"5008 - glosa 5008 - glosa 5008":          "0 5008",
			"5008 - glosa 17020, 1702 - glosa 017021": "0 5008",
		}},
		{"a match with two codes is the rule's that has both", `{code} AND {code}`, [][]string{{"1", "2"}, {"2", "3"}}, map[string]string{
			"1 and 2": "0 1", "2 and 3": "1 2", "1 and 3": "unknown ", "3 and 2": "1 3",
		}},
		{"in a long text", `(?m)GLOSA {code}$`, [][]string{{"1101", "1102"}, {"1301"}, {"1201"}}, map[string]string{
			page:                              "unknown ",
			page + "glosa 1102":               "0 1102",
			"glosa 1301\n" + page:             "1 1301",
			page + "glosa 1301\nglosa 1201\n": "2 1201",
			page + "glosa 1401":               "unknown ",
		}},
	} {
		p := plain(t, func(p *retry.Settings) {
			p.Rules = nil
			for id, codes := range tt.codes {
				p.Rules = append(p.Rules, retry.Rule{ID: fmt.Sprint(id), Class: retry.Transient, Condition: match.Condition{Codes: codes, Pattern: tt.pattern}})
			}
			p.Rules[len(p.Rules)-1].Class = retry.Permanent
		})
		for text, want := range tt.want {
			if got := p.Classify(text); got.RuleID+" "+got.Code != want {
				t.Errorf("%s: %.30q: %s %s, want %s", tt.name, text, got.RuleID, got.Code, want)
			}
		}
	}
}

// An expression runs only on texts with one of its literals. So every match must contain one.
func TestAnExpressionFindsAllThatItMatches(t *testing.T) {
	expressions := []string{
		`ABC`, `A?BCD+`, `(?:ABC|DEF\d)?GHI`, `X(?:ABC){2,3}`, `(?:ABC){0,2}Z`, `(?i)ABK`, `AB[CD]E|AB[^C]F`, `A.C|DEF`, `(?i)ABC`, `\bABC\b|^DEF$`, `ABC(?:D\S+E|F)`,
		`(?:ABC|DEF)*GH`, `[A-Z]{3}XYZ`, `(?:A|BC)(?:D|EF)(?:G|HI)`, `ABCDE?|`, `É(?:TÉ|[ÀÂ]GE)`,
		`abc`, `(?:abc|[de]ef)g+hi`, `[a-z]{3}xyz`, `abc\d\S{2}`, `(?s:a.c)D`, `é[^a-zà-ü]té`,
	}
	for p := range policy.BuiltIns().All() {
		for _, r := range slices.Concat(p.Rules, p.InDoubt) {
			for _, e := range []string{r.Pattern, r.Unless} {
				if e != "" && !strings.Contains(e, match.CodeMark) && !slices.Contains(expressions, e) {
					expressions = append(expressions, e)
				}
			}
		}
	}
	for _, e := range expressions {
		plain := regexp.MustCompile("(?i)" + e) // case does not matter
		texts := rapid.StringMatching(e)
		for seed := range 30 {
			text := upper(texts.Example(seed))
			if want, is := plain.MatchString(text) && strings.TrimSpace(text) != "", found(t, match.Condition{Pattern: e}, text) != "-"; is != want {
				t.Errorf("%q in %q: found is %v, want %v", e, text, is, want)
			}
		}
	}
}
