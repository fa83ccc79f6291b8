package transport

import (
	"strings"
	"unicode/utf8"
)

// Text replaces what is not UTF-8 in a text, which a gateway would refuse each time it is sent.
func Text(s string) string {
	if utf8.ValidString(s) { // in a thirtieth of the time
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
