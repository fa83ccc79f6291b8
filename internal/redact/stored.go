package redact

import "unicode/utf8"

// MaxStored is how much of a text is stored, in bytes; reach is how much further personal data is looked for, so that
// none is cut in two and kept in part.
const (
	MaxStored = 8 << 10
	reach     = 512
)

// Stored returns a text as it may be stored: without personal data, at most [MaxStored] bytes.
func Stored(text string) string {
	if len(text) <= MaxStored+reach {
		return Cut(Text(text), MaxStored)
	}
	// What was cut in two is within reach of the end, wherever that has moved to: marks are shorter than what they hide.
	redacted := Text(Cut(text, MaxStored+reach))
	return Cut(redacted, min(max(len(redacted)-reach, 0), MaxStored))
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
