package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
)

// period is a time that a command looks at: from <= t < to. Both are zero where none was given.
type period struct{ from, to time.Time }

// addPeriod adds the flags --from, --to and --month to a command with the flags of [forPeople], in whose zone days begin.
func addPeriod(command *cobra.Command) {
	flags := command.Flags()
	dayFlag(command, "from", "first day, as 2026-11-01, or a time in RFC 3339")
	dayFlag(command, "to", "last day, or a time in RFC 3339, not included")
	month := func(text string) error {
		if _, err := time.Parse(monthLayout, text); err != nil {
			return errors.New("give a month, such as 2026-11")
		}
		return nil
	}
	flags.Var(&notation{kind: "MONTH", read: month}, "month", "the whole month, as 2026-11")
}

const (
	monthLayout = "2006-01"
	dayLayout   = time.DateOnly
)

func dayFlag(command *cobra.Command, name, usage string) {
	command.Flags().Var(&notation{kind: "DAY", read: func(text string) error {
		_, _, err := instant(text, time.UTC)
		return err
	}}, name, usage)
}

// instant reads a day, which begins in a zone, or an instant.
func instant(text string, zone *time.Location) (t time.Time, isDay bool, err error) {
	if t, err = time.ParseInLocation(dayLayout, text, zone); err == nil {
		return t, true, nil
	}
	if t, err = time.Parse(time.RFC3339, text); err != nil {
		return t, false, errors.New("give a day such as 2026-11-01, or a time such as 2026-11-01T08:00:00-03:00")
	}
	return t, false, nil
}

// periodOf returns the period that the flags give.
func periodOf(command *cobra.Command, zone *time.Location) (p period, err error) {
	given := func(name string) string { return command.Flag(name).Value.String() }
	from, to, month := given("from"), given("to"), given("month")
	if month != "" {
		if from != "" || to != "" {
			return p, usageError{errors.New("give either --month, or --from and --to")}
		}
		p.from, _ = time.ParseInLocation(monthLayout, month, zone) // the flag has read it
		p.to = p.from.AddDate(0, 1, 0)
		return p, nil
	}
	if from != "" {
		p.from, _, _ = instant(from, zone)
	}
	if to != "" {
		isDay := false
		if p.to, isDay, _ = instant(to, zone); isDay {
			p.to = p.to.AddDate(0, 0, 1)
		}
	}
	if from != "" && to != "" && !p.from.Before(p.to) {
		return p, usageError{errors.New("--from is not before --to")}
	}
	return p, nil
}
