package retry

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxOutsideText is the most bytes of a value from another system that are read; the longest known form, a repeated
// HTTP date, has fewer.
const maxOutsideText = 128

// The years of a sane time, [FirstTime, afterTimes): 2000 to 2099. A date before is what an unset variable of another
// system becomes: 0001, 1899, 1970.
var (
	// FirstTime is the earliest time that is accepted as a value.
	FirstTime  = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	afterTimes = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// ParseLastSubmissionTime reads the job's variable lastSubmissionTime. In addition to RFC 3339 it reads the times that databases,
// logs, HTTP and other programming languages write, Brazilian dates (day first), and numbers: seconds or milliseconds since
// 1970, or digits as HL7 writes a time. A time without a zone is read in the given one.
//
// A blank text is no time and no fault. Where reason is not empty, the text is to be ignored.
func ParseLastSubmissionTime(text string, zone *time.Location) (t time.Time, reason IgnoredReason) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return time.Time{}, ""
	case len(text) > maxOutsideText:
		return time.Time{}, IgnoredUnreadable
	case text[0] == '-' && isNumber(text[1:]):
		return time.Time{}, IgnoredNegative
	}
	t, ok := readRFC3339(text)
	if !ok {
		t, ok = readEpoch(text, FirstTime)
	}
	if !ok {
		t, ok = readTime(text, zone)
	}
	switch {
	case ok && !t.Before(FirstTime) && t.Before(afterTimes):
		return t, ""
	case ok || isNumber(text):
		return time.Time{}, IgnoredYear
	default:
		return time.Time{}, IgnoredUnreadable
	}
}

// readRFC3339 reads the form that most jobs have. readTime reads it too, but for the price of a whole decision.
func readRFC3339(text string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || strings.HasPrefix(text[len(text)-3:], ":6") { // an offset of 60 minutes, which the package time takes
		return time.Time{}, false
	}
	_, east := t.Zone()
	return t, east > -15*60*60 && east < 15*60*60 // as zoneOf has it
}

// readEpoch reads a number of seconds or milliseconds since 1970 that lies from a time on and before 2100. No number is
// both.
func readEpoch(text string, from time.Time) (t time.Time, ok bool) {
	if !isNumber(text) {
		return time.Time{}, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return time.Time{}, false
	}
	first, after := float64(from.Unix()), float64(afterTimes.Unix())
	switch {
	case n >= first && n < after:
		return time.UnixMilli(int64(math.Round(n * 1000))).UTC(), true
	case n >= first*1000 && n < after*1000:
		return time.UnixMilli(int64(math.Round(n))).UTC(), true
	default:
		return time.Time{}, false
	}
}

var plainNumber = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?$`)

func isNumber(text string) bool { return plainNumber.MatchString(text) }

var (
	// zoneName is the name of a zone behind a time, as Java and FEEL write it: [Etc/UTC] or @Etc/UTC.
	zoneName = regexp.MustCompile(`^(.*[0-9Z])(?:\[([A-Z0-9_+/-]+)\]|@([A-Z0-9_+/-]+))$`)
	// remark is the zone in words behind an offset: "-0300 (Brasilia Standard Time)" of RFC 5322 and JavaScript.
	remark = regexp.MustCompile(` \([^()]*\)$`)
	// offsetBehind and offsetBeforeYear find the zone of a time: "10:00:00-03:00", "10:00:00 UTC", "20261121100000-0300" and
	// "10:00:00 BRT 2026".
	offsetBehind     = regexp.MustCompile(`^(.*(?::[0-9]{2}|[0-9]{8}T?[0-9]{4,6})(?:[.,][0-9]+)?) ?(` + offset + `)(?: UTC)?$`)
	offsetBeforeYear = regexp.MustCompile(`^(.*:[0-9]{2}) (` + offset + `) ([0-9]{4})$`)
	// betweenDayAndTime is what stands there: a T, or the comma of "21/11/2026, 10:00:00".
	betweenDayAndTime = regexp.MustCompile(`^([0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{2}[-/][0-9]{2}[-/][0-9]{4})(?:T|, ?)([0-9])`)
)

// offset is a zone that names one offset from UTC and no other. BRT and BRST are what Java calls the time of São Paulo.
const offset = `Z|(?:GMT|UTC)?[+-][0-9]{2}(?::?[0-9]{2})?|GMT|UTC|UT|BRT|BRST`

// readTime reads a time in any form that is known. It is the reader of what other systems write; what a person writes is
// read more strictly.
func readTime(text string, zone *time.Location) (t time.Time, ok bool) {
	text = remark.ReplaceAllString(strings.ToUpper(text), "")
	named := ""
	if found := zoneName.FindStringSubmatch(text); found != nil {
		text, named = found[1], found[2]+found[3]
	}
	body, mark := text, ""
	if found := offsetBehind.FindStringSubmatch(text); found != nil {
		body, mark = found[1], found[2]
	} else if found := offsetBeforeYear.FindStringSubmatch(text); found != nil {
		body, mark = found[1]+" "+found[3], found[2]
	}
	in, known := zoneOf(mark, named, zone)
	if !known {
		return time.Time{}, false
	}
	body = betweenDayAndTime.ReplaceAllString(body, "$1 $2")
	if t, ok = readLayout(body, in, numericLayouts); ok {
		return t, true
	}
	if mark != "" {
		return readLayout(body, in, namedLayouts)
	}
	return readLayout(body, time.UTC, []string{time.ANSIC}) // the one date of HTTP without a zone
}

// numericLayouts are dates in digits, their day last or, as Brazil writes it, first.
var numericLayouts = []string{
	"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02",
	"02/01/2006 15:04:05", "02/01/2006 15:04", "02/01/2006", "02-01-2006 15:04:05", "02-01-2006 15:04", "02-01-2006",
	"20060102T150405", "20060102150405", "200601021504", "20060102",
}

// namedLayouts are dates with the name of the month. Without a zone nobody knows whether HTTP's or a local time is meant.
var namedLayouts = []string{
	"Mon, 2 Jan 2006 15:04:05", "Monday, 02-Jan-06 15:04:05", "Mon, 02-Jan-2006 15:04:05", "2 Jan 2006 15:04:05",
	time.ANSIC, "Mon Jan 02 2006 15:04:05",
}

func readLayout(text string, zone *time.Location, layouts []string) (t time.Time, ok bool) {
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// zoneOf returns the zone of a time: that of its offset, else the one that is named, else the given one. A name is known
// only where it is the given zone's or UTC's; next to an offset it says nothing more.
func zoneOf(offset, named string, zone *time.Location) (in *time.Location, known bool) {
	switch offset {
	case "Z", "GMT", "UTC", "UT":
		return time.UTC, true
	case "BRT":
		return time.FixedZone("", -3*60*60), true
	case "BRST":
		return time.FixedZone("", -2*60*60), true
	case "":
		switch named {
		case "", strings.ToUpper(zone.String()):
			return zone, true
		case "Z", "GMT", "UTC", "ETC/UTC", "ETC/GMT":
			return time.UTC, true
		}
		return nil, false
	}
	sign := strings.IndexAny(offset, "+-")
	digits := strings.ReplaceAll(offset[sign+1:], ":", "") + "00"
	hours, _ := strconv.Atoi(digits[:2]) // the pattern has found digits
	minutes, _ := strconv.Atoi(digits[2:4])
	east := hours*60*60 + minutes*60
	if offset[sign] == '-' {
		east = -east
	}
	return time.FixedZone("", east), hours <= 14 && minutes < 60
}

// ParseRetryUntil reads a deadline, which a person wrote, and therefore strictly: RFC 3339, also with the name of the zone
// after it, as the broker writes FEEL's now(): "2026-11-21T05:37:53.539Z[Etc/UTC]". A time without a zone, as Java's
// LocalDateTime prints it, is read in the given one. A time before 2000 is refused: it is what an unset variable turns into,
// and the zero time would mean that there is none.
func ParseRetryUntil(text string, zone *time.Location) (t time.Time, ok bool) {
	t, err := parseInstant(text)
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if err != nil {
			t, err = time.ParseInLocation(layout, text, zone)
		}
	}
	if err != nil || t.Before(FirstTime) {
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
