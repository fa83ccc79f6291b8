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
six steps (error received, error classified, counter checked, backoff computed,
decision taken, next try scheduled) and what each found, rejected inputs,
answers that did not reach the process, claims that a person had sent again and
why, and how each round of submissions ended.

It states what the trail knows: that the worker threw an error, not what the
model did with it; who decided an outcome only where the model named a person.
The insurer's texts are shown as they are kept: without personal data.

The text is in the language of --lang, else of RETRY_LANG, else of LC_ALL,
LC_MESSAGES or LANG; JSON is English, with times in UTC. It changes nothing and
may run while a worker runs.`,
		Example: `  worker history CLM-ENC-001-1234567890
  worker history CLM-ENC-001-1234567890 --lang pt-BR --tz America/Sao_Paulo
  worker history CLM-ENC-001-1234567890 --json | jq '.records[].kind'`,
		Args: oneClaim,
		RunE: func(command *cobra.Command, args []string) error {
			return withClaim(command, args[0], func(records []audit.Record) error {
				history, err := report.HistoryOf(records, now())
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
