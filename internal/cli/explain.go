package cli

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/report"
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
	var q explainFlags
	flags := command.Flags()
	flags.StringVar(&q.SubmissionError, "error", "", "the error text of the submission")
	flags.IntVar(&q.RetryCount, "retry-count", 0, "retries so far")
	flags.StringVar(&q.ClaimID, "claim", "", "claim ID, for its own waits")
	flags.Int64Var(&q.ProcessInstanceKey, "process-instance", 0, "its process instance key")
	named := policyFlag(command)
	flags.StringVar(&q.retryAfter, "retry-after", "", "the job's variable retryAfter: seconds or a time")
	flags.StringVar(&q.retryUntil, "retry-until", "", "the job's variable retryUntil, a deadline: a `TIME`")
	return p.answers(command, nothing, func(*call) (any, string, error) {
		_, by, err := namedPolicy(*named)
		if err != nil {
			return nil, "", err
		}
		if err := q.read(by); err != nil {
			return nil, "", usageError{err}
		}
		e, err := report.Explain(by, q.Request, p.now())
		if err != nil {
			return nil, "", usageError{err}
		}
		return e, e.Text(), nil
	})
}

// explainFlags are the flags as they are given, and what read makes of them.
type explainFlags struct {
	retry.Request

	retryAfter, retryUntil string
}

// read reads the flags as the policy does, and returns all that is wrong with any.
func (q *explainFlags) read(by *retry.Policy) error {
	var wrong faults
	var ok bool
	q.RetryUntil, ok = retry.ParseRetryUntil(q.retryUntil, by.Zone)
	wrong.when(q.retryUntil != "" && !ok, "--retry-until is %q but must be %s", q.retryUntil, retry.RuleTime)
	if q.RetryAfter, ok = retry.ParseRetryAfter(q.retryAfter, by.Zone); !ok { // ignored as the worker does
		q.Ignored = []string{contract.RetryAfter}
	}
	alone := (q.ClaimID == "") != (q.ProcessInstanceKey == 0)
	wrong.when(alone, "--claim and --process-instance go together")
	flags := map[string]string{
		"claimId":         "--claim",
		"submissionError": "--error",
		"retryCount":      "--retry-count",
	}
	request := q.Request
	request.ClaimID = cmp.Or(request.ClaimID, report.AnyClaim)
	for _, f := range by.Faults(request) {
		if f.Variable == "claimId" {
			f.Value = text.Messagef("%q", q.ClaimID) // as it was typed, not masked as in a log
		}
		wrong.when(true, "%s is %s but must be %s", flags[f.Variable], f.Value, f.Rule)
	}
	return errors.Join(wrong...)
}
