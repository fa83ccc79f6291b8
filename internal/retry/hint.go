package retry

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/evidence"
)

// Hint is when the other side asked to be tried again: after a duration, or not before a time. The zero value is none.
type Hint struct {
	Source HintSource
	// After is the duration; Until is the time, zero if a duration was given.
	After time.Duration
	Until time.Time
}

// HintSource is where a hint was found.
type HintSource string

// The sources of a hint, in the order in which they are read.
const (
	// HintVariable: the job's variable retryAfter.
	HintVariable HintSource = "VARIABLE"
	// HintText: Retry-After in the error text.
	HintText HintSource = "TEXT"
	// HintWindow: the window for submissions that an insurer names when it refuses one as out of time (TISS, Tabela 38, 3091
	// and 3161).
	HintWindow HintSource = "WINDOW"
)

// The patterns read texts in upper case.
var (
	// retryAfter finds "Retry-After: 120" as programs log it: a line, JSON, a header map of Go, Java, Python or Ruby. It has
	// four groups: a time, or seconds with their fraction, and what shows that the number is no count of seconds.
	retryAfter = regexp.MustCompile(`RETRY[-_ ]?AFTER(?:\\?["']?\s*(?:=>|[:=])|["']\s*,)\s*\[?\\?["']?\s*(?:` +
		`([A-Z]{3}, \d\d [A-Z]{3} \d{4} \d\d:\d\d:\d\d GMT` + // the date of today's HTTP, and its two older forms
		`|[A-Z]{6,9}, \d\d-[A-Z]{3}-\d\d \d\d:\d\d:\d\d GMT` +
		`|[A-Z]{3} [A-Z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}` +
		`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d))` +
		`|(\d+)(\.\d+)?(?:S\b|\b)([-/:.,]\d|\s*(?:MS|MILLI|MIN|M\b|HOUR|HORA|H\b|DAY|DIA|D\b|ATTEMPT|TENTATIVA|RETR|TRY|TRIES|TIMES))?)`)
	// window finds "PERÍODO DE 01/12/2026 ATÉ 10/12/2026", with or without times of the day and the century, and with
	// letters that an older system has spoilt.
	window = regexp.MustCompile(`PER\S{1,4}ODO\s+DE\s+(\d\d[/-]\d\d[/-](?:\d\d)?\d\d)(?:\s+(\d\d:\d\d)(?::\d\d)?)?\s+(?:AT\S{1,4}|[AÀ])\s+(\d\d[/-]\d\d[/-](?:\d\d)?\d\d)\b`)
)

// maxFound bounds how many hints of a text are looked at.
const maxFound = 8

// findHint returns what the other side asked for: in the job's variable, else in the error text. A time that has come is no
// hint, because it says nothing about how long to wait now.
func (p *Policy) findHint(r *Request, t *evidence.Text, now time.Time) Hint {
	if h := r.RetryAfter; h != (Hint{}) && !h.over(now) {
		return h
	}
	if t.HasRetryAfter() {
		for _, found := range retryAfter.FindAllStringSubmatch(t.Upper(), maxFound) {
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
	for _, found := range window.FindAllStringSubmatch(upper, maxFound) {
		clock := cmp.Or(found[2], "00:00")
		begin, beginErr := p.parseDay(found[1], clock)
		last, lastErr := p.parseDay(found[3], "23:59")
		if beginErr != nil || lastErr != nil || last.Before(begin) {
			continue
		}
		if begin.Format("15:04") != clock { // that hour was left out when clocks were put forward
			begin = begin.Add(time.Hour)
		}
		if begin.After(now) && (next.Until.IsZero() || begin.Before(next.Until)) {
			next = Hint{Source: HintWindow, Until: begin}
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
