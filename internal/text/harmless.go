package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Harmless returns a text in which characters that can command a terminal are written as in JSON, such as
// \u001b. Tabs and line breaks stay, and what is no UTF-8 becomes U+FFFD. A JSON text keeps its value; one
// of ASCII without any such character is not copied.
func Harmless[T string | []byte](text T) T {
	at := firstSpecial(text)
	if at < 0 {
		return text
	}
	b := append(make([]byte, 0, len(text)+16), text[:at]...)
	for _, r := range string(text[at:]) {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return T(b)
}

// Line returns what [Harmless] does with line breaks escaped too, for what must stay on one line.
func Line(text string) string { return strings.ReplaceAll(Harmless(text), "\n", `\n`) }

// firstSpecial returns the index of the first byte that may need escaping, or -1.
func firstSpecial[T string | []byte](text T) int {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c > '~' {
			return i
		}
	}
	return -1
}
