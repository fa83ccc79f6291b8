package text

import (
	"strings"
	"unicode/utf8"
)

// columns is the width of a terminal.
const columns = 80

// Wrap writes a [Line] after a head, such as an indent, and breaks it to fit a terminal of 80 columns.
// Further lines are indented by the length of the head. Several spaces stay several, but not where a line is
// broken.
func Wrap(head, text string) string {
	var b strings.Builder
	line, begun := head, false
	for word := range strings.SplitSeq(strings.TrimRight(Line(text), " "), " ") {
		if begun && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= columns {
			line += " " + word
			continue
		}
		if begun {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", utf8.RuneCountInString(head))
		}
		line, begun = line+word, word != ""
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
}

// Shorten cuts a text to so many characters. One that was cut ends with three dots.
func Shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-3]) + "..."
}
