package cli

import (
	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/retry/policy"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) history() *cobra.Command {
	command := &cobra.Command{
		Use:   "history CLAIM",
		Short: "Show the history of a claim, a line a try",
		Long: `Shows what happened to a claim, from the audit store: every try with its wait
and cause, rejected inputs, when a person had it sent again and why, and how it
ended. It states what the trail knows, not what the model did. It may run while
a worker runs.`,
		Example: `  worker history CLM-ENC-001-1234567890 --lang pt-BR --tz America/Sao_Paulo`,
		Args:    cobra.ExactArgs(1),
	}
	steps := command.Flags().Bool("steps", false, "also the six steps of every decision")
	return p.answers(command, aStore, func(c *call) (any, string, error) {
		state, records, err := c.claim()
		if err != nil {
			return nil, "", err
		}
		history, err := report.HistoryOf(state, records, p.now())
		if err != nil {
			return nil, "", said{text.Messagef("%s; worker audit verify reports whether it was changed, "+
				"worker audit export shows it as it is", err)}
		}
		set, err := policies("")
		if err != nil {
			set = policy.BuiltIns() // a claim has a history without the others too
		}
		return history, history.Text(c.printer, set.Get, *steps), nil
	})
}
