package cli

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) auditPurge() *cobra.Command {
	command := &cobra.Command{Use: "purge"}
	flags := command.Flags()
	day := flags.String("before", "", "first `DAY` that stays, as 2021-11-01")
	_ = command.MarkFlagRequired("before") // it is there
	yes := flags.Bool("yes", false, "remove the records")
	return p.answers(command, settings, func(c *call) (any, error) {
		before := c.day("before", time.DateOnly, *day, "")
		if c.wrong != nil {
			return nil, c.wrong
		}
		if limit := audit.Cutoff(p.now(), 12*c.cfg.AuditRetentionYears); before.After(limit) {
			return nil, text.Messagef("RETRY_AUDIT_RETENTION_YEARS=%d keeps what was decided from %s "+
				"on: give an earlier day for --before",
				c.cfg.AuditRetentionYears, limit.Format(time.DateOnly))
		}
		open := app.OpenHistory
		if *yes {
			open = app.OpenStore
		}
		store, err := open(c.Context(), c.cfg)
		if err != nil {
			return nil, err
		}
		done := purged{Before: before, RetentionYears: c.cfg.AuditRetentionYears, DryRun: !*yes}
		chains, held, err := audit.Purge(c.Context(), store, before, done.DryRun)
		if err = errors.Join(err, store.Close()); err != nil {
			return nil, err
		}
		done.Chains = append([]audit.Purged{}, chains...) // in JSON a list, even where it is empty
		done.Held = held
		done.say(c.w)
		return done, nil
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

func (d *purged) say(w *wording) {
	for _, c := range d.Chains {
		chain, place := strconv.Itoa(c.Chain), strconv.FormatInt(c.Through, 10)
		if d.DryRun {
			w.sayf("Would remove %d records of chain %s, up to place %s.", c.Records, chain, place)
		} else {
			w.sayf("Removed %d records of chain %s, up to place %s.", c.Records, chain, place)
		}
	}
	if len(d.Chains) == 0 {
		w.sayf("There is nothing to remove that was decided before %s.", d.Before.Format(time.DateOnly))
	}
	from := d.Held.From.Format(time.RFC3339) // its days are those of UTC, whatever the zone
	switch {
	case d.Held.ClaimID != "":
		w.sayf("What was decided from %s on stays: claim %s is open.", from, d.Held.ClaimID)
	case !d.Held.From.IsZero():
		w.sayf("What was decided from %s on stays until its events are published.", from)
	}
	if d.DryRun && len(d.Chains) > 0 {
		w.sayf("Nothing is removed yet: give --yes to remove them.")
	}
}
