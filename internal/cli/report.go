package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) report() *cobra.Command {
	command := &cobra.Command{
		Use:   "report",
		Short: "Write the report of a month for a manager",
		Long: `Writes two pages about a month, by default the last one: claims by outcome, KPIs
against targets, causes, the oldest open claims as of now, and as a seal the end
of the audit trail.

With --dir it is a file such as report_2026-11-01_2026-11-30.html.`,
		Example: `  worker report --month 2026-11 --lang pt-BR --format html > novembro.html`,
	}
	periodIn := periodFlags(command)
	format := command.Flags().String("format", "text", "text or html")
	dir := command.Flags().String("dir", "", "directory to write a file into, whose path is printed")
	p.forPeople(command, func(c *call, printer *text.Printer) (any, string, error) {
		write, known := report.Formats()[*format]
		if !known {
			return nil, "", usageError{fmt.Errorf("--format is %q; known are text and html", *format)}
		}
		now, zone := p.now(), printer.Location()
		within := periodIn(zone)
		if within == (period{}) {
			within = lastMonth(now, zone)
		}
		within, err := within.until(now, 31*day)
		if err != nil {
			return nil, "", err
		}
		r, err := reported(c, within, now)
		if err != nil {
			return nil, "", err
		}
		var b strings.Builder
		if err := write(&b, r.Document(printer)); err != nil || *dir == "" {
			return r, b.String(), err
		}
		first, last := within.from.In(zone), within.to.In(zone).Add(-time.Nanosecond)
		path := filepath.Join(*dir, fmt.Sprintf("report_%s_%s.%s", first.Format(time.DateOnly),
			last.Format(time.DateOnly), map[string]string{"text": "txt", "html": "html"}[*format]))
		err = os.WriteFile(path, []byte(b.String()), 0o640) //nolint:gosec // for its group too
		if err != nil {
			return nil, "", err
		}
		return nil, path + "\n", nil
	})
	command.MarkFlagsMutuallyExclusive("dir", "json")
	return command
}

// mostOpen is how many open claims a report lists at most.
const mostOpen = 10

// reported makes the report of a period.
func reported(c *call, within period, now time.Time) (r report.Report, err error) {
	r.From, r.To, r.WrittenAt = within.from.UTC(), within.to.UTC(), now.UTC().Truncate(time.Second)
	if r.Policies, err = measure(c, within); err != nil {
		return r, err
	}
	open, err := claims.List(c.Context(), c.store, claims.Query{}, now)
	r.Oldest = open[:min(mostOpen, len(open))]
	heads, _, wrong := c.store.Heads(c.Context())
	nothing := func(h audit.Head) bool { return h.Seq == 0 } // to seal
	r.Heads = slices.DeleteFunc(heads, nothing)
	return r, errors.Join(err, wrong)
}

// lastMonth returns the month before the one of an instant.
func lastMonth(now time.Time, zone *time.Location) period {
	year, month, _ := now.In(zone).Date()
	begin := time.Date(year, month, 1, 0, 0, 0, 0, zone)
	return period{begin.AddDate(0, -1, 0), begin}
}
