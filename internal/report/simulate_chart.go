package report

import (
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/term"
)

// The sizes of the drawings: with their labels they fit 80 columns.
const (
	chartColumns = 68
	chartRows    = 7
)

// columnChart draws values as columns of eighths of a character, from the top row down; most is what fills all rows.
func columnChart(values []int, columns, most int, shaded func(column int) bool) []string {
	eighths := []rune("▁▂▃▄▅▆▇█")
	rows := make([]string, chartRows)
	for row := range rows {
		var b strings.Builder
		for column := range columns {
			value := 0
			if column < len(values) {
				value = values[column]
			}
			// A column that is there at all is seen: it is rounded up.
			full := (value*chartRows*8 + most - 1) / most
			part := full - 8*(chartRows-1-row)
			switch {
			case part >= 8:
				b.WriteRune('█')
			case part > 0:
				b.WriteRune(eighths[part-1])
			case shaded(column):
				b.WriteRune('░')
			default:
				b.WriteRune(' ')
			}
		}
		rows[row] = b.String()
	}
	return rows
}

// bandLine draws a band as a bar.
func bandLine(one band, columns int, width, shaded time.Duration) string {
	var b strings.Builder
	for column := range columns {
		from := time.Duration(column) * width
		switch {
		case one.from < from+width && from <= one.to:
			b.WriteRune('█')
		case from < shaded:
			b.WriteRune('░')
		default:
			b.WriteRune(' ')
		}
	}
	return b.String()
}

// timeAxis returns a line with ticks, and the times below them.
func timeAxis(columns int, width time.Duration) (line, labels string) {
	const apart = 10 // columns from one tick to the next, at least, so that the times do not touch
	span := time.Duration(columns) * width
	tick := stepOf(span, max(columns/apart, 1))
	var below strings.Builder
	marks := []rune(strings.Repeat("─", columns))
	for at := time.Duration(0); at < span; at += tick {
		column := int(at / width)
		marks[column] = '┬'
		if column+len(axisTime(at)) <= columns { // or its time would stand out
			below.WriteString(strings.Repeat(" ", column-below.Len()) + axisTime(at))
		}
	}
	return string(marks), below.String()
}

// axisTime returns the time of a tick.
func axisTime(at time.Duration) string {
	if at == 0 {
		return "0"
	}
	return term.Span(at)
}
