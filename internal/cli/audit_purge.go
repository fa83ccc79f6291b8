package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/term"
)

func newAuditPurge(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "purge",
		Short: "Remove records whose retention is over, as the worker does daily",
		Long: `Removes the records that are older than RETRY_AUDIT_RETENTION, by whole months.
A record goes when its event is published and its answer has reached the broker;
one that waits for that holds back those that came after it. A signed stub
stands for what was removed, so that the trail can still be checked.

For its event it waits where RETRY_EVENTS_URL names a queue, and also where a
worker ever began to publish the store's events, also if none is set here.

A store remembers the longest retention that it was ever set to, and keeps its
records for that long, also if less is set later. --shorten lowers that to
RETRY_AUDIT_RETENTION, after a question, and removes nothing itself.

Nothing is removed while this host's clock is more than a day ahead of the
newest head of the trail. After a pause of the worker, when you have seen that
the clock is right, --trust-clock removes all the same.

A running worker does this once a day, and announces it in its log the day
before, so that there is seldom a need to do it by hand. On SQLite the worker
must be stopped for it. --dry-run changes nothing and may run while a worker
runs.`,
		Example: `  worker audit purge --dry-run
  RETRY_AUDIT_RETENTION=18m worker audit purge --shorten
  RETRY_AUDIT_RETENTION=18m worker audit purge --dry-run --json`,
		Args: noArgs,
	}
	flags := command.Flags()
	dryRun := flags.Bool("dry-run", false, "show what would be removed and what is held back")
	trustClock := flags.Bool("trust-clock", false, "accept the host's clock though the trail is old")
	lower := flags.Bool("shorten", false, "lower the store's retention; remove nothing")
	yes := flags.Bool("yes", false, "with --shorten: do not ask for confirmation")
	command.RunE = func(command *cobra.Command, _ []string) error {
		switch {
		case *lower && (*dryRun || *trustClock):
			return usageError{errors.New("--shorten removes nothing: give it without --dry-run and --trust-clock")}
		case *dryRun && *trustClock:
			return usageError{errors.New("--dry-run and --trust-clock exclude each other")}
		case *yes && !*lower:
			return usageError{errors.New("--yes goes with --shorten; nothing else is asked")}
		case *lower:
			return shortenRetention(command, *yes)
		}
		report := func(p purged) error { return printAnswer(command, p, p.text()) }
		if *dryRun {
			return withStore(command, func(ctx context.Context, cfg config.Config, store audit.Store) error {
				p, err := previewPurge(ctx, cfg, store, now())
				if err != nil {
					return err
				}
				return report(p)
			})
		}
		cfg, err := loadConfig(command)
		if err != nil {
			return err
		}
		p, err := purge(command.Context(), cfg, now(), *trustClock)
		if err == nil || len(p.Runs) > 0 { // what was removed is reported, also after an error
			err = errors.Join(report(p), err)
		}
		return err
	}
	return withJSON(command, "print one JSON object")
}

// publishes reports whether a queue is set here. The store may know of one all the same.
func publishes(cfg config.Config) bool { return cfg.EventsURL != "" }

// longer returns the retention that holds: the one that is set, or the store's floor if that is longer.
func longer(cfg config.Config, floor int) config.Months {
	return max(cfg.AuditRetention, config.Months(floor))
}

// previewPurge returns what a purge would remove. It changes nothing.
func previewPurge(ctx context.Context, cfg config.Config, store audit.Store, now time.Time) (purged, error) {
	floor, err := store.Floor(ctx)
	if err != nil {
		return purged{}, err
	}
	kept := longer(cfg, floor)
	cutoff := audit.Cutoff(now, int(kept))
	stubs, err := store.Purgeable(ctx, cutoff, publishes(cfg))
	if err != nil {
		return purged{}, err
	}
	held, err := audit.HeldBack(ctx, store, stubs, cutoff, publishes(cfg))
	if err != nil {
		return purged{}, err
	}
	p := purgedOf(cfg, kept, cutoff, stubs, held)
	p.DryRun = true
	for i := range p.Held {
		p.Held[i].Lapsed = p.Held[i].Unanswered && now.Sub(p.Held[i].At) >= audit.UnansweredFor
	}
	return p, nil
}

func purge(ctx context.Context, cfg config.Config, now time.Time, trustClock bool) (p purged, err error) {
	store, secret, err := app.OpenStore(ctx, cfg)
	if err != nil {
		return purged{}, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := judgeClock(ctx, store, secret.Public(), now, trustClock); err != nil {
		return purged{}, err
	}
	floor, err := store.Keep(ctx, cfg.AuditRetention.Floor())
	if err != nil {
		return purged{}, err
	}
	kept := longer(cfg, floor)
	due := audit.RetentionAt(now, int(kept), publishes(cfg))
	stubs, err := audit.Retain(ctx, store, secret, due)
	var held []audit.Held
	if err == nil {
		held, err = audit.HeldBack(ctx, store, nil, due.Cutoff, publishes(cfg))
	}
	return purgedOf(cfg, kept, due.Cutoff, stubs, held), err
}

// judgeClock returns an error where only a person can say that the host's clock is right. A command does not hear the broker.
func judgeClock(ctx context.Context, store audit.Store, key audit.Public, now time.Time, trust bool) error {
	if trust {
		return audit.Confirm(ctx, store, now)
	}
	err := audit.TrustClock(ctx, store, key, now, time.Time{})
	if _, is := errors.AsType[*audit.ClockError](err); is {
		return fmt.Errorf("%w, or give --trust-clock if it is right", err)
	}
	return err
}

// purged is what purge answers. Its JSON form is stable.
type purged struct {
	// Retention is the one that holds: Setting, which is RETRY_AUDIT_RETENTION, or the longest that the store was ever set to.
	Retention string    `json:"retention"`
	Setting   string    `json:"setting"`
	Cutoff    time.Time `json:"cutoff"`
	DryRun    bool      `json:"dryRun"`
	// Runs are what goes or went, at most one of each chain; Held are the records that are old enough and hold back
	// what comes after them.
	Runs []run  `json:"removed"`
	Held []held `json:"heldBack"`
}

type run struct {
	Chain   int       `json:"chain"`
	From    int64     `json:"from"`
	Through int64     `json:"through"`
	Records int64     `json:"records"`
	Oldest  time.Time `json:"oldest"`
	Newest  time.Time `json:"newest"`
	Hash    string    `json:"hash"`
}

type held struct {
	Chain       int       `json:"chain"`
	Seq         int64     `json:"seq"`
	ID          int64     `json:"id"`
	At          time.Time `json:"at"`
	ClaimID     string    `json:"claimId,omitempty"`
	Unpublished bool      `json:"unpublished"`
	Unanswered  bool      `json:"unanswered"`
	// Lapsed is of a dry run: the purge itself will no longer wait for the answer, and remove more than is shown.
	Lapsed bool `json:"lapsed"`
}

func purgedOf(cfg config.Config, kept config.Months, cutoff time.Time, stubs []audit.Tombstone, holding []audit.Held) purged {
	p := purged{Retention: kept.String(), Setting: cfg.AuditRetention.String(), Cutoff: cutoff, Runs: []run{}, Held: []held{}}
	at := map[int]int{} // by chain, its place in Runs
	for _, s := range stubs {
		r := run{s.Chain, s.From, s.Through, s.Through - s.From + 1, s.Oldest, s.Newest, s.Hash.String()}
		i, begun := at[s.Chain]
		if !begun {
			at[s.Chain] = len(p.Runs)
			p.Runs = append(p.Runs, r)
			continue
		}
		// Removed day by day, reported as one run.
		whole := &p.Runs[i]
		whole.Through, whole.Records, whole.Newest, whole.Hash = r.Through, whole.Records+r.Records, r.Newest, r.Hash
	}
	for _, h := range holding {
		r := h.Record
		p.Held = append(p.Held, held{Chain: r.Chain, Seq: r.Seq, ID: r.ID, At: r.At, ClaimID: r.ClaimID, Unpublished: h.Unpublished, Unanswered: h.Unanswered})
	}
	return p
}

func (p purged) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Retention %s: what was decided before %s may go.\n", p.Retention, term.Time(p.Cutoff))
	if p.Retention != p.Setting {
		b.WriteString(term.Hanging("Note: ", fmt.Sprintf("RETRY_AUDIT_RETENTION is %s, but the store was set to %s before, and keeps to that. "+
			"worker audit purge --shorten lowers it.", p.Setting, p.Retention)))
	}
	did := "Removed"
	if p.DryRun {
		did = "Would remove"
	}
	if len(p.Runs) == 0 {
		fmt.Fprintf(&b, "%s nothing.\n", did)
	}
	for _, r := range p.Runs {
		fmt.Fprintf(&b, "%s %s of chain %d, places %d to %d,\n  decided from %s to %s.\n",
			did, term.Count(r.Records, "record"), r.Chain, r.From, r.Through, term.Millis(r.Oldest), term.Millis(r.Newest))
	}
	for _, h := range p.Held {
		claim := "of no known claim"
		if h.ClaimID != "" {
			claim = "of claim " + term.Line(h.ClaimID)
		}
		b.WriteString(term.Hanging("Held back: ", fmt.Sprintf("chain %d from place %d on, decided %s, %s: %s.", h.Chain, h.Seq, term.Time(h.At), claim, h.why())))
	}
	return b.String()
}

func (h held) why() string {
	switch {
	case h.Unpublished && h.Unanswered:
		return "its event is not published and its answer has not reached the broker"
	case h.Lapsed:
		return "its answer has not reached the broker for 30 days; the purge itself no longer waits for that, and removes more than is shown here"
	case h.Unpublished:
		return "its event is not published"
	case h.Unanswered:
		return "its answer has not reached the broker"
	default:
		return "it has become free in this moment; run this again"
	}
}

// shortened is what purge --shorten answers. Its JSON form is stable.
type shortened struct {
	// Before is how long the store kept its records at least, Retention how long it does now.
	Before    string `json:"before"`
	Retention string `json:"retention"`
	Lowered   bool   `json:"lowered"`
}

// shortenRetention lets the store keep records for RETRY_AUDIT_RETENTION only, if a person says so. It removes nothing.
func shortenRetention(command *cobra.Command, yes bool) (err error) {
	if !yes && !term.IsTerminal(command.InOrStdin()) {
		return usageError{errors.New("there is no terminal to ask at: give --yes if the store is to keep records for a shorter time")}
	}
	cfg, err := loadConfig(command)
	if err != nil {
		return err
	}
	ctx := command.Context()
	store, _, err := app.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	floor, err := store.Floor(ctx)
	switch {
	case errors.Is(err, audit.ErrNoFloor): // which a person may mend so
		complain(command.ErrOrStderr(), "worker: %v", err)
		floor = audit.DefaultFloor
	case err != nil:
		return err
	case floor == 0:
		floor = audit.DefaultFloor
	}
	s := shortened{Before: config.Months(floor).String(), Retention: cfg.AuditRetention.String(), Lowered: floor > int(cfg.AuditRetention) || err != nil}
	if s.Lowered {
		question := fmt.Sprintf("%s keeps records for %s at least. Let it keep them for %s only?", cfg.DatabaseURL, s.Before, s.Retention)
		if !yes && !term.Confirm(ctx, command.InOrStdin(), command.ErrOrStderr(), question) {
			return errors.New("nothing was changed")
		}
		if err := store.Shorten(ctx, int(cfg.AuditRetention)); err != nil {
			return err
		}
	} else {
		s.Retention = s.Before
	}
	return printAnswer(command, s, s.text(cfg))
}

func (s shortened) text(cfg config.Config) string {
	if !s.Lowered {
		return fmt.Sprintf("Nothing to lower: the store keeps records for %s at least, and RETRY_AUDIT_RETENTION is %s.\n", s.Before, cfg.AuditRetention)
	}
	return fmt.Sprintf("Lowered: the store kept records for %s at least, and keeps them for %s from now on.\n", s.Before, s.Retention) +
		"Nothing is removed yet. worker audit purge --dry-run says what will be.\n"
}
