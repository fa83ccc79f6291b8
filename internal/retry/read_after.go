package retry

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// firstEpoch is the number from which Retry-After is no count of seconds, which would be 31 years, but a time: seconds or
// milliseconds since 1970.
var firstEpoch = time.Unix(1_000_000_000, 0)

// ParseRetryAfter reads the job's variable retryAfter. It holds what HTTP's Retry-After does (RFC 9110 section 10.2.3),
// seconds or a date, or what servers were seen to send instead: a fraction of seconds, a duration (60s, 1m30s, 2 min,
// PT60S), the time in seconds or milliseconds since 1970, a time in another form than HTTP's, or the header twice. A
// duration is in whole seconds, rounded up, and at most a year. A time without a zone is read in the given one.
//
// A blank text is no hint and no fault. Where reason is not empty, the text is to be ignored.
func ParseRetryAfter(text string, zone *time.Location) (h Hint, reason IgnoredReason) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Hint{}, ""
	case len(text) > maxOutsideText:
		return Hint{}, IgnoredUnreadable
	}
	h, form := readAfter(text, zone)
	if form == noForm {
		h, form = readRepeated(text, zone)
	}
	switch {
	case form == ambiguous:
		return Hint{}, IgnoredAmbiguous
	case form == noForm:
		if _, form := readAfter(strings.TrimPrefix(text, "-"), zone); text[0] == '-' && (form == asNumber || form == asDuration) {
			return Hint{}, IgnoredNegative
		}
		return Hint{}, IgnoredUnreadable
	case form == asTime && h.Until.Before(FirstTime):
		return Hint{}, IgnoredYear
	default:
		h.Source = HintVariable
		return h, ""
	}
}

// afterForm is the form in which a hint is written.
type afterForm uint8

const (
	noForm afterForm = iota
	asNumber
	asDuration
	asTime
	// ambiguous: a list whose parts do not agree.
	ambiguous
)

// readAfter reads one value of Retry-After.
func readAfter(text string, zone *time.Location) (Hint, afterForm) {
	if t, ok := readEpoch(text, firstEpoch); ok {
		return Hint{Until: t}, asTime
	}
	if isNumber(text) {
		n, _ := strconv.ParseFloat(text, 64) // too large is infinite
		return Hint{After: wholeSeconds(n)}, asNumber
	}
	if n, ok := readSpan(text); ok {
		return Hint{After: wholeSeconds(n)}, asDuration
	}
	if t, ok := readTime(text, zone); ok {
		return Hint{Until: t}, asTime
	}
	return Hint{}, noForm
}

// maxRepeats is how many values of a repeated header are read.
const maxRepeats = 8

// readRepeated reads a header that was sent more than once: its values are joined by commas. Equal ones agree. Of different
// numbers, or of different times, the longest holds. "1,5" may be a decimal number as well, and "1 h, 30 min" a sum: what
// is not surely a list is ambiguous.
func readRepeated(text string, zone *time.Location) (longest Hint, form afterForm) {
	parts := strings.Split(text, ",")
	if len(parts) < 2 || len(parts) > 2*maxRepeats {
		return Hint{}, noForm
	}
	differ := false
	for i := 0; i < len(parts); i++ {
		h, is := readAfter(strings.TrimSpace(parts[i]), zone)
		if is == noForm && i+1 < len(parts) { // the comma behind the day of the week
			i++
			h, is = readAfter(strings.TrimSpace(parts[i-1]+","+parts[i]), zone)
		}
		switch {
		case is == noForm:
			return Hint{}, noForm
		case form == noForm:
			longest, form = h, is
		case form != is:
			return Hint{}, ambiguous
		case h.After != longest.After || !h.Until.Equal(longest.Until):
			differ = true
			if h.After > longest.After || h.Until.After(longest.Until) {
				longest = h
			}
		}
	}
	if differ && (form == asDuration || form == asNumber && digitCommaDigit.MatchString(text)) {
		return Hint{}, ambiguous
	}
	return longest, form
}

var digitCommaDigit = regexp.MustCompile(`[0-9],[0-9]`)

// wholeSeconds returns a number of seconds rounded up, at most a year: never earlier than the other side said.
func wholeSeconds(n float64) time.Duration {
	n = math.Ceil(n - 1e-6) // 1.1 min are 66.00000000000001 s
	if n >= maxHint.Seconds() {
		return maxHint
	}
	return time.Duration(max(n, 0)) * time.Second
}

// The units of a duration in seconds, by their names in lower case: those of Go, and English and Portuguese words.
var spanUnits = unitsOf(map[float64]string{
	0.001: "ms msec msecs millis millisecond milliseconds milissegundo milissegundos",
	1:     "s sec secs second seconds seg segundo segundos",
	60:    "m min mins minute minutes minuto minutos",
	3600:  "h hr hrs hour hours hora horas",
	86400: "d day days dia dias",
})

// The units of ISO 8601 before and behind its T. Years and months have no fixed length.
var isoDays, isoTimes = map[string]float64{"w": 7 * 86400, "d": 86400}, map[string]float64{"h": 3600, "m": 60, "s": 1}

func unitsOf(names map[float64]string) map[string]float64 {
	units := map[string]float64{}
	for seconds, all := range names {
		for name := range strings.FieldsSeq(all) {
			units[name] = seconds
		}
	}
	return units
}

// readSpan reads a duration: 60s, 1m30s, 2 min, 1 hour 30 minutes, PT60S, P1DT12H.
func readSpan(text string) (seconds float64, ok bool) {
	text = strings.ToLower(text)
	if iso, is := strings.CutPrefix(text, "p"); is {
		days, times, _ := strings.Cut(iso, "t")
		d, daysOK := sum(days, isoDays)
		t, timesOK := sum(times, isoTimes)
		return d + t, daysOK && timesOK && iso != "" && !strings.HasSuffix(iso, "t")
	}
	if text == "" {
		return 0, false
	}
	return sum(text, spanUnits)
}

var spanPart = regexp.MustCompile(`^([0-9]+(?:[.,][0-9]+)?) ?([a-z]+) ?`)

// sum adds up numbers with their units, each of a smaller unit than the one before. An empty text is 0.
func sum(text string, units map[string]float64) (seconds float64, ok bool) {
	for last := math.Inf(1); text != ""; {
		found := spanPart.FindStringSubmatch(text)
		if found == nil {
			return 0, false
		}
		unit, known := units[found[2]]
		if !known || unit >= last {
			return 0, false
		}
		n, _ := strconv.ParseFloat(strings.Replace(found[1], ",", ".", 1), 64) // too large is infinite
		seconds += n * unit
		last, text = unit, text[len(found[0]):]
	}
	return seconds, true
}
