package cli

import (
	"context"
	"errors"
	"slices"
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
order in which they were decided; with --claim all events of that claim. They
are the same that the worker publishes to RETRY_EVENTS_URL, and are there
without a queue too.`,
		Example: `  worker events tail --claim CLM-001-1234567890`,
		Args:    noArgs,
	}
	flags := command.Flags()
	since := sinceFlag(command, "1h", "how far back to begin")
	all := flags.Bool("all", false, "begin with the oldest event")
	claimID := flags.String("claim", "", "only the events of this claim")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if *all && flags.Changed("since") {
			return usageError{errors.New("--all and --since exclude each other")}
		}
		var from time.Time
		if !*all && (*claimID == "" || flags.Changed("since")) {
			from = now().Add(-*since)
		}
		show := func(records []audit.Record) error {
			for i := range records {
				if err := printEvent(command, &records[i]); err != nil {
					return err
				}
			}
			return nil
		}
		return withStore(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			if *claimID == "" {
				return eachSince(ctx, store, from, show)
			}
			_, records, err := store.Claim(ctx, *claimID)
			if err != nil {
				return err
			}
			records = slices.DeleteFunc(records, func(r audit.Record) bool { return r.At.Before(from) })
			slices.SortStableFunc(records, func(a, b audit.Record) int { return a.At.Compare(b.At) })
			return show(records)
		})
	}
	return command
}

// tailPage is how many records are read before any is printed: a reader that stops reading, such as a pager, must not keep a
// query open, which would hold up the store.
const tailPage = 1000

// errPage ends a query that has found enough.
var errPage = errors.New("a page is full")

// eachSince shows the records since a time, page by page.
func eachSince(ctx context.Context, store audit.Store, from time.Time, show func([]audit.Record) error) error {
	farFuture := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) // later than any record, and within what stores can count
	shown := map[int64]bool{}
	for {
		var page []audit.Record
		queried := store.Between(ctx, from, farFuture, nil, func(r *audit.Record) error {
			if len(page) == tailPage {
				return errPage
			}
			if !shown[r.ID] {
				page = append(page, *r)
			}
			return nil
		})
		full := errors.Is(queried, errPage)
		if queried != nil && !full {
			return queried
		}
		if err := show(page); err != nil || !full {
			return err
		}
		if last := page[len(page)-1].At; last.After(from) {
			from, shown = last, map[int64]bool{}
		}
		for i := range page {
			shown[page[i].ID] = true
		}
	}
}

func printEvent(command *cobra.Command, r *audit.Record) error {
	event, err := events.FromRecord(r)
	if err != nil || event.ID == "" {
		return err
	}
	_, err = command.OutOrStdout().Write(text.HarmlessJSON(append(event.JSON, '\n')))
	return err
}
