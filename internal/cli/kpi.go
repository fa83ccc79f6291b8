package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/report"
)

func newKPI(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "kpi",
		Short: "Measure the KPIs of the rule against their targets",
		Long: `Measures the KPIs of RN-BIL-005 and of the older RN-BIL-004 over the records
of the last days, each against its target:

  success after retry      accepted, of the rounds that had a retry and ended
  time to success          from the first failure to the acceptance, where there
                           was a retry; mean and median
  permanent errors         of all errors that were decided about
  retries used up          claims at the limit, of all claims decided about
  claims lost              the same, of the claims that were retried
  attempts to success      submissions for each acceptance

A round is the submissions of a claim until it is accepted, a person submits it
again, or a person gives it up. How rounds end is known from the outcomes that
the process reports (record-retry-outcome).`,
		Example: `  worker kpi
  worker kpi --since 24h --json | jq '.kpis[] | select(.verdict == "missed")'`,
		Args: noArgs,
	}
	flags := command.Flags()
	since := sinceFlag(flags, "7d", "how far back to measure")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return withStore(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			to := now().UTC()
			answer := report.KPIs{From: to.Add(-*since), To: to}
			var tally kpi.Tally
			if err := store.Between(ctx, answer.From, to, tally.Add); err != nil {
				return err
			}
			answer.KPIs, answer.Counts = tally.Indicators(), tally.Counts()
			return printAnswer(command, answer, answer.Text())
		})
	}
	return withJSON(command, "print one JSON object")
}
