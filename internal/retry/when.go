package retry

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The years of a sane time, [FirstTime, afterTimes): 2000 to 2099. A date before is what an unset variable of another
// system becomes: 0001, 1899, 1970.
var (
	// FirstTime is the earliest time that is accepted as a value.
	FirstTime  = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	afterTimes = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// ParseLastSubmissionTime reads the job's variable lastSubmissionTime: RFC 3339, an HTTP date, seconds since 1970,
// yyyy-mm-dd hh:mm[:ss] or dd/mm/yyyy hh:mm[:ss]. A time without a zone is read in the given one.
//
// A blank text is no time and no fault. Where reason is not empty, the text is to be ignored.
func ParseLastSubmissionTime(text string, zone *time.Location) (t time.Time, reason IgnoredReason) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, ""
	}
	t, ok := readTime(text, zone, layouts)
	if seconds, isNumber := readNumber(text); isNumber {
		t, ok = time.UnixMilli(int64(min(seconds, math.MaxInt32*10)*1000)).UTC(), true
	}
	switch {
	case !ok:
		return time.Time{}, IgnoredUnreadable
	case t.Before(FirstTime) || !t.Before(afterTimes):
		return time.Time{}, IgnoredYear
	default:
		return t, ""
	}
}

// ParseRetryAfter reads the job's variable retryAfter: seconds, a duration of ISO 8601 such as PT5M, or a time as
// [ParseLastSubmissionTime] does, but for seconds since 1970. A duration is in whole seconds, rounded up, and at most a year.
//
// A blank text is no hint and no fault. Where reason is not empty, the text is to be ignored.
func ParseRetryAfter(text string, zone *time.Location) (h Hint, reason IgnoredReason) {
	if text = strings.TrimSpace(text); text == "" {
		return Hint{}, ""
	}
	seconds, isSpan := readNumber(text)
	if d, err := ParseDuration(text); err == nil && text[0] == 'P' {
		seconds, isSpan = d.Seconds(), true
	}
	if isSpan { // never earlier than the other side said
		return Hint{Source: HintVariable, After: time.Duration(min(math.Ceil(seconds), maxWait.Seconds())) * time.Second}, ""
	}
	until, ok := readTime(text, zone, layouts)
	switch {
	case !ok:
		return Hint{}, IgnoredUnreadable
	case until.Before(FirstTime):
		return Hint{}, IgnoredYear
	default:
		return Hint{Source: HintVariable, Until: until}, ""
	}
}

// ParseRetryUntil reads a deadline, which a person wrote, and therefore strictly: RFC 3339, or a time without a zone, as Java's
// LocalDateTime prints it, which is read in the given one. A time before 2000 is refused: it is what an unset variable turns
// into, and the zero time would mean that there is none.
func ParseRetryUntil(text string, zone *time.Location) (t time.Time, ok bool) {
	if t, ok = readTime(text, zone, layouts[:2]); !ok || t.Before(FirstTime) {
		return time.Time{}, false
	}
	return t, true
}

// plainNumber is a number in digits, so many that it is larger than any time.
var plainNumber = regexp.MustCompile(`^[0-9]{1,120}(?:\.[0-9]{1,20})?$`)

// readNumber reads a number in digits, which may have a fraction.
func readNumber(text string) (n float64, ok bool) {
	if !plainNumber.MatchString(text) {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// layouts are the times that are read beside RFC 3339: dates and times without a zone, those of Java first, and the three forms
// of a date in HTTP (RFC 9110 section 5.6.7), of which servers send the first. These are in UTC.
var layouts = []string{
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04",
	"02/01/2006 15:04:05",
	"02/01/2006 15:04",
	"Mon, 02 Jan 2006 15:04:05 GMT",
	"Monday, 02-Jan-06 15:04:05 GMT",
	time.ANSIC,
}

// readTime reads RFC 3339, also with the name of the zone after it, as the broker writes FEEL's now():
// "2026-11-21T05:37:53.539Z[Etc/UTC]". Else it reads one of the layouts, in a zone.
func readTime(text string, zone *time.Location, layouts []string) (t time.Time, ok bool) {
	instant, name, named := strings.Cut(text, "[")
	if t, err := time.Parse(time.RFC3339, instant); err == nil && named == strings.HasSuffix(name, "]") {
		return t, true
	}
	for _, layout := range layouts {
		in := zone
		if layout[0] == 'M' {
			in = time.UTC
		}
		if t, err := time.ParseInLocation(layout, text, in); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
