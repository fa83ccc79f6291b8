package retry

import (
	"errors"
	"strings"
	"time"

	"github.com/sosodev/duration"
)

// FormatDuration returns a duration as a policies file has it: 5m and 1h36m, not 5m0s and 1h36m0s.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// span is a duration in a message, which is formatted when the message is printed.
type span time.Duration

// String returns the duration by [FormatDuration].
func (s span) String() string { return FormatDuration(time.Duration(s)) }

// maxDays bounds an ISO 8601 duration. A [time.Duration] holds nearly three times as much.
const maxDays = 100 * 365

// ParseDuration parses a duration of a policies file or a task header: 500ms, 90s, 5m, 24h, or in ISO 8601 PT5M or P1D. It
// refuses years and months, which have no fixed length.
func ParseDuration(text string) (time.Duration, error) {
	if !strings.HasPrefix(text, "P") {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, errors.New("is no duration such as 500ms, 90s, 5m or 24h, or PT5M")
		}
		return d, nil
	}
	iso, err := duration.Parse(text)
	if err != nil || iso.Years != 0 || iso.Months != 0 || strings.Trim(text, "PT") == "" {
		return 0, errors.New("is no ISO 8601 duration of days, hours, minutes and seconds, such as PT5M or P1D")
	}
	d := iso.ToTimeDuration().Round(time.Microsecond) // its seconds are a float: some nanoseconds off after a month
	if days := iso.Weeks*7 + iso.Days + iso.Hours/24 + iso.Minutes/(24*60) + iso.Seconds/(24*60*60); days > maxDays || d < 0 {
		return 0, errors.New("is too long, or negative")
	}
	return d, nil
}
