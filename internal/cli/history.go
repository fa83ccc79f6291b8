package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/report"
)

func newHistory(now clock) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "history CLAIM",
		Short: "Show the history of a claim: every decision with its six steps",
		Long: `Shows what happened to a claim, from the audit store: every decision with its
six steps (error received, error classified, counter checked, backoff computed,
decision taken, next try scheduled) and what each found, rejected inputs,
answers that did not reach the process, claims that a person had sent again and
why, and how each round of submissions ended.

Times are UTC. The insurer's texts are shown as they are kept: without personal
data. It changes nothing and may run while a worker runs.`,
		Example: `  worker history CLM-ENC-001-1234567890
  worker history CLM-ENC-001-1234567890 --json | jq '.records[].kind'`,
		Args: oneClaim,
		RunE: func(command *cobra.Command, args []string) error {
			return withClaim(command, args[0], func(records []audit.Record) error {
				h, err := report.HistoryOf(records, now())
				if err != nil {
					return fmt.Errorf("%w; worker audit verify reports whether it was changed, worker audit export shows it as it is", err)
				}
				return printAnswer(command, h, h.Text())
			})
		},
	}, "print one JSON object")
}
