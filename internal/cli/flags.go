package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/retry"
)

const day = 24 * time.Hour

// spanFlag adds a flag for a length of time, in days or as a policies file has it. Without a standard it is 0
// where it is not given.
func spanFlag(flags *pflag.FlagSet, name, standard, usage string) *time.Duration {
	span := new(time.Duration)
	read := func(text string) error {
		if days, is := strings.CutSuffix(text, "d"); is {
			text = "P" + days + "D"
		}
		var err error
		if *span, err = retry.ParseDuration(text); err != nil || *span <= 0 {
			return errors.New("give days, hours or minutes, such as 7d, 24h or 90m")
		}
		return nil
	}
	usage += ": `7d`, 24h, 90m"
	if standard != "" {
		_ = read(standard)
		usage += " (default " + standard + ")"
	}
	flags.Func(name, usage, read)
	return span
}

// yearMonth is the layout of a month, beside [time.DateOnly] of a day.
const yearMonth = "2006-01"

// timeFlag adds a flag for a day or a month, and returns when that begins; zero where it is not given.
func timeFlag(flags *pflag.FlagSet, name, layout, usage string) *time.Time {
	begin := new(time.Time)
	flags.Func(name, usage, func(text string) (err error) {
		if *begin, err = time.Parse(layout, text); err != nil {
			err = fmt.Errorf("give it as %s", "2026-11-30"[:len(layout)])
		}
		return err
	})
	return begin
}

// period is a time that a command looks at: from <= t < to. Both are zero where none was given.
type period struct{ from, to time.Time }

// periodFlags adds the flags --from, --to and --month, and returns what gives their period by days of a zone.
func periodFlags(command *cobra.Command) func(zone *time.Location) period {
	flags := command.Flags()
	from := timeFlag(flags, "from", time.DateOnly, "first `DAY`, as 2026-11-01")
	to := timeFlag(flags, "to", time.DateOnly, "last `DAY`, as 2026-11-30")
	month := timeFlag(flags, "month", yearMonth, "the whole `MONTH`, as 2026-11")
	command.MarkFlagsMutuallyExclusive("month", "from")
	command.MarkFlagsMutuallyExclusive("month", "to")
	command.PreRunE = func(*cobra.Command, []string) error {
		if !to.IsZero() && from.After(*to) {
			return fmt.Errorf("--from %s is after --to %s",
				from.Format(time.DateOnly), to.Format(time.DateOnly))
		}
		return nil
	}
	return func(zone *time.Location) (within period) {
		begin, end := *from, *to
		if !month.IsZero() {
			begin, end = *month, month.AddDate(0, 1, -1)
		}
		if !begin.IsZero() {
			within.from = time.Date(begin.Year(), begin.Month(), begin.Day(), 0, 0, 0, 0, zone)
		}
		if !end.IsZero() {
			within.to = time.Date(end.Year(), end.Month(), end.Day()+1, 0, 0, 0, 0, zone)
		}
		return within
	}
}

// until returns the period with what is missing: it ends now, at the latest, and begins so long before its
// end. It is an error if nothing of it has passed.
func (p period) until(now time.Time, since time.Duration) (period, error) {
	if p.to.IsZero() || p.to.After(now) {
		p.to = now
	}
	if p.from.IsZero() {
		p.from = p.to.Add(-since)
	}
	if !p.from.Before(p.to) {
		return p, usageError{fmt.Errorf("from %s to %s there is no time that has passed",
			p.from.Format(time.RFC3339), p.to.Format(time.RFC3339))}
	}
	return p, nil
}
