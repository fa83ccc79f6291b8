package cli

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/events"
	"hospital.example/analyze-retry/internal/term"
)

func newEvents(now clock) *cobra.Command {
	command := group("events", "Show the domain events of the store",
		`The domain events inform other systems of the decisions about claims. They are
CloudEvents in JSON; docs/events describes them.`)
	command.AddCommand(newEventsTail(now))
	return command
}

func newEventsTail(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "tail",
		Short: "Print the events as JSON lines, and go on as they come",
		Long: `Prints the domain events of the last hour as JSON lines, CloudEvents 1.0, in the
order in which they were decided; with --claim all events of that claim. They
are the same that the worker publishes to RETRY_EVENTS_URL, and are there
without a queue too, until the retention of their records is over.

It changes nothing and may run while a worker runs. --follow goes on until it is
interrupted.`,
		Example: `  worker events tail --follow
  worker events tail --all --claim CLM-ENC-001-1234567890
  worker events tail --unpublished | wc -l`,
		Args: noArgs,
	}
	flags := command.Flags()
	follow := flags.BoolP("follow", "f", false, "keep printing new events")
	since := sinceFlag(flags, "1h", "how far back to begin")
	all := flags.Bool("all", false, "begin with the oldest event")
	claimID := flags.String("claim", "", "only the events of this claim")
	unpublished := flags.Bool("unpublished", false, "only events that are not published yet")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if *unpublished && (*follow || *all || flags.Changed("since")) {
			return usageError{errors.New("--unpublished is what waits now; it goes with --claim only")}
		}
		if *all && flags.Changed("since") {
			return usageError{errors.New("--all and --since exclude each other")}
		}
		return withStore(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			t := tail{store: store, claimID: *claimID, out: command.OutOrStdout(), shown: map[int64]time.Time{}}
			if *unpublished {
				return t.backlog(ctx)
			}
			if !*all && (*claimID == "" || flags.Changed("since")) {
				t.begin = now().Add(-*since)
				t.from = t.begin
			}
			if err := t.run(ctx, *follow); ctx.Err() == nil || !*follow {
				return err
			}
			return nil // stopped as asked
		})
	}
	return command
}

const (
	// tailPage is how many records are read before any is printed: a reader that stops reading, such as a pager, must
	// not keep a query open, which would hold up the store.
	tailPage = 1000
	// tailEvery is the time between two looks for new events.
	tailEvery = time.Second
	// tailLate is how much later than another one a record may be stored although it was decided before: a decision is
	// stored within the five seconds of its handler, and the clocks of replicas differ a little.
	tailLate = 15 * time.Second
)

// tail prints the events of records in the order in which they were decided.
type tail struct {
	store   audit.Store
	claimID string // empty for all
	out     io.Writer
	begin   time.Time // nothing from before is shown
	// from is where the next look begins, latest the latest record that was shown. Records decided up to tailLate before
	// that one may still come, so that those that are shown already are remembered, with their times.
	from, latest time.Time
	shown        map[int64]time.Time
}

// run prints the events that are there, page by page, and with follow those that come, until ctx ends.
func (t *tail) run(ctx context.Context, follow bool) error {
	for {
		fresh, more, err := t.look(ctx)
		for i := 0; i < len(fresh) && err == nil; i++ {
			err = t.show(&fresh[i])
		}
		if err != nil {
			return err
		}
		late := t.latest.Add(-tailLate)
		if late.Before(t.begin) {
			late = t.begin
		}
		maps.DeleteFunc(t.shown, func(_ int64, at time.Time) bool { return at.Before(late) })
		if t.from = late; more {
			t.from = fresh[len(fresh)-1].At
			continue
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(tailEvery):
		}
	}
}

// show prints a record's event, and remembers it.
func (t *tail) show(r *audit.Record) error {
	t.shown[r.ID] = r.At
	if r.At.After(t.latest) {
		t.latest = r.At
	}
	return t.print(r)
}

// errPage ends a look that has found enough.
var errPage = errors.New("a page is full")

// look returns what is not shown yet, at most a page, and whether there is more.
func (t *tail) look(ctx context.Context) (fresh []audit.Record, more bool, err error) {
	visit := func(r *audit.Record) error {
		if _, was := t.shown[r.ID]; was || r.At.Before(t.from) {
			return nil
		}
		if len(fresh) == tailPage {
			return errPage
		}
		fresh = append(fresh, *r)
		return nil
	}
	if t.claimID == "" {
		err = t.store.Between(ctx, t.from, farFuture(), visit)
	} else {
		var records []audit.Record
		if records, err = t.store.Claim(ctx, t.claimID); err == nil {
			slices.SortStableFunc(records, func(a, b audit.Record) int { return a.At.Compare(b.At) })
			for i := 0; i < len(records) && err == nil; i++ {
				err = visit(&records[i])
			}
		}
	}
	if errors.Is(err, errPage) {
		return fresh, true, nil
	}
	return fresh, false, err
}

// farFuture is later than any record, and still within what stores can count.
func farFuture() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }

// backlog prints what waits to be published.
func (t *tail) backlog(ctx context.Context) error {
	for after := int64(0); ; {
		records, err := t.store.Unpublished(ctx, after, tailPage)
		if err != nil || len(records) == 0 {
			return err
		}
		for i := range records {
			if err := t.print(&records[i]); err != nil {
				return err
			}
		}
		after = records[len(records)-1].ID
	}
}

func (t *tail) print(r *audit.Record) error {
	if t.claimID != "" && r.ClaimID != t.claimID {
		return nil
	}
	event, err := events.FromRecord(r)
	if err != nil {
		return err
	}
	_, err = t.out.Write(term.JSON(append(event.JSON, '\n')))
	return err
}
