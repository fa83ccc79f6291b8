package retry

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/evidence"
)

// Hint is when the other side asked to be tried again: after a duration, or not before a time. The zero value
// is none.
type Hint struct {
	Source HintSource `json:"source"`
	// After is the duration; Until is the time, UTC, in whole seconds, zero if a duration was given.
	After ISODuration `json:"after"`
	Until time.Time   `json:"until"`
}

// MarshalJSON writes the one of the two that was given.
func (h Hint) MarshalJSON() ([]byte, error) {
	if h.Until.IsZero() {
		return fmt.Appendf(nil, `{"source":%q,"after":%q}`, h.Source, h.After), nil
	}
	return fmt.Appendf(nil, `{"source":%q,"until":%q}`, h.Source, h.Until.Format(time.RFC3339)), nil
}

// HintSource is where a hint was found.
type HintSource string

// The sources of a hint, in the order in which they are read.
const (
	// HintVariable: the job's variable retryAfter.
	HintVariable HintSource = "VARIABLE"
	// HintText: Retry-After in the error text.
	HintText HintSource = "TEXT"
	// HintWindow: the window for submissions that an insurer names when it refuses one as out of time (TISS,
	// Tabela 38, 3091 and 3161).
	HintWindow HintSource = "WINDOW"
)

// The patterns read texts in upper case.
var (
	// retryAfter finds "Retry-After: 120" as programs log it: a line, JSON, a header map of Go, Java, Python
	// or Ruby. It has four groups: a time, or seconds with their fraction, and what shows that the number is
	// no count of seconds.
	retryAfter = regexp.MustCompile(`RETRY[-_ ]?AFTER(?:\\?["']?\s*(?:=>|[:=])|["']\s*,)\s*\[?\\?["']?\s*` +
		`(?:([A-Z]{3}, \d\d [A-Z]{3} \d{4} \d\d:\d\d:\d\d GMT` + // the date of HTTP
		`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d))` +
		`|(\d+)(\.\d+)?(?:S\b|\b)([-/:.,]\d|\s*(?:MS|MILLI|MIN|M\b|HOUR|HORA|H\b|DAY|DIA|D\b` +
		`|ATTEMPT|TENTATIVA|RETR|TRY|TRIES|TIMES))?)`)
	// window finds "PERÍODO DE 01/12/2026 ATÉ 10/12/2026", with or without times of the day and the century,
	// and with letters that an older system has spoilt.
	window = regexp.MustCompile(`PER\S{1,4}ODO\s+DE\s+(\d\d[/-]\d\d[/-](?:\d\d)?\d\d)` +
		`(?:\s+(\d\d:\d\d)(?::\d\d)?)?\s+(?:AT\S{1,4}|[AÀ])\s+(\d\d[/-]\d\d[/-](?:\d\d)?\d\d)\b`)
)

// findHint returns what the other side asked for: in the job's variable, else in the error text. A time that
// has come is no hint, because it says nothing about how long to wait now.
func (p *Policy) findHint(r *Request, t *evidence.Text, now time.Time) Hint {
	if h := r.RetryAfter; h != (Hint{}) && !h.over(now) {
		return h
	}
	if t.HasRetryAfter() {
		for _, found := range retryAfter.FindAllStringSubmatch(t.Upper(), -1) {
			date, number, unit := found[1], found[2]+found[3], found[4]
			if h, _ := ParseRetryAfter(date+number, p.Zone); h != (Hint{}) && unit == "" && !h.over(now) {
				h.Source = HintText
				return h
			}
		}
	}
	if t.HasWindow() {
		return p.findWindow(t.Upper(), now)
	}
	return Hint{}
}

func (h Hint) over(now time.Time) bool { return !h.Until.IsZero() && !h.Until.After(now) }

// findWindow returns the next window of the text that has not begun. One that is open, or over, is no hint.
func (p *Policy) findWindow(upper string, now time.Time) (next Hint) {
	for _, found := range window.FindAllStringSubmatch(upper, -1) {
		begin, beginErr := p.parseDay(found[1], cmp.Or(found[2], "00:00"))
		last, lastErr := p.parseDay(found[3], "23:59")
		if beginErr != nil || lastErr != nil || last.Before(begin) {
			continue
		}
		if begin.After(now) && (next.Until.IsZero() || begin.Before(next.Until)) {
			next = Hint{Source: HintWindow, Until: begin.UTC()}
		}
	}
	return next
}

func (p *Policy) parseDay(day, clock string) (time.Time, error) {
	layout := "02/01/2006 15:04"
	if len(day) == len("01/12/26") {
		layout = "02/01/06 15:04"
	}
	return time.ParseInLocation(layout, strings.ReplaceAll(day, "-", "/")+" "+clock, p.Zone)
}
