package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) report() *cobra.Command {
	command := &cobra.Command{
		Use:   "report",
		Short: "Write the report of a month, week or day for a manager",
		Long: `Writes two pages about a time, by default the last month: claims by outcome,
KPIs against targets, causes, the oldest claims that were open at its end. It
verifies the audit trail, if the key is there, and exits with 1 where that was
changed. Of a past time it is the same whenever it is written.`,
		Example: `  worker report --month 2026-11 --lang pt-BR --format html > novembro.html`,
	}
	periodIn := periodFlags(command)
	format := command.Flags().String("format", "text", "text or html")
	dir := command.Flags().String("dir", "", "directory to write a file into, whose path is printed")
	p.answers(command, aStore, func(c *call) (any, string, error) {
		write, known := report.Formats()[*format]
		if !known {
			return nil, "", usageError{said{text.Messagef("--%s is %q; known "+
				"are %s", "format", *format, "[html text]")}}
		}
		now, zone := p.now(), c.printer.Location()
		within := periodIn(now, zone)
		if within == (period{}) {
			within = lastMonth(now, zone)
		}
		within, err := within.until(now, 31*day)
		if err != nil {
			return nil, "", err
		}
		r, broken, err := reported(c, within, now)
		if err != nil {
			return nil, "", err
		}
		var b strings.Builder
		if err := write(&b, r.Document(c.printer)); err != nil || *dir == "" {
			return r, b.String(), cmp.Or(err, broken)
		}
		first, last := within.from.In(zone), within.to.In(zone).Add(-time.Nanosecond)
		path := filepath.Join(*dir, fmt.Sprintf("report_%s_%s.%s", first.Format(time.DateOnly),
			last.Format(time.DateOnly), map[string]string{"text": "txt", "html": "html"}[*format]))
		err = os.WriteFile(path, []byte(b.String()), 0o640) //nolint:gosec // for its group too
		if err != nil {
			return nil, "", err
		}
		return nil, path + "\n", broken
	})
	command.MarkFlagsMutuallyExclusive("dir", "json")
	return command
}

// mostOpen is how many open claims a report lists at most.
const mostOpen = 10

// reported makes the report of a period. broken is what is wrong with the audit trail, which the report says
// too. Without the key (its public half will do) the trail is not verified, and the report says so.
func reported(c *call, within period, now time.Time) (r report.Report, broken, err error) {
	r.WrittenAt = now.UTC().Truncate(time.Second)
	public, err := audit.LoadPublic(c.cfg.AuditKey())
	if err != nil {
		r.NotVerified = text.Messagef("%s", err.Error())
	} else {
		_, broken = audit.Verify(c.Context(), c.store, public, nil)
	}
	where, is := errors.AsType[*audit.BrokenError](broken)
	switch {
	case is: // the same words whatever the store's place
		r.NotVerified = where.Message()
		broken = said{text.Messagef("the audit trail is not verified: %s", r.NotVerified)}
	case broken != nil:
		r.NotVerified = text.Messagef("%s", broken.Error())
	}
	measured, open, err := measure(c, within)
	r.KPIs, r.Oldest, r.Open = measured, open[:min(mostOpen, len(open))], len(open)
	return r, broken, err
}

// lastMonth returns the month before the one of an instant.
func lastMonth(now time.Time, zone *time.Location) period {
	return calendar[2].period(dayOf(now.In(zone)), -1, zone)
}
