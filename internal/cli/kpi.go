package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/retry"
)

func newKPI(now clock) *cobra.Command {
	command := forPeople(&cobra.Command{
		Use:   "kpi",
		Short: "Measure the KPIs of each policy against its targets",
		Long: `Measures the KPIs of each policy over a time against its own targets, and shows
what became of each claim. A claim counts in the time in which it ended, by the
outcome that the process reports; an open one in that of its last record.`,
		Example: `  worker kpi --month 2026-11 --tz America/Sao_Paulo --lang pt-BR`,
		Args:    noArgs,
	})
	since := sinceFlag(command, "7d", "how far back to measure")
	addPeriod(command)
	for _, name := range []string{"month", "from", "to"} {
		command.MarkFlagsMutuallyExclusive("since", name)
	}
	command.RunE = func(command *cobra.Command, _ []string) error {
		p, err := printerOf(command)
		if err != nil {
			return err
		}
		within, err := periodOf(command, p.Location())
		if err != nil {
			return err
		}
		if within, err = within.until(now(), *since); err != nil {
			return err
		}
		return withStore(command, func(ctx context.Context, cfg config.Config, store audit.Store) error {
			policies, err := measure(ctx, cfg, store, within)
			if err != nil {
				return err
			}
			answer := report.KPIs{From: within.from.UTC(), To: within.to.UTC(), Policies: policies}
			return printAnswer(command, answer, answer.Text(p))
		})
	}
	return withJSON(command, "print one JSON object")
}

// until returns the period with what is missing: it ends now, and begins so long before its end. It never ends later than now, and
// it is an error if it has not begun.
func (p period) until(now time.Time, since time.Duration) (period, error) {
	if p.to.IsZero() || p.to.After(now) {
		p.to = now
	}
	if p.from.IsZero() {
		p.from = p.to.Add(-since)
	}
	if !p.from.Before(p.to) {
		return p, usageError{fmt.Errorf("the time begins %s, which is not in the past", p.from.Format(time.RFC3339))}
	}
	return p, nil
}

// measure returns the KPIs of a period by policy.
func measure(ctx context.Context, cfg config.Config, store audit.Store, within period) ([]kpi.Result, error) {
	policies, err := policy.Open(policy.Source{File: cfg.PoliciesFile})
	if err != nil {
		return nil, err
	}
	tally, err := kpi.Measure(ctx, store, within.from, within.to)
	if err != nil {
		return nil, err
	}
	return tally.Results(func(name string) []retry.Target { return targets(policies, name) }), nil
}

// targets returns those of a policy, none of one that is not in force any more.
func targets(set *policy.Set, name string) []retry.Target {
	p, known := set.Get(name)
	if !known {
		return nil
	}
	return p.Targets
}
