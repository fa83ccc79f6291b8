package retry

import (
	"strings"
	"time"
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
