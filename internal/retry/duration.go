package retry

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/sosodev/duration"
)

// Duration is a duration of a policies file, as [ParseDuration] reads it; 0 where none is stated.
type Duration time.Duration

// String returns the duration as a policies file has it: 5m and 1h36m, not 5m0s and 1h36m0s.
func (d Duration) String() string {
	return strings.Replace(strings.Replace(time.Duration(d).String(), "m0s", "m", 1), "h0m", "h", 1)
}

// MarshalText writes what String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what [ParseDuration] does.
func (d *Duration) UnmarshalText(text []byte) error {
	read, err := ParseDuration(string(text))
	*d = Duration(read)
	return err
}

// maxDays bounds a duration. A [time.Duration] holds nearly three times as much.
const maxDays = 100 * 365

var errTooLong = errors.New("is too long, or negative")

// ParseDuration parses a duration of a policies file or a task header: 500ms, 90s, 5m, 24h, or in ISO 8601
// PT5M or P1D. It refuses what is negative, and years and months, which have no fixed length.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil || d < 0:
	case d > maxDays*24*time.Hour:
		return 0, errTooLong
	default:
		return d, nil
	}
	iso, err := duration.Parse(text)
	if err != nil || iso.Years != 0 || iso.Months != 0 || strings.Trim(text, "PT") == "" {
		return 0, errors.New("is no duration such as 500ms, 90s, 5m or 24h, or in ISO 8601 PT5M or P1D")
	}
	d = iso.ToTimeDuration().Round(time.Microsecond) // its seconds are a float, which is not exact
	days := iso.Weeks*7 + iso.Days + iso.Hours/24 + iso.Minutes/(24*60) + iso.Seconds/(24*60*60)
	if days > maxDays || d < 0 {
		return 0, errTooLong
	}
	return d, nil
}

// ISODuration is a duration that is ISO 8601 in JSON, as a timer event reads it. It is not negative and in
// whole milliseconds.
type ISODuration time.Duration

// String writes whole minutes as minutes, PT43M, and others in seconds, PT0.75S.
func (d ISODuration) String() string {
	if span := time.Duration(d); span%time.Minute != 0 {
		return "PT" + strconv.FormatFloat(float64(span.Milliseconds())/1000, 'f', -1, 64) + "S"
	}
	return "PT" + strconv.FormatInt(int64(d)/int64(time.Minute), 10) + "M"
}

// MarshalText writes what String does.
func (d ISODuration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what [ParseDuration] does.
func (d *ISODuration) UnmarshalText(text []byte) error { return (*Duration)(d).UnmarshalText(text) }
