package text_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/text"
)

func TestEveryRuneKeepsItsValueInJSON(t *testing.T) {
	const block = 1 << 12
	for first := rune(0); first <= unicode.MaxRune; first += block {
		if first>>16 >= 4 && first>>16 <= 13 {
			continue // these planes have no characters
		}
		var s strings.Builder
		for r := first; r < first+block; r++ {
			if utf8.ValidRune(r) && r >= ' ' && r != '"' && r != '\\' { // else not allowed in a JSON string as it is
				s.WriteRune(r)
			}
		}
		got := text.Harmless(`{"a":"` + s.String() + `"}`)
		var back struct{ A string }
		if err := json.Unmarshal([]byte(got), &back); err != nil || back.A != s.String() {
			t.Errorf("%U and following: another value, %v", first, err)
		}
		if at := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }); at >= 0 {
			t.Errorf("%U and following: shown is %q", first, got[at:min(at+8, len(got))])
		}
	}
}

func TestTextHoldsNoControlCharacter(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"Código: não há retry, 中 😀": "Código: não há retry, 中 😀",
		"a\x1b[31mb":                `a\u001b[31mb`,
		"a\u009b31m\u0085":          `a\u009b31m\u0085`,
		"a\x9bb\xffç":               "a\ufffdb\ufffdç",
		"a\x7f\r\x00":               `a\u007f\u000d\u0000`,
		"\u202eevil\u2066":          `\u202eevil\u2066`,
		"\u200b\ufeff\u2028":        `\u200b\ufeff\u2028`,
		"\U000e0041\ufffd":          "\\udb40\\udc41\ufffd",
		"one\n\ttwo":                "one\n\ttwo",
	} {
		if got := text.Harmless(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := text.Line("a\nb"); got != `a\nb` {
		t.Errorf("got %q", got)
	}
}

func TestAnOrdinaryTextIsNotCopied(t *testing.T) {
	s := `{"event":"retry_scheduled"}` + "\n"
	if n := testing.AllocsPerRun(100, func() { text.Harmless(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
