package cli

import (
	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/claims"
	"hospital.example/analyze-retry/internal/claims/kpi"
	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/retry"
)

func (p *program) kpi() *cobra.Command {
	command := &cobra.Command{
		Use:   "kpi",
		Short: "Measure the KPIs of each policy against its targets",
		Long: `Measures the KPIs of each policy over a time against its own targets, and shows
what became of each claim: of those that ended in the time, by the outcome that
the process reports, and of all that were open at its end. For the KPIs an open
one counts in the time of its last record.`,
		Example: `  worker kpi --week last --lang pt-BR`,
	}
	since := spanFlag(command.Flags(), "since", "7d", "how far back to measure")
	periodIn := periodFlags(command)
	for _, name := range []string{"day", "week", "month", "from", "to"} {
		command.MarkFlagsMutuallyExclusive("since", name)
	}
	return p.answers(command, aStore, func(c *call) (any, string, error) {
		within, err := periodIn(p.now(), c.printer.Location()).until(p.now(), *since)
		if err != nil {
			return nil, "", err
		}
		answer, _, err := measure(c, within)
		if err != nil {
			return nil, "", err
		}
		return answer, answer.Text(c.printer), nil
	})
}

// measure returns the KPIs of a period by policy, and the claims that were open at its end. A policy that is
// not in force any more has no targets.
func measure(c *call, within period) (measured report.KPIs, open []claims.Claim, err error) {
	measured.From, measured.To = within.from.UTC(), within.to.UTC()
	set, err := policies("")
	if err != nil {
		return measured, nil, err
	}
	tally, open, err := kpi.Measure(c.Context(), c.store, within.from, within.to)
	if err != nil {
		return measured, nil, err
	}
	measured.Policies = tally.Results(func(name string) []retry.Target {
		if p, known := set.Get(name); known {
			return p.Targets
		}
		return nil
	})
	return measured, open, nil
}
