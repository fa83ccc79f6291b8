package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// spanUnits are the units of a span. A unit is used only in a span that is longer than above.
var spanUnits = []struct {
	size, above time.Duration
	name        string
}{{day, 4 * day, "d"}, {time.Hour, 4 * time.Hour, "h"}, {time.Minute, 0, "min"}}

// Span returns a duration for a person, exact to the millisecond. Up to four hours it counts in minutes, as
// RN-BIL-005 states its waits; up to four days in hours; then in days: 1.5 s, 4 min 30 s, 90 min, 13 h 55
// min, 72 h, 7 d.
func (p *Printer) Span(d time.Duration) string {
	rest := d.Round(time.Millisecond)
	if rest == 0 {
		return "0 min"
	}
	var parts []string
	for _, unit := range spanUnits {
		if n := int64(rest / unit.size); n > 0 && d > unit.above {
			parts = append(parts, fmt.Sprintf("%d %s", n, unit.name))
			rest %= unit.size
		}
	}
	if rest != 0 {
		parts = append(parts, strconv.FormatFloat(rest.Seconds(), 'f', -1, 64)+" s")
	}
	return p.Decimal(strings.Join(parts, " "))
}

// About returns [Printer.Span] of a measured duration without what is too fine for its length: up to ten
// minutes in whole seconds, up to four days in whole minutes, then in whole hours. Below 0 it counts as 0.
func (p *Printer) About(d time.Duration) string {
	unit := time.Hour
	switch d = max(d, 0); {
	case d < 10*time.Minute:
		unit = time.Second
	case d <= 4*day:
		unit = time.Minute
	}
	return p.Span(d.Truncate(unit))
}

// Range is a band of spans as an argument of a [Message]: 8 to 12 min.
type Range struct{ Shortest, Longest time.Duration }

func (p *Printer) between(r Range) string {
	from, to := p.Span(r.Shortest), p.Span(r.Longest)
	if from == to {
		return to
	}
	number, unit, _ := strings.Cut(from, " ")
	if _, other, _ := strings.Cut(to, " "); unit == other {
		from = number
	}
	return p.Sprintf("%s to %s", from, to)
}
