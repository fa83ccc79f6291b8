package retry

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxOutsideText is the most bytes of a value from another system that are read.
const maxOutsideText = 128

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
	t, ok := readTime(text, zone)
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
	h.Source = HintVariable
	if seconds, isNumber := readNumber(text); isNumber {
		h.After = wholeSeconds(seconds)
		return h, ""
	}
	if strings.HasPrefix(text, "P") {
		d, err := ParseDuration(text)
		if err != nil {
			return Hint{}, IgnoredUnreadable
		}
		h.After = wholeSeconds(d.Seconds())
		return h, ""
	}
	until, ok := readTime(text, zone)
	switch {
	case !ok:
		return Hint{}, IgnoredUnreadable
	case until.Before(FirstTime):
		return Hint{}, IgnoredYear
	}
	h.Until = until
	return h, ""
}

// wholeSeconds returns a number of seconds rounded up, at most a year: never earlier than the other side said.
func wholeSeconds(n float64) time.Duration {
	return time.Duration(min(math.Ceil(n), maxWait.Seconds())) * time.Second
}

var plainNumber = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?$`)

// readNumber reads a number in digits, which may have a fraction. One that is too large is infinite.
func readNumber(text string) (n float64, ok bool) {
	if len(text) > maxOutsideText || !plainNumber.MatchString(text) {
		return 0, false
	}
	n, _ = strconv.ParseFloat(text, 64)
	return n, true
}

// httpDates are the three forms of a date in HTTP (RFC 9110 section 5.6.7), of which servers send the first.
var httpDates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// localDates are dates and times without a zone.
var localDates = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "02/01/2006 15:04:05", "02/01/2006 15:04"}

// readTime reads RFC 3339, an HTTP date, or a local date and time in a zone.
func readTime(text string, zone *time.Location) (t time.Time, ok bool) {
	if len(text) > maxOutsideText {
		return time.Time{}, false
	}
	if t, err := parseInstant(text); err == nil {
		return t, true
	}
	if t, ok := readLayout(text, time.UTC, httpDates); ok {
		return t, true
	}
	return readLayout(text, zone, localDates)
}

func readLayout(text string, zone *time.Location, layouts []string) (t time.Time, ok bool) {
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// ParseRetryUntil reads a deadline, which a person wrote, and therefore strictly: RFC 3339, also with the name of the zone
// after it, as the broker writes FEEL's now(): "2026-11-21T05:37:53.539Z[Etc/UTC]". A time without a zone, as Java's
// LocalDateTime prints it, is read in the given one. A time before 2000 is refused: it is what an unset variable turns into,
// and the zero time would mean that there is none.
func ParseRetryUntil(text string, zone *time.Location) (t time.Time, ok bool) {
	t, err := parseInstant(text)
	if err != nil {
		t, ok = readLayout(text, zone, []string{"2006-01-02T15:04:05", "2006-01-02T15:04"})
	}
	if err != nil && !ok || t.Before(FirstTime) {
		return time.Time{}, false
	}
	return t, true
}

// parseInstant reads RFC 3339, also with the name of a zone in brackets after it.
func parseInstant(text string) (time.Time, error) {
	instant, zone, named := strings.Cut(text, "[")
	if named != strings.HasSuffix(zone, "]") {
		return time.Time{}, errors.New("the name of the zone is cut off")
	}
	return time.Parse(time.RFC3339, instant)
}
