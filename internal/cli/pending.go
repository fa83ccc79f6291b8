package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/report"
)

func newPending(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "pending",
		Short: "List the claims that wait for a retry, and those that are overdue",
		Long: `Lists the retries that nothing was heard of since they were scheduled: those
that wait, and those that are overdue, because their time has come and neither a
new decision nor an outcome followed. A claim that is overdue by minutes is
being submitted; one that is overdue by hours has lost its timer, its process
instance was cancelled, or its model does not report outcomes
(record-retry-outcome).

It looks at the decisions of the last 30 days, or of the time of --since.`,
		Example: `  worker pending
  worker pending --overdue --since 24h
  worker pending --json | jq -r '.[] | select(.overdueSeconds > 3600).claimId'`,
		Args: noArgs,
	}
	flags := command.Flags()
	onlyOverdue := flags.Bool("overdue", false, "only overdue retries")
	since := sinceFlag(flags, "30d", "how far back to look")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return withStore(command, func(ctx context.Context, _ config.Config, store audit.Store) error {
			now := now()
			due := now
			if !*onlyOverdue {
				due = now.Add(1000 * day) // more than any policy lets a claim wait
			}
			records, err := store.Pending(ctx, now.Add(-*since), due)
			if err != nil {
				return err
			}
			all, err := report.PendingOf(records, now)
			if err != nil {
				return err
			}
			return printAnswer(command, all, report.PendingText(all, now, *since, *onlyOverdue))
		})
	}
	return withJSON(command, "print a JSON array")
}
