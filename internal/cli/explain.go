package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/cli/report"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

func (p *program) explain() *cobra.Command {
	command := &cobra.Command{
		Use:   "explain --error TEXT",
		Short: "Explain a decision and the schedule ahead, offline",
		Long: `Explains what the worker decides for an error text and a retry count: the
decision, the rule that matched, and the waits ahead if the submission keeps
failing. It asks no broker. worker policies NAME shows the rules of a policy.`,
		Example: `  worker explain --error "TIMEOUT after 30 s" --retry-count 1`,
	}
	flags := command.Flags()
	errorText := flags.String("error", "", "the error text of the submission")
	count := flags.Uint16("retry-count", 0, "retries so far")
	named := policyFlag(command)
	_ = command.MarkFlagRequired("error") // it is there
	return p.answers(command, language, func(c *call) (any, string, error) {
		_, by, err := namedPolicy(*named)
		if err != nil {
			return nil, "", err
		}
		if strings.TrimSpace(*errorText) == "" && !by.AcceptEmptyError {
			return nil, "", usageError{said{text.Messagef("--error is blank: the policy has an incident " +
				"for that")}}
		}
		e := report.Explain(by, retry.Request{SubmissionError: *errorText, RetryCount: int(*count)}, p.now())
		return e, e.Text(c.printer), nil
	})
}
