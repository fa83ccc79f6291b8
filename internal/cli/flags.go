package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

const day = 24 * time.Hour

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

// timeFlag adds a flag for a day, and returns when that begins; zero where it is not given.
func timeFlag(flags *pflag.FlagSet, name, usage string) *time.Time {
	begin := new(time.Time)
	flags.Func(name, usage, func(given string) (err error) {
		if *begin, err = time.Parse(time.DateOnly, given); err != nil {
			err = errors.New("give it as 2026-11-30")
		}
		return err
	})
	return begin
}

// period is a time that a command looks at: from <= t < to. Both are zero where none was given.
type period struct{ from, to time.Time }

// unit is a length of time by the calendar. Days are midnights in UTC here, whatever the zone.
type unit struct {
	name, last, example string
	days, months        int
	// begin returns the first day of the one that a day is in.
	begin func(day time.Time) time.Time
}

var calendar = [...]unit{
	{"day", "yesterday", "2026-11-30", 1, 0, func(day time.Time) time.Time { return day }},
	{"week", "last", "2026-W47", 7, 0, func(day time.Time) time.Time {
		return day.AddDate(0, 0, -int(day.Weekday()+6)%7)
	}},
	{"month", "last", "2026-11", 0, 1, func(day time.Time) time.Time {
		return day.AddDate(0, 0, 1-day.Day())
	}},
}

// first reads when the unit begins that is named, such as 2026-W47.
func (u *unit) first(name string) (begin time.Time, err error) {
	if year, week, is := strings.Cut(name, "-W"); is && u.name == "week" {
		n, _ := strconv.Atoi(week)
		if begin, err = time.Parse(time.DateOnly, year+"-01-04"); err == nil { // which is always in week 1
			begin = u.begin(begin).AddDate(0, 0, 7*(n-1))
			if _, is := begin.ISOWeek(); is == n && len(week) == 2 {
				return begin, nil
			}
		}
	} else if begin, err = time.Parse(time.DateOnly[:len(u.example)], name); err == nil && u.name != "week" {
		return begin, nil
	}
	return begin, fmt.Errorf("give it as %s, or %s", u.example, u.last)
}

// period returns the unit so many after the one that a day is in.
func (u *unit) period(day time.Time, after int, zone *time.Location) period {
	begin := u.begin(day).AddDate(0, after*u.months, after*u.days)
	return period{dayIn(begin, zone), dayIn(begin.AddDate(0, u.months, u.days), zone)}
}

// dayOf returns the day of a time in its zone.
func dayOf(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// dayIn returns the first instant of a day in a zone. Where clocks go forward at midnight that is one
// o'clock.
func dayIn(day time.Time, zone *time.Location) time.Time {
	t := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
	if dayOf(t).Before(day) {
		_, t = t.ZoneBounds()
	}
	return t
}

// periodFlags adds the flags --from and --to, and one for each unit of the calendar, and returns what gives
// their period by days of a zone.
func periodFlags(command *cobra.Command) func(now time.Time, zone *time.Location) period {
	flags := command.Flags()
	from := timeFlag(flags, "from", "first `DAY`, as 2026-11-01")
	to := timeFlag(flags, "to", "last `DAY`, as 2026-11-30")
	var given *unit
	var first time.Time // zero for the last one
	for i := range calendar {
		u := &calendar[i]
		usage := fmt.Sprintf("the whole `%s`, as %s or %s", strings.ToUpper(u.name), u.example, u.last)
		flags.Func(u.name, usage, func(name string) (err error) {
			if given = u; name != u.last {
				first, err = u.first(name)
			}
			return err
		})
	}
	command.MarkFlagsMutuallyExclusive("day", "week", "month", "from")
	command.MarkFlagsMutuallyExclusive("day", "week", "month", "to")
	command.PreRunE = func(*cobra.Command, []string) error {
		if !to.IsZero() && from.After(*to) {
			return text.Messagef("--from %s is after --to %s",
				from.Format(time.DateOnly), to.Format(time.DateOnly))
		}
		return nil
	}
	return func(now time.Time, zone *time.Location) (within period) {
		if given != nil && first.IsZero() {
			return given.period(dayOf(now.In(zone)), -1, zone)
		}
		if given != nil {
			return given.period(first, 0, zone)
		}
		if !from.IsZero() {
			within.from = dayIn(*from, zone)
		}
		if !to.IsZero() {
			within.to = dayIn(to.AddDate(0, 0, 1), zone)
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
		return p, usageError{text.Messagef("from %s to %s there is no time that has passed",
			p.from.Format(time.RFC3339), p.to.Format(time.RFC3339))}
	}
	return p, nil
}
