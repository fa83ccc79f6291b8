package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Harmless returns a text in which characters that can command a terminal are written as in JSON, such as
// \u001b. Tabs and line breaks stay, and what is no UTF-8 becomes U+FFFD. A JSON text keeps its value.
func Harmless(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// Line returns what [Harmless] does with line breaks escaped too, for what must stay on one line.
func Line(text string) string { return strings.ReplaceAll(Harmless(text), "\n", `\n`) }

// isPlain reports whether a text has nothing but printable ASCII, tabs and line breaks. It saves a line of
// the log, one a job, the tenfold time of looking at runes.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c > '~' {
			return false
		}
	}
	return true
}
