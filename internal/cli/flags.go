package cli

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// spanFlag adds a flag for a length of time, in days or as a policies file has it. Without a standard it is 0
// where it is not given.
func spanFlag(flags *pflag.FlagSet, name, standard, usage string) *time.Duration {
	span := new(time.Duration)
	read := func(given string) error {
		if days, is := strings.CutSuffix(given, "d"); is {
			given = "P" + days + "D"
		}
		var err error
		if *span, err = retry.ParseDuration(given); err != nil || *span <= 0 {
			return errors.New("give a length of time, such as 7d, 24h, 90m or 30s")
		}
		return nil
	}
	flags.Func(name, usage+": `7d`, 24h, 90m", read)
	flags.Lookup(name).DefValue = standard
	_ = read(standard)
	return span
}

// day reads the value of a flag that may also be a word, if any, as a day, or as a month with the layout of
// one: the midnight in UTC at its beginning, whatever the zone.
func (c *call) day(flag, layout, value, word string) time.Time {
	begin, err := time.Parse(layout, value)
	example := "2026-11-30"[:len(layout)]
	if word != "" {
		example = c.w.Sprintf("%s or %s", example, word)
	}
	c.wrong.when(err != nil, text.Messagef("--%s is %q; give it as %s", flag, value, example))
	return begin
}

// periodFlags adds the flags of [call.period]. standard is the value of --month where none of them is given.
func periodFlags(command *cobra.Command, standard string) {
	flags := command.Flags()
	flags.String("day", "", "the whole `DAY`, as 2026-11-30 or yesterday")
	flags.String("week", "", "the whole week of a `DAY`, as 2026-11-30 or last")
	flags.String("month", standard, "the whole `MONTH`, as 2026-11 or last")
	flags.String("from", "", "first `DAY`, as 2026-11-01")
	flags.String("to", "", "last `DAY`, as 2026-11-30")
	command.MarkFlagsMutuallyExclusive("day", "week", "month", "from")
	command.MarkFlagsMutuallyExclusive("day", "week", "month", "to")
}

// period returns what the flags name, from <= t < to, by days of the call's zone. Either is zero where it is
// not bounded. With since it is bounded: it ends now, at the latest, and begins so long before its end.
func (c *call) period(now time.Time, since time.Duration) (from, to time.Time) {
	zone := c.w.Location()
	first, next := c.days(dayOf(now.In(zone)))
	from, to = dayIn(first, zone), dayIn(next, zone)
	if since > 0 && (next.IsZero() || to.After(now)) {
		to = now
	}
	if since > 0 && first.IsZero() {
		from = to.Add(-since)
	}
	backwards := !next.IsZero() && !first.Before(next)
	empty := c.wrong == nil && !to.IsZero() && !from.Before(to)
	c.wrong.when(empty && backwards, text.Messagef("--from lies after --to"))
	c.wrong.when(empty && !backwards, text.Messagef("the time from %s on is yet to come", from))
	return from, to
}

// days returns the first day that the flags name, and the one after the last.
func (c *call) days(today time.Time) (first, next time.Time) {
	read := func(flag, layout, word string, meant time.Time) (day time.Time, given bool) {
		value := c.Flag(flag).Value.String()
		if value != "" && !means(value, "period", word) {
			meant = c.day(flag, layout, value, c.w.Name("period", word))
		}
		return meant, value != ""
	}
	first, from := read("from", time.DateOnly, "", first)
	last, to := read("to", time.DateOnly, "", next)
	if to {
		next = last.AddDate(0, 0, 1)
	}
	if from || to {
		return first, next
	}
	if day, is := read("day", time.DateOnly, "yesterday", today.AddDate(0, 0, -1)); is {
		return day, day.AddDate(0, 0, 1)
	}
	if day, is := read("week", time.DateOnly, "last week", today.AddDate(0, 0, -7)); is {
		monday := day.AddDate(0, 0, -int(day.Weekday()+6)%7)
		return monday, monday.AddDate(0, 0, 7)
	}
	if day, is := read("month", "2006-01", "last month", today.AddDate(0, 0, -today.Day())); is {
		first = day.AddDate(0, 0, 1-day.Day())
		return first, first.AddDate(0, 1, 0)
	}
	return first, next
}

// dayOf returns the day of a time in its zone, as midnight in UTC.
func dayOf(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// dayIn returns the first instant of a day in a zone, zero for no day. Where clocks go forward at midnight
// that is one o'clock.
func dayIn(day time.Time, zone *time.Location) time.Time {
	if day.IsZero() {
		return day
	}
	t := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
	if dayOf(t).Before(day) {
		_, t = t.ZoneBounds()
	}
	return t
}
