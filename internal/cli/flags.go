package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// allFlagFaults are all values of flags that cannot be read, where the parser has stopped at the first one. What else can be
// wrong with a flag hides what comes after it, and is told alone.
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

// valueRule says what a flag wants, where it is a number or a truth in plain words.
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
