package retry

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseLastSubmissionTime reads the job's variable lastSubmissionTime: RFC 3339, an HTTP date, seconds since
// 1970, yyyy-mm-dd hh:mm[:ss] or dd/mm/yyyy hh:mm[:ss], from the year 2000 on. A time without a zone is read
// in the given one. A blank text is no time and no fault. Where ok is false, the text is to be ignored.
func ParseLastSubmissionTime(text string, zone *time.Location) (t time.Time, ok bool) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, true
	}
	if date, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", text); err == nil {
		text = date.Format(time.RFC3339)
	} else if since, is := readSeconds(text); is && since < 130*maxWait { // in this century
		text = time.Unix(0, 0).UTC().Add(since).Format(time.RFC3339Nano)
	}
	return readTime(text, zone, layouts)
}

// ParseRetryAfter reads the job's variable retryAfter: seconds, a duration of ISO 8601 such as PT5M, or a
// time as [ParseLastSubmissionTime] does. A duration is in whole seconds, rounded up, and at most a year. A
// blank text is no hint and no fault. Where ok is false, the text is to be ignored.
func ParseRetryAfter(text string, zone *time.Location) (h Hint, ok bool) {
	if text = strings.TrimSpace(text); text == "" {
		return Hint{}, true
	}
	span, ok := readSeconds(text)
	if !ok && text[0] == 'P' {
		var err error
		span, err = ParseDuration(text)
		ok = err == nil
	}
	if ok { // never earlier than the other side said
		return Hint{Source: HintVariable, After: ISODuration(ceil(min(span, maxWait), time.Second))}, true
	}
	until, ok := ParseLastSubmissionTime(text, zone)
	if !ok {
		return Hint{}, false
	}
	return Hint{Source: HintVariable, Until: until.UTC().Add(time.Second - 1).Truncate(time.Second)}, true
}

// ParseRetryUntil reads a deadline, which a person wrote, and therefore strictly: RFC 3339, or a time without
// a zone, as Java's LocalDateTime prints it, which is read in the given one, from the year 2000 on.
func ParseRetryUntil(text string, zone *time.Location) (t time.Time, ok bool) {
	return readTime(text, zone, layouts[:2])
}

// readSeconds reads a number of seconds in digits, which may have a fraction, to the millisecond, rounded up;
// what no Duration holds is the longest.
func readSeconds(text string) (span time.Duration, ok bool) {
	seconds, err := strconv.ParseFloat(text, 64)
	if strings.Trim(text, "0123456789.") != "" || err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	const longest = float64(math.MaxInt64 / time.Millisecond)
	return time.Duration(min(math.Ceil(seconds*1000), longest)) * time.Millisecond, true
}

// layouts are the dates and times without a zone that are read, those of Java first.
var layouts = []string{
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04",
	"02/01/2006 15:04:05",
	"02/01/2006 15:04",
}

// readTime reads RFC 3339, also with the name of the zone after it, as the broker writes FEEL's now(), such
// as 2026-11-21T05:37:53.539Z[Etc/UTC]; else one of the layouts, in a zone. It reads no time before 2000:
// that is what an unset variable of another system becomes, 0001, 1899 or 1970.
func readTime(text string, zone *time.Location, layouts []string) (t time.Time, ok bool) {
	instant, name, named := strings.Cut(text, "[")
	t, err := time.Parse(time.RFC3339, instant)
	if named != strings.HasSuffix(name, "]") {
		return time.Time{}, false
	}
	for i := 0; err != nil && i < len(layouts); i++ {
		t, err = time.ParseInLocation(layouts[i], text, zone)
	}
	if err != nil || t.Year() < 2000 {
		return time.Time{}, false
	}
	return t, true
}
