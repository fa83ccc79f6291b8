package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Harmless returns a text in which characters that can command a terminal, and bytes that are no UTF-8, are
// written as in JSON: \u001b, \ufffd. Tabs and line breaks stay. A JSON text keeps its value; one without any
// such character is not copied.
func Harmless[T string | []byte](text T) T {
	at := firstSpecial(text)
	if at < 0 {
		return text
	}
	b := append(make([]byte, 0, len(text)+16), text[:at]...)
	for rest := []byte(text[at:]); len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case stays(r) && (r != utf8.RuneError || size > 1):
			b = append(b, rest[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		rest = rest[size:]
	}
	return T(b)
}

// Line returns what [Harmless] does with line breaks escaped too, for what must stay on one line.
func Line(text string) string { return strings.ReplaceAll(Harmless(text), "\n", `\n`) }

func stays(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }

// firstSpecial returns the index of the first byte that may need escaping, or -1.
func firstSpecial[T string | []byte](text T) int {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c > '~' {
			return i
		}
	}
	return -1
}
