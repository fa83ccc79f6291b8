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

// written returns the values of a message with their durations formatted.
func written(values []any) []any {
	for i, value := range values {
		if d, ok := value.(time.Duration); ok {
			values[i] = FormatDuration(d)
		}
	}
	return values
}
