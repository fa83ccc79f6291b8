package cli

import (
	"cmp"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

func newExplain(now clock) *cobra.Command {
	command := &cobra.Command{
		Use:   "explain --error TEXT",
		Short: "Explain a decision and the schedule ahead, offline",
		Long: `Explains what the worker decides for an error text and a retry count: the
decision, the rule that matched, and the waits ahead if the submission keeps
failing. It asks no broker. worker policies NAME shows the rules of a policy.`,
		Example: `  worker explain --error "TIMEOUT after 30 s" --retry-count 1`,
		Args:    noArgs,
	}
	var q explainFlags
	flags := command.Flags()
	flags.StringVar(&q.SubmissionError, "error", "", "the error text of the submission")
	flags.IntVar(&q.RetryCount, "retry-count", 0, "retries so far")
	flags.StringVar(&q.ClaimID, "claim", "", "claim ID, for its own waits")
	flags.Int64Var(&q.ProcessInstanceKey, "process-instance", 0, "its process instance key")
	flags.StringVar(&q.policy, "policy", defaultPolicy, policyHelp)
	flags.StringVar(&q.retryAfter, "retry-after", "", "the job's variable retryAfter: seconds or a time")
	flags.StringVar(&q.retryUntil, "retry-until", "", "the job's variable retryUntil, a deadline: a `TIME`")
	command.RunE = func(command *cobra.Command, _ []string) error {
		p, err := policyByName(command.Context(), q.policy)
		if err := errors.Join(append(q.read(p), err)...); err != nil {
			return usageError{err}
		}
		e, err := report.Explain(p, q.Request, now())
		if err != nil {
			return usageError{err}
		}
		return printAnswer(command, e, e.Text())
	}
	return withJSON(command, "print one JSON object")
}

// defaultPolicy is the policy of explain and simulate where none is named.
const defaultPolicy = "tiss"

// explainFlags are the flags as they are given, and what read makes of them.
type explainFlags struct {
	retry.Request
	policy, retryAfter, retryUntil string
}

// read reads the flags whose meaning depends on others, and returns all that is wrong with any. Where the policy is not
// known it is nil, and what depends on it is not checked.
func (q *explainFlags) read(p *retry.Policy) (wrong faults) {
	zone := time.UTC
	if p != nil {
		zone = p.Zone
	}
	var ok bool
	q.RetryUntil, ok = retry.ParseRetryUntil(q.retryUntil, zone)
	wrong.when(q.retryUntil != "" && !ok, "--retry-until is %q but must be %s", q.retryUntil, retry.RuleTime)
	q.RetryAfter, q.Ignored.RetryAfter = retry.ParseRetryAfter(q.retryAfter, zone) // ignored as the worker does
	wrong.when((q.ClaimID == "") != (q.ProcessInstanceKey == 0), "--claim and --process-instance go together")
	if p == nil {
		return wrong
	}
	flags := map[string]string{"claimId": "--claim", "submissionError": "--error", "retryCount": "--retry-count"}
	request := q.Request
	request.ClaimID = cmp.Or(request.ClaimID, report.AnyClaim)
	for _, f := range p.Faults(request) {
		if f.Variable == "claimId" {
			f.Value = text.Messagef("%q", q.ClaimID) // as it was typed, not masked as in a log
		}
		wrong.when(true, "%s is %s but must be %s", flags[f.Variable], f.Value, f.Rule)
	}
	return wrong
}
