package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) auditPurge() *cobra.Command {
	command := &cobra.Command{
		Use:   "purge",
		Short: "Remove records that were decided before a day",
		Long: `Shows which records were decided before a day (UTC) and could be removed; with
--yes it removes them. Nothing younger than RETRY_AUDIT_RETENTION_YEARS is
removed, nor a record of an open claim or whose event is yet to be published,
nor what was decided from a day before it on. One signed cut a chain stands for
what was removed. For --yes the worker must be stopped (SQLite), or
RETRY_DATABASE_URL must name the owner of the tables (PostgreSQL).`,
		Example: `  worker audit purge --before 2021-11-01`,
	}
	flags := command.Flags()
	before := timeFlag(flags, "before", "first `DAY` that stays, as 2021-11-01")
	_ = command.MarkFlagRequired("before") // it is there
	yes := flags.Bool("yes", false, "remove the records")
	return p.answers(command, settings, func(c *call) (any, string, error) {
		if limit := audit.Cutoff(p.now(), 12*c.cfg.AuditRetentionYears); before.After(limit) {
			return nil, "", text.Messagef("RETRY_AUDIT_RETENTION_YEARS=%d keeps what was decided from %s "+
				"on: give an earlier day for --before",
				c.cfg.AuditRetentionYears, limit.Format(time.DateOnly))
		}
		done := purged{Before: *before, RetentionYears: c.cfg.AuditRetentionYears, DryRun: !*yes}
		if err := done.purge(c.Context(), c.cfg); err != nil {
			return nil, "", err
		}
		return done, done.text(c.printer), nil
	})
}

// purged is what purge answers. Its JSON form is stable.
type purged struct {
	Before         time.Time `json:"before"`
	RetentionYears int       `json:"retentionYears"`
	DryRun         bool      `json:"dryRun"`
	// Chains are what would go or went of each that has such records, and Held is what keeps others.
	Chains []audit.Purged `json:"chains"`
	Held   audit.Hold     `json:"held,omitzero"`
}

// purge removes what may go, or finds out what that is, and notes it.
func (d *purged) purge(ctx context.Context, cfg config.Config) error {
	var store audit.Store
	var err error
	if d.DryRun {
		store, err = app.OpenHistory(ctx, cfg)
	} else {
		store, err = app.OpenStore(ctx, cfg)
	}
	if err != nil {
		return err
	}
	chains, held, err := audit.Purge(ctx, store, d.Before, d.DryRun)
	d.Chains, d.Held = append([]audit.Purged{}, chains...), held // in JSON a list, even where it is empty
	return errors.Join(err, store.Close())
}

func (d *purged) text(p *text.Printer) string {
	var b strings.Builder
	say := func(words string) { b.WriteString(text.Wrap(words, "")) }
	for _, c := range d.Chains {
		chain, place := strconv.Itoa(c.Chain), strconv.FormatInt(c.Through, 10)
		if d.DryRun {
			say(p.Sprintf("Would remove %d records of chain %s, up to place %s.", c.Records, chain, place))
		} else {
			say(p.Sprintf("Removed %d records of chain %s, up to place %s.", c.Records, chain, place))
		}
	}
	if len(d.Chains) == 0 {
		before := d.Before.Format(time.DateOnly)
		say(p.Sprintf("There is nothing to remove that was decided before %s.", before))
	}
	from := text.Time(d.Held.From) // its days are those of UTC, whatever the zone
	switch {
	case d.Held.ClaimID != "":
		say(p.Sprintf("What was decided from %s on stays: claim %s is open.", from, d.Held.ClaimID))
	case !d.Held.From.IsZero():
		say(p.Sprintf("What was decided from %s on stays until its events are published.", from))
	}
	if d.DryRun && len(d.Chains) > 0 {
		say(p.Sprintf("Nothing is removed yet: give --yes to remove them."))
	}
	return b.String()
}
