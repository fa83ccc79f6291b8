package text

import (
	"strings"
	"time"
)

// Zone returns a line that names the zone of the times. An output with times has it once.
func (p *Printer) Zone() string {
	return p.Sprintf("Times: %s", p.zone)
}

// Location returns the zone of the times.
func (p *Printer) Location() *time.Location { return p.zone }

// Day returns the day of an instant.
func (p *Printer) Day(t time.Time) string { return t.In(p.zone).Format(p.day) }

// Time returns an instant to the second.
func (p *Printer) Time(t time.Time) string { return t.In(p.zone).Format(p.second) }

// Clock returns the time of day of an instant, to the millisecond.
func (p *Printer) Clock(t time.Time) string { return t.In(p.zone).Format(p.clock) }

// Decimal returns a text with numbers such as 1.5 with the decimal sign of the language.
func (p *Printer) Decimal(text string) string {
	if p.Language() == Portuguese {
		return strings.ReplaceAll(text, ".", ",")
	}
	return text
}
