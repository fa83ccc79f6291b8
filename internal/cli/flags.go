package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/simulate"
)

const day = 24 * time.Hour

// notation is a flag whose values are written in a way of their own.
type notation struct {
	kind string // as the help names it
	text string // what was given, or the default
	read func(text string) error
}

// Set reads a value.
func (n *notation) Set(text string) error {
	n.text = text
	return n.read(text)
}

// String returns the value as it was given.
func (n *notation) String() string { return n.text }

// Type names the notation.
func (n *notation) Type() string { return n.kind }

// sinceFlag adds the flag --since, a time that reaches back from now.
func sinceFlag(command *cobra.Command, standard, usage string) *time.Duration {
	return agoFlag(command, "since", standard, usage)
}

// agoFlag adds a flag for how long ago something was; without a standard it is 0 where it is not given.
func agoFlag(command *cobra.Command, name, standard, usage string) *time.Duration {
	since := new(time.Duration)
	read := func(text string) error {
		digits := strings.TrimRight(text, "dhm")
		n, err := strconv.ParseUint(digits, 10, 16)
		unit, known := map[string]time.Duration{"d": day, "h": time.Hour, "m": time.Minute}[text[len(digits):]]
		if err != nil || !known || n == 0 {
			return errors.New("give a whole number of days, hours or minutes, such as 7d, 24h or 90m")
		}
		*since = time.Duration(n) * unit
		return nil
	}
	if standard != "" {
		_ = read(standard)
	}
	command.Flags().Var(&notation{"time", standard, read}, name, usage+", as 7d, 24h or 90m")
	return since
}

// outageFlag adds the flag --outage, which may be given several times.
func outageFlag(command *cobra.Command, into *[]simulate.Outage) {
	command.Flags().Var(&notation{kind: "[BEGIN+]SPAN", read: func(text string) error {
		begin, length, later := strings.Cut(text, "+")
		if !later {
			begin, length = "0s", text
		}
		var spans [2]time.Duration
		for i, part := range []string{begin, length} {
			var err error
			if spans[i], err = retry.ParseDuration(part); err != nil {
				return fmt.Errorf("%q in it %w", part, err)
			}
		}
		*into = append(*into, simulate.Outage{Begin: spans[0], End: spans[0] + spans[1]})
		return nil
	}}, "outage", "when the insurer is down; repeat for several")
}
