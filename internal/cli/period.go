package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// period is a time that a command looks at: from <= t < to. Both are zero where none was given.
type period struct{ from, to time.Time }

// addPeriod adds the flags --from, --to and --month to a command with the flags of [forPeople], in whose zone days begin.
func addPeriod(command *cobra.Command) {
	flags := command.Flags()
	flags.String("from", "", "first `DAY`, as 2026-11-01")
	flags.String("to", "", "last `DAY`, as 2026-11-30")
	flags.String("month", "", "the whole `MONTH`, as 2026-11")
	command.MarkFlagsMutuallyExclusive("month", "from")
	command.MarkFlagsMutuallyExclusive("month", "to")
}

// dayFlag returns the beginning of the day or month that a flag gives; zero for none.
func dayFlag(command *cobra.Command, name, layout string, zone *time.Location) (time.Time, error) {
	value := command.Flag(name).Value.String()
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.ParseInLocation(layout, value, zone)
	if err != nil {
		return t, usageError{fmt.Errorf("--%s is %q but must be like %s", name, value, layout)}
	}
	return t, nil
}

// periodOf returns the period that the flags give.
func periodOf(command *cobra.Command, zone *time.Location) (period, error) {
	month, monthErr := dayFlag(command, "month", "2006-01", zone)
	from, fromErr := dayFlag(command, "from", time.DateOnly, zone)
	to, toErr := dayFlag(command, "to", time.DateOnly, zone)
	if err := errors.Join(monthErr, fromErr, toErr); err != nil {
		return period{}, err
	}
	if !month.IsZero() {
		return period{month, month.AddDate(0, 1, 0)}, nil
	}
	if !to.IsZero() {
		to = to.AddDate(0, 0, 1)
		if !from.Before(to) {
			return period{}, usageError{errors.New("--from is not before --to")}
		}
	}
	return period{from, to}, nil
}
