package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/report"
)

func newHistory(now clock) *cobra.Command {
	return forPeople(withJSON(&cobra.Command{
		Use:   "history CLAIM",
		Short: "Show the history of a claim: every decision with its six steps",
		Long: `Shows what happened to a claim, from the audit store: every decision with its
six steps, rejected inputs, claims that a person had sent again and why, and how
each round of submissions ended. It states what the trail knows, not what the
model did. It may run while a worker runs.`,
		Example: `  worker history CLM-ENC-001-1234567890 --lang pt-BR --tz America/Sao_Paulo`,
		Args:    oneClaim,
		RunE: func(command *cobra.Command, args []string) error {
			return withClaim(command, args[0], func(state *audit.State, records []audit.Record) error {
				history, err := report.HistoryOf(state, records, now())
				if err != nil {
					return fmt.Errorf("%w; worker audit verify reports whether it was changed, worker audit export shows it as it is", err)
				}
				p, err := printerOf(command)
				if err != nil {
					return err
				}
				return printAnswer(command, history, history.Text(p))
			})
		},
	}, "print one JSON object"))
}
