package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// HarmlessJSON returns a JSON text of the same value in which characters that can command a terminal are
// written as \u00XX. Tabs and line breaks between values stay.
func HarmlessJSON(text []byte) []byte {
	return escaped(text, func(b []byte, r rune, _ []byte) []byte {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		}
		return fmt.Appendf(b, `\u%04x`, r) // a byte that is no UTF-8 is U+FFFD to every reader of JSON
	})
}

// Harmless returns a text for a person in which such characters are written as in Go: \x1b or \u009b. Tabs
// and line breaks stay.
func Harmless(text string) string {
	return string(escaped([]byte(text), func(b []byte, _ rune, raw []byte) []byte {
		quoted := strconv.QuoteToASCII(string(raw))
		return append(b, quoted[1:len(quoted)-1]...)
	}))
}

// escaped returns the text with each rune that can command a terminal, and each byte that is no UTF-8, as
// escape writes it. A text without any is not copied.
func escaped(text []byte, escape func(b []byte, r rune, raw []byte) []byte) []byte {
	at := firstSpecial(text)
	if at < 0 {
		return text
	}
	b := append(make([]byte, 0, len(text)+16), text[:at]...)
	for rest := text[at:]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if stays(r) && (r != utf8.RuneError || size > 1) {
			b = append(b, rest[:size]...)
		} else {
			b = escape(b, r, rest[:size])
		}
		rest = rest[size:]
	}
	return b
}

// Line returns what [Harmless] does with line breaks escaped too, for what must stay on one line.
func Line(text string) string { return strings.ReplaceAll(Harmless(text), "\n", `\n`) }

func stays(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }

// firstSpecial returns the index of the first byte that may need escaping, or -1.
func firstSpecial(text []byte) int {
	for i, c := range text {
		if (c < ' ' && c != '\n' && c != '\t') || c > '~' {
			return i
		}
	}
	return -1
}
