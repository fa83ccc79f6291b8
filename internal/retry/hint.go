package retry

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Hint is what the other side said about when to come back: after a span, or not before a time. The zero value is none.
type Hint struct {
	Source HintSource
	// After is the span; Until is the time, and zero where a span was given.
	After time.Duration
	Until time.Time
}

// HintSource says where a hint was found.
type HintSource string

// The sources of a hint.
const (
	// HintVariable: the job's variable retryAfter.
	HintVariable HintSource = "VARIABLE"
	// HintText: Retry-After in the error text.
	HintText HintSource = "TEXT"
	// HintWindow: the window for submissions that an insurer names in a 3091 answer.
	HintWindow HintSource = "WINDOW"
)

// maxHint bounds what is read of a hint; the policy's Max is far below.
const maxHint = maxWait

// ParseRetryAfter reads what HTTP's Retry-After holds (RFC 9110 section 10.2.3): seconds, or a date in one of the three
// forms that HTTP allows. A span longer than a year counts as a year.
func ParseRetryAfter(value string) (h Hint, ok bool) {
	value = strings.TrimSpace(value)
	if value != "" && strings.Trim(value, "0123456789") == "" {
		return Hint{After: seconds(value)}, true
	}
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		if until, err := time.Parse(layout, value); err == nil {
			return Hint{Until: until}, true
		}
	}
	return Hint{}, false
}

func seconds(digits string) time.Duration {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > int64(maxHint/time.Second) { // too many digits: longer than any wait
		return maxHint
	}
	return time.Duration(n) * time.Second
}

// The patterns read texts in upper case.
var (
	// retryAfter finds "Retry-After: 120", also as JSON or a logged header map, and as an HTTP date.
	retryAfter = regexp.MustCompile(`RETRY[-_ ]?AFTER\\?["']?\s*[:=]\s*\[?\\?["']?\s*(\d{1,12}\b|(?:MON|TUE|WED|THU|FRI|SAT|SUN)[A-Z]*,? [0-9A-Z: -]{15,30})`)
	// window finds "PERÍODO DE 01/12/2026 ATÉ 10/12/2026", with or without times of the day.
	window = regexp.MustCompile(`PER[IÍ]ODO\s+DE\s+(\d{2}/\d{2}/\d{4})(?:\s+(\d{2}:\d{2})(?::\d{2})?)?\s+(?:AT[EÉ]|A)\s+(\d{2}/\d{2}/\d{4})(?:\s+(\d{2}:\d{2})(?::\d{2})?)?`)
)

// findHint looks for a hint in an error text in upper case. An HTTP date is understood in upper case too.
func (p *Policy) findHint(text string, now time.Time) Hint {
	if strings.Contains(text, "RETRY") {
		if found := retryAfter.FindStringSubmatch(text); found != nil {
			if h, ok := ParseRetryAfter(datePart(found[1])); ok {
				h.Source = HintText
				return h
			}
		}
	}
	if strings.Contains(text, "3091") {
		return p.findWindow(text, now)
	}
	return Hint{}
}

// datePart cuts off what stands behind a date.
func datePart(text string) string {
	if date, _, found := strings.Cut(text, "GMT"); found {
		return date + "GMT"
	}
	return strings.TrimSpace(text)
}

// findWindow is the next window of a 3091 answer that has not begun. One that is open, or over, is no hint.
func (p *Policy) findWindow(text string, now time.Time) (next Hint) {
	for _, found := range window.FindAllStringSubmatch(text, 8) {
		clock := found[2]
		if clock == "" {
			clock = "00:00"
		}
		begin, err := time.ParseInLocation("02/01/2006 15:04", found[1]+" "+clock, p.Zone)
		if err != nil || !begin.After(now) {
			continue
		}
		if next.Until.IsZero() || begin.Before(next.Until) {
			next = Hint{Source: HintWindow, Until: begin}
		}
	}
	return next
}

// wait is how long the hint asks to wait from now on, in whole units of the policy's precision, rounded up: never earlier
// than the other side said. It is bounded by Min and Max.
func (p *Policy) hinted(h Hint, now time.Time) (time.Duration, Bounds) {
	asked := h.After
	if !h.Until.IsZero() {
		asked = min(max(h.Until.Sub(now), 0), maxHint)
	}
	wait := ceil(min(asked, maxHint), p.Precision)
	switch {
	case wait < p.Min:
		return p.Min, BoundMin
	case wait > p.Max:
		return p.Max, BoundMax
	default:
		return wait, 0
	}
}
