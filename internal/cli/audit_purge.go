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
	"hospital.example/analyze-retry/internal/text"
)

func newAuditPurge(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "purge",
		Short: "Remove records that were decided before a day",
		Long: `Shows which records were decided before a day (UTC) and could be removed; with
--yes it removes them. Nothing younger than RETRY_AUDIT_RETENTION goes, and no
record whose event is yet to be published, nor what came after it. One signed
cut a chain stands for what was removed. For --yes the worker must be stopped
(SQLite), or RETRY_DATABASE_URL must name the owner of the tables (PostgreSQL).`,
		Example: `  worker audit purge --before 2021-11-01`,
		Args:    noArgs,
	}
	flags := command.Flags()
	var before time.Time
	flags.Var(&notation{kind: "DAY", read: func(s string) (err error) {
		if before, err = time.Parse(dayLayout, s); err != nil {
			return errors.New("give a day such as 2021-11-01")
		}
		return nil
	}}, "before", "first day whose records stay, as 2021-11-01")
	yes := flags.Bool("yes", false, "remove the records")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if before.IsZero() {
			return usageError{errors.New("--before is missing: give the first day whose records stay, as 2021-11-01")}
		}
		cfg, err := loadConfig(command)
		if err != nil {
			return err
		}
		if limit := audit.Cutoff(now(), int(cfg.AuditRetention)); before.After(limit) {
			return fmt.Errorf("RETRY_AUDIT_RETENTION=%s keeps what was decided from %s on: give an earlier day for --before", cfg.AuditRetention, limit.Format(dayLayout))
		}
		p := purged{Before: before, Retention: cfg.AuditRetention.String(), DryRun: !*yes, Runs: []run{}}
		if *yes {
			err = p.remove(command.Context(), cfg, now())
		} else {
			err = p.preview(command.Context(), cfg)
		}
		if err == nil || *yes && len(p.Runs) > 0 { // what was removed is reported, also after an error
			err = errors.Join(printAnswer(command, p, p.text()), err)
		}
		return err
	}
	return withJSON(command, "print one JSON object")
}

// purged is what purge answers. Its JSON form is stable.
type purged struct {
	Before    time.Time `json:"before"`
	Retention string    `json:"retention"`
	DryRun    bool      `json:"dryRun"`
	// Runs are what would go or went, at most one of each chain.
	Runs []run `json:"removed"`
	// Unpublished are the chains whose next record stays although it is old enough, because its event is not published.
	Unpublished []int `json:"unpublishedChains,omitempty"`
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

// preview finds what a purge would remove. It changes nothing.
func (p *purged) preview(ctx context.Context, cfg config.Config) error {
	store, err := app.OpenHistory(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(p.find(ctx, store, func(audit.Expired) error { return nil }), store.Close())
}

func (p *purged) remove(ctx context.Context, cfg config.Config, now time.Time) error {
	store, secret, err := app.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	purge := func(e audit.Expired) error { return store.Purge(ctx, secret.Cut(e, now)) }
	return errors.Join(p.find(ctx, store, purge), store.Close())
}

// find does something with each run that may go, and notes it.
func (p *purged) find(ctx context.Context, store audit.Store, do func(audit.Expired) error) error {
	expired, err := store.Expired(ctx, p.Before)
	if err != nil {
		return err
	}
	for _, e := range expired {
		if e.Unpublished {
			p.Unpublished = append(p.Unpublished, e.Chain)
		}
		if e.Through < e.From {
			continue
		}
		if err := do(e); err != nil {
			return err
		}
		p.Runs = append(p.Runs, run{e.Chain, e.From, e.Through, e.Through - e.From + 1, e.Oldest, e.Newest, e.Hash.String()})
	}
	return nil
}

func (p *purged) text() string {
	var b strings.Builder
	did := "Removed"
	if p.DryRun {
		did = "Would remove"
	}
	if len(p.Runs) == 0 {
		fmt.Fprintf(&b, "%s nothing: no record was decided before %s and is published.\n", did, p.Before.Format(dayLayout))
	}
	for _, r := range p.Runs {
		fmt.Fprintf(&b, "%s %s of chain %d, places %d to %d,\n  decided from %s to %s.\n",
			did, text.Count(r.Records, "record"), r.Chain, r.From, r.Through, text.Millis(r.Oldest), text.Millis(r.Newest))
	}
	for _, chain := range p.Unpublished {
		fmt.Fprintf(&b, "Older records of chain %d stay until their events are published.\n", chain)
	}
	if p.DryRun && len(p.Runs) > 0 {
		b.WriteString("Nothing is removed yet: give --yes to remove them.\n")
	}
	return b.String()
}
