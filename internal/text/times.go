package text

import (
	"strings"
	"time"
)

// layouts are how a language writes times: to the second, the time of day to the millisecond, and a day.
// English is exact by itself; in Portuguese the zone is only in the line [Printer.Zone].
var layouts = map[Language]struct{ second, clock, day string }{
	English:    {time.RFC3339, "15:04:05.000", time.DateOnly},
	Portuguese: {"02/01/2006 15:04:05", "15:04:05,000", "02/01/2006"},
}

// Zone returns a line that names the zone of the times. An output with times has it once.
func (p *Printer) Zone() string {
	return p.Sprintf("Times: %s", p.zone)
}

// Location returns the zone of the times.
func (p *Printer) Location() *time.Location { return p.zone }

// Day returns the day of an instant.
func (p *Printer) Day(t time.Time) string { return t.In(p.zone).Format(layouts[p.Language()].day) }

// Time returns an instant to the second.
func (p *Printer) Time(t time.Time) string { return t.In(p.zone).Format(layouts[p.Language()].second) }

// Clock returns the time of day of an instant, to the millisecond.
func (p *Printer) Clock(t time.Time) string { return t.In(p.zone).Format(layouts[p.Language()].clock) }

// Decimal returns a text with numbers such as 1.5 with the decimal sign of the language.
func (p *Printer) Decimal(text string) string {
	if p.Language() == Portuguese {
		return strings.ReplaceAll(text, ".", ",")
	}
	return text
}
