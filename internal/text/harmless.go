package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Harmless returns a text in which characters that can command a terminal are written as in JSON, such as
// \u001b. Tabs and line breaks stay, and what is no UTF-8 becomes U+FFFD. A JSON text keeps its value.
func Harmless(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, commands) {
		return text // as nearly all are: the log has one a job
	}
	var b strings.Builder
	for _, r := range text {
		if !commands(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// commands reports whether a character can command a terminal. Plain ASCII needs no tables of Unicode.
func commands(r rune) bool {
	return (r < ' ' || r > '~') && r != '\n' && r != '\t' && !unicode.IsPrint(r)
}

// Line returns what [Harmless] does with line breaks escaped too, for what must stay on one line.
func Line(text string) string { return strings.ReplaceAll(Harmless(text), "\n", `\n`) }
