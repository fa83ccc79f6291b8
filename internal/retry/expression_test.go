package retry_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry/match"
)

// An expression is only asked where a literal of it stands in the text. So everything that it matches must have one.
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
