package text

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// columns is the width of a terminal.
const columns = 80

// Wrap breaks a text into indented lines that fit a terminal of 80 columns. Each ends with a line break.
func Wrap(text, indent string) string {
	var b strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		length := utf8.RuneCountInString(word)
		switch {
		case width == 0:
			b.WriteString(indent)
			width = utf8.RuneCountInString(indent)
		case width+1+length > columns:
			b.WriteString("\n" + indent)
			width = utf8.RuneCountInString(indent)
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += length
	}
	return b.String() + "\n"
}

// Hanging writes a text after a head. Its further lines are indented by the length of the head.
func Hanging(head, text string) string {
	body := Wrap(text, strings.Repeat(" ", utf8.RuneCountInString(head)))
	return strings.TrimRight(head+strings.TrimLeft(body, " "), " \n") + "\n"
}

// Table lays out rows in columns that are two spaces apart, each cell on one line. All rows have the same
// number of cells.
func Table(indent string, rows [][]string) string {
	var cells, b strings.Builder
	w := tabwriter.NewWriter(&cells, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprint(w, indent)
		for _, cell := range row {
			fmt.Fprint(w, strings.ReplaceAll(Line(cell), "\t", " "), "\t")
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(cells.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
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

// Count returns a number of things: 1 claim, 2 retries.
func Count[N int | int64](n N, thing string) string {
	if n != 1 {
		if stem, is := strings.CutSuffix(thing, "y"); is {
			thing = stem + "ie"
		}
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
