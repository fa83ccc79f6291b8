package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
)

// span is a flag for a time that reaches back from now: 7d, 24h or 90m.
type span time.Duration

const day = 24 * time.Hour

var spanUnits = map[string]time.Duration{"d": day, "h": time.Hour, "m": time.Minute}

// Set reads the notation.
func (s *span) Set(text string) error {
	digits := strings.TrimRight(text, "dhm")
	n, err := strconv.ParseUint(digits, 10, 16)
	unit, known := spanUnits[text[len(digits):]]
	if err != nil || !known || n == 0 {
		return errors.New("give a whole number of days, hours or minutes, such as 7d, 24h or 90m")
	}
	*s = span(time.Duration(n) * unit)
	return nil
}

// String writes a default, which is in whole days or hours.
func (s *span) String() string {
	if d := time.Duration(*s); d%day != 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", time.Duration(*s)/day)
}

// Type names the notation in the help.
func (s *span) Type() string { return "time" }

// outages is a flag that may be given several times.
type outages []simulate.Outage

// Set reads SPAN or BEGIN+SPAN.
func (o *outages) Set(text string) error {
	begin, length, later := strings.Cut(text, "+")
	if !later {
		begin, length = "0s", text
	}
	from, err := policy.ParseDuration(begin)
	if err != nil {
		return fmt.Errorf("%q in it %w", begin, err)
	}
	lasts, err := policy.ParseDuration(length)
	if err != nil {
		return fmt.Errorf("%q in it %w", length, err)
	}
	*o = append(*o, simulate.Outage{Begin: from, End: from + lasts})
	return nil
}

// String is empty: there is no default.
func (o *outages) String() string { return "" }

// Type names the notation in the help.
func (o *outages) Type() string { return "[BEGIN+]SPAN" }

// wait is a flag for a span of time in the notation of a policies file.
type wait struct {
	time.Duration
	given bool
}

// Set reads the notation.
func (w *wait) Set(text string) (err error) {
	w.given = true
	if w.Duration, err = policy.ParseDuration(text); err != nil {
		return fmt.Errorf("that %w", err)
	}
	return nil
}

// String writes what was given.
func (w *wait) String() string {
	if !w.given {
		return ""
	}
	return retry.FormatDuration(w.Duration)
}

// Type names the notation in the help.
func (w *wait) Type() string { return "SPAN" }

// rate is a flag for how many things may begin in a time: 10/s, 30/m or 100/h.
type rate struct {
	text string
	// every is the time between two.
	every time.Duration
}

var rateUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}

// leastEvery is the shortest time between two that a rate may ask for.
const leastEvery = time.Millisecond

// Set reads the notation.
func (r *rate) Set(text string) error {
	number, name, _ := strings.Cut(text, "/")
	n, err := strconv.ParseUint(number, 10, 16)
	unit, known := rateUnits[name]
	if err != nil || !known || n == 0 || unit/time.Duration(n) < leastEvery {
		return errors.New("give a number for each second, minute or hour, such as 10/s, 30/m or 100/h, at most 1000/s")
	}
	r.text, r.every = text, unit/time.Duration(n)
	return nil
}

// String is the notation as it was given.
func (r *rate) String() string { return r.text }

// Type names the notation in the help.
func (r *rate) Type() string { return "rate" }

// allFlagFaults returns all values of flags that cannot be read, where the parser has stopped at the first one. Any other
// fault hides the flags after it, and is reported alone.
func allFlagFaults(root *cobra.Command, args []string, first error) error {
	if _, ok := errors.AsType[*pflag.InvalidValueError](first); !ok {
		return first
	}
	command, rest, err := root.Find(args)
	if err != nil {
		return first
	}
	var faults []error
	flags := command.Flags()
	err = flags.ParseAll(rest, func(flag *pflag.Flag, value string) error {
		if err := flag.Value.Set(value); err != nil {
			faults = append(faults, fmt.Errorf("--%s is %q%s", flag.Name, value, valueRule(flag, err)))
		}
		return nil
	})
	return errors.Join(append(faults, err)...)
}

// valueRule words what a flag takes.
func valueRule(flag *pflag.Flag, err error) string {
	if errors.Is(err, strconv.ErrRange) {
		return ", which is too large"
	}
	switch flag.Value.Type() {
	case "int", "int64":
		return " but must be a whole number"
	case "uint64":
		return " but must be a whole number, 0 or more"
	case "float64":
		return " but must be a number"
	case "bool":
		return " but must be true or false"
	case "duration":
		return " but must be a span of time such as 500ms, 90s, 5m or 24h"
	default:
		return fmt.Sprintf("; %v", err)
	}
}
