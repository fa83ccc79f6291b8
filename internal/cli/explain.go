package cli

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/worker/input"
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
	flags.StringVar(&q.text, "error", "", "the error text of the submission")
	flags.IntVar(&q.count, "retry-count", 0, "retries so far")
	flags.StringVar(&q.claim, "claim", "", "claim ID, for its own waits")
	flags.Int64Var(&q.instance, "process-instance", 0, "its process instance key")
	named := policyFlag(command)
	flags.StringVar(&q.after, "retry-after", "", "the job's variable retryAfter: seconds or a time")
	flags.StringVar(&q.until, "retry-until", "", "the job's variable retryUntil, a deadline: a `TIME`")
	return p.answers(command, nothing, func(*call) (any, string, error) {
		known, by, err := namedPolicy(*named)
		if err != nil {
			return nil, "", err
		}
		request, err := q.read(known, by.Name)
		if err != nil {
			return nil, "", usageError{err}
		}
		e := report.Explain(by, request, p.now())
		return e, e.Text(), nil
	})
}

// explainFlags are the flags as they are given.
type explainFlags struct {
	text, claim, after, until string
	count                     int
	instance                  int64
}

// read reads the flags as the worker reads the variables of a job, and returns all that is wrong with any.
func (q *explainFlags) read(known *policy.Set, name string) (retry.Request, error) {
	variables := map[string]any{
		contract.ClaimID:         cmp.Or(q.claim, "CLM-0-0"),
		contract.SubmissionError: q.text,
		contract.RetryCount:      q.count,
		contract.RetryAfter:      q.after,
	}
	if q.until != "" {
		variables[contract.RetryUntil] = q.until
	}
	s, _ := json.Marshal(variables) // texts and a number
	d := input.ReadDecision(&job.Job{Variables: string(s), ProcessInstanceKey: q.instance}, known, name)
	var wrong faults
	wrong.when((q.claim == "") != (q.instance == 0), "--claim and --process-instance go together")
	flags := map[string]string{
		contract.ClaimID:         "--claim",
		contract.SubmissionError: "--error",
		contract.RetryCount:      "--retry-count",
		contract.RetryUntil:      "--retry-until",
	}
	for _, f := range d.Invalid {
		wrong.when(true, "%s is %s but must be %s", flags[f.Name], f.Value, f.Rule)
	}
	if q.claim == "" {
		d.Request.ClaimID = ""
	}
	return d.Request, errors.Join(wrong...)
}
