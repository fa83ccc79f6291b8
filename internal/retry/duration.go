package retry

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sosodev/duration"
	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/text"
)

// Duration is a duration of a policies file, as [ParseDuration] reads it; 0 where none is stated.
type Duration time.Duration

// String returns the duration as a policies file has it: 5m and 1h36m, not 5m0s and 1h36m0s.
func (d Duration) String() string {
	return strings.Replace(strings.Replace(time.Duration(d).String(), "m0s", "m", 1), "h0m", "h", 1)
}

// MarshalText writes what String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalYAML reads a duration of a file. Its error is a [yaml.TypeError], which the decoder collects, so
// that all faults of a file are reported at once.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	read, err := ParseDuration(node.Value)
	if err != nil || read < 0 {
		const form = "line %d: %s must be a duration with its unit, such as 500ms, 90s, 5m or 24h, or PT5M"
		value := strconv.Quote(text.Shorten(node.Value, 60))
		return &yaml.TypeError{Errors: []string{fmt.Sprintf(form, node.Line, value)}}
	}
	*d = Duration(read)
	return nil
}

// maxDays bounds an ISO 8601 duration. A [time.Duration] holds nearly three times as much.
const maxDays = 100 * 365

// ParseDuration parses a duration of a policies file or a task header: 500ms, 90s, 5m, 24h, or in ISO 8601
// PT5M or P1D. It refuses years and months, which have no fixed length.
func ParseDuration(written string) (time.Duration, error) {
	if d, err := time.ParseDuration(written); err == nil {
		return d, nil
	}
	iso, err := duration.Parse(written)
	if err != nil || iso.Years != 0 || iso.Months != 0 || strings.Trim(written, "PT") == "" {
		return 0, errors.New("is no duration such as 500ms, 90s, 5m or 24h, or in ISO 8601 PT5M or P1D")
	}
	d := iso.ToTimeDuration().Round(time.Microsecond) // its seconds are a float, which is not exact
	days := iso.Weeks*7 + iso.Days + iso.Hours/24 + iso.Minutes/(24*60) + iso.Seconds/(24*60*60)
	if days > maxDays || d < 0 {
		return 0, errors.New("is too long, or negative")
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
func (d *ISODuration) UnmarshalText(written []byte) error {
	read, err := ParseDuration(string(written))
	*d = ISODuration(read)
	return err
}
