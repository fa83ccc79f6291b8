package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/report"
)

func newReport(now clock) *cobra.Command {
	command := forPeople(&cobra.Command{
		Use:   "report",
		Short: "Write the report of a month for a manager",
		Long: `Writes two pages about a month, by default the last one: claims by outcome, KPIs
against targets, causes, open claims with their ages, and as a seal the end of
the audit trail. Claims that are open are counted as of now.

With --dir it is written into a file such as report_2026-11-01_2026-11-30.html,
whose path is printed. One of the same name is replaced.`,
		Example: `  worker report --month 2026-11 --lang pt-BR --format html > novembro.html`,
		Args:    noArgs,
	})
	addPeriod(command)
	format := command.Flags().String("format", "text", "text or html")
	dir := command.Flags().String("dir", "", "directory to write a file into, instead of printing")
	command.RunE = func(command *cobra.Command, _ []string) error {
		write, known := report.Formats()[*format]
		if !known {
			return usageError{fmt.Errorf("--format is %q; known are text and html, and --json", *format)}
		}
		p, err := printerOf(command)
		if err != nil {
			return err
		}
		within, err := periodOf(command, p.Location())
		if err != nil {
			return err
		}
		now := now()
		if within == (period{}) {
			within = lastMonth(now, p.Location())
		}
		if within, err = within.until(now, 31*day); err != nil {
			return err
		}
		return withStore(command, func(ctx context.Context, cfg config.Config, store audit.Store) error {
			r := report.Report{From: within.from.UTC(), To: within.to.UTC(), WrittenAt: now.UTC().Truncate(time.Second)}
			if r.Policies, err = measure(ctx, cfg, store, within); err != nil {
				return err
			}
			open, err := claims.List(ctx, store, claims.Query{}, now)
			if err != nil {
				return err
			}
			r.OpenClaims = report.CountOpen(open, now)
			if r.Heads, _, err = store.Heads(ctx); err != nil {
				return err
			}
			empty := func(h audit.Head) bool { return h.Seq == 0 }
			r.Heads = slices.DeleteFunc(r.Heads, empty) // there is nothing to seal
			extension := map[string]string{"text": "txt", "html": "html"}[*format]
			text := func(out io.Writer) error { return write(out, r.Document(p)) }
			if asJSON(command) {
				extension, text = "json", func(out io.Writer) error { return encode(out, r, "  ") }
			}
			if *dir == "" {
				return text(command.OutOrStdout())
			}
			first, last := within.from.In(p.Location()), within.to.In(p.Location()).Add(-time.Nanosecond)
			path := filepath.Join(*dir, fmt.Sprintf("report_%s_%s.%s", first.Format(time.DateOnly), last.Format(time.DateOnly), extension))
			var b bytes.Buffer
			if err := errors.Join(text(&b), os.WriteFile(path, b.Bytes(), 0o640)); err != nil { //nolint:gosec // for its group too
				return err
			}
			return printText(command, path+"\n")
		})
	}
	return withJSON(command, "print one JSON object")
}

// lastMonth returns the month before the one of an instant.
func lastMonth(now time.Time, zone *time.Location) period {
	year, month, _ := now.In(zone).Date()
	begin := time.Date(year, month, 1, 0, 0, 0, 0, zone)
	return period{begin.AddDate(0, -1, 0), begin}
}
