package text

import (
	"fmt"
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

// Table lays out rows in columns that are two spaces apart. Each cell is on one line but the last of a row,
// which is broken to fit a terminal. A row of one cell is printed as it is.
func Table(indent string, rows [][]string) string {
	var b strings.Builder
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			widths[i] = max(widths[i], utf8.RuneCountInString(Line(cell)))
		}
	}
	for _, row := range rows {
		head, last := indent, row[len(row)-1]
		if len(row) == 1 {
			b.WriteString(strings.TrimRight(head+last, " \n") + "\n")
			continue
		}
		for i, cell := range row[:len(row)-1] {
			head += fmt.Sprintf("%-*s  ", widths[i], Line(cell))
		}
		b.WriteString(Wrap(head, last))
	}
	return b.String()
}

// Shorten cuts a text to so many characters. One that was cut ends with three dots.
func Shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-3]) + "..."
}
