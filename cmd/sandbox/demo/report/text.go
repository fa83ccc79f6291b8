package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain makes a text fit for a line of a terminal: what an insurer wrote may hold line ends and control characters.
func plain(text string) string {
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// width is the number of columns of a text that is plain.
func width(text string) int { return utf8.RuneCountInString(text) }

// excerpt cuts a text to so many columns. What stays begins at the start where code is within reach, otherwise shortly
// before code.
func excerpt(text, code string, columns int) string {
	all := []rune(text)
	if len(all) <= columns {
		return text
	}
	const mark = "…"
	from := 0
	if at := strings.Index(strings.ToUpper(text), code); code != "" && at > 0 && at < len(text) {
		start := utf8.RuneCountInString(text[:at])
		if start+width(code) > columns-1 {
			from = start
		}
	}
	if from == 0 {
		return string(all[:columns-1]) + mark
	}
	rest := all[from:]
	if len(rest) <= columns-1 {
		return mark + string(rest)
	}
	return mark + string(rest[:columns-2]) + mark
}

// wrap breaks a text into lines of so many columns, at blanks where there are any.
func wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		for width(word) > columns { // a word that fits on no line
			if line != "" {
				lines, line = append(lines, line), ""
			}
			runes := []rune(word)
			lines, word = append(lines, string(runes[:columns])), string(runes[columns:])
		}
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= columns:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// pad fills a text up with blanks to so many columns.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-width(text)))
}
