package redact

import "unicode/utf8"

// MaxStored is how much of a text is stored, in bytes.
const MaxStored = 8 << 10

// Stored returns a text as it may be stored: without personal data, at most [MaxStored] bytes. What the cut leaves of a word or
// a number is not known, and so it is masked.
func Stored(text string) string {
	return Cut(Text(Cut(text, MaxStored)), MaxStored)
}

// Cut shortens a text to so many bytes, never inside a character.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
