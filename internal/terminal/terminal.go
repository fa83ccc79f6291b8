// Package terminal writes texts so that they cannot command a terminal. Control characters, also those above ASCII (a
// terminal may take U+009B for the beginning of a command), marks that turn the direction of writing, and all else that
// shows no glyph become escapes.
package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a JSON text that has the same value and holds no such characters: they are written as \u00XX. Tabs and line
// breaks between values stay.
func JSON(text []byte) []byte {
	at := odd(text)
	if at < 0 {
		return text
	}
	b := append(make([]byte, 0, len(text)+16), text[:at]...)
	for rest := text[at:]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case stays(r) && (r != utf8.RuneError || size > 1):
			b = append(b, rest[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default: // a byte that is no UTF-8 is U+FFFD to every reader of JSON
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		rest = rest[size:]
	}
	return b
}

// Text returns a text for a person: such characters are written as in Go, \x1b or \u009b. Tabs and line breaks stay.
func Text(text string) string {
	if odd([]byte(text)) < 0 {
		return text
	}
	var b strings.Builder
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if stays(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(rest[:size])
		} else {
			quoted := strconv.QuoteToASCII(rest[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		rest = rest[size:]
	}
	return b.String()
}

// Line is Text for what must stay on one line: line breaks are escaped too.
func Line(text string) string { return strings.ReplaceAll(Text(text), "\n", `\n`) }

func stays(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }

// odd returns the place of the first byte that may have to be escaped, or -1.
func odd(text []byte) int {
	for i, c := range text {
		if (c < ' ' && c != '\n' && c != '\t') || c > '~' {
			return i
		}
	}
	return -1
}
