package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/text"
)

func newEvents(now clock) *cobra.Command {
	command := group("events", "Show the domain events of the store")
	command.AddCommand(newEventsTail(now))
	return command
}

func newEventsTail(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "tail",
		Short: "Print the events as JSON lines",
		Long: `Prints the domain events of the last hour as JSON lines, CloudEvents 1.0, in the
order in which they were decided. They are the same that the worker publishes to
RETRY_EVENTS_URL, and are there without a queue too.`,
		Example: `  worker events tail --since 24h`,
		Args:    noArgs,
	}
	since := sinceFlag(command, "1h", "how far back to begin")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return withStore(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			return printEvents(ctx, command.OutOrStdout(), store, now().Add(-*since))
		})
	}
	return command
}

// tailPage is how many records are read at least before any is printed: a reader that stops reading, such as a pager, must
// not keep a query open, which would hold up the store.
const tailPage = 1000

// errPage ends a query that has found enough.
var errPage = errors.New("a page is full")

// printEvents prints the events of the records since a time, page by page.
func printEvents(ctx context.Context, out io.Writer, store audit.Store, from time.Time) error {
	farFuture := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) // later than any record, and within what stores can count
	for full := true; full; {
		var page []audit.Record
		err := store.Between(ctx, from, farFuture, nil, func(r *audit.Record) error {
			if n := len(page); n >= tailPage && r.At.After(page[n-1].At) {
				from = r.At
				return errPage
			}
			page = append(page, *r)
			return nil
		})
		if full = errors.Is(err, errPage); err != nil && !full {
			return err
		}
		for i := range page {
			event, err := events.FromRecord(&page[i])
			if err != nil {
				return err
			}
			if _, err := out.Write(text.HarmlessJSON(append(event.JSON, '\n'))); err != nil {
				return err
			}
		}
	}
	return nil
}
