package retry_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/match"
)

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
