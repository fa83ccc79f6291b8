package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) history() *cobra.Command {
	return p.forPeople(&cobra.Command{
		Use:   "history CLAIM",
		Short: "Show the history of a claim: every decision with its six steps",
		Long: `Shows what happened to a claim, from the audit store: every decision with its
six steps, rejected inputs, claims that a person had sent again and why, and how
each round of submissions ended. It states what the trail knows, not what the
model did. It may run while a worker runs.`,
		Example: `  worker history CLM-ENC-001-1234567890 --lang pt-BR --tz America/Sao_Paulo`,
		Args:    cobra.ExactArgs(1),
	}, func(c *call, printer *text.Printer) (any, string, error) {
		state, records, err := c.claim()
		if err != nil {
			return nil, "", err
		}
		history, err := report.HistoryOf(state, records, p.now())
		if err != nil {
			return nil, "", fmt.Errorf("%w; worker audit verify reports whether it was changed, "+
				"worker audit export shows it as it is", err)
		}
		return history, history.Text(printer), nil
	})
}
