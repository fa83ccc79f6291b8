package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/lang"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/retry"
)

func newExplain(now clock) *cobra.Command {
	tiss := policy.BuiltIn(defaultPolicy)
	command := &cobra.Command{
		Use:   "explain --error TEXT",
		Short: "Explain a decision and the schedule ahead, offline",
		Long:  report.ExplainHelp(tiss),
		Example: `  worker explain --error "TIMEOUT after 30 s" --retry-count 1
  worker explain --error 503 --claim CLM-1-7 --process-instance 2251799813685249
  worker explain --policy smtp --error "421 try later" --claim mail-7
  worker explain --error 503 --retry-after 3600 --deadline 72h`,
		Args: noArgs,
	}
	var q explainFlags
	flags := command.Flags()
	flags.StringVar(&q.SubmissionError, "error", "", "the error text of the submission")
	flags.IntVar(&q.RetryCount, "retry-count", 0, "retries so far")
	flags.StringVar(&q.ClaimID, "claim", "", "claim ID, for a sample of its waits")
	flags.Int64Var(&q.ProcessInstanceKey, "process-instance", 0, "its process instance key, for its exact waits")
	flags.StringVar(&q.policy, "policy", defaultPolicy, policyHelp)
	flags.StringVar(&q.retryAfter, "retry-after", "", "the job's variable retryAfter: seconds or a time")
	flags.StringVar(&q.retryUntil, "retry-until", "", "the job's variable retryUntil, a deadline: a `TIME`")
	flags.StringVar(&q.firstFailure, "first-failure", "", "`TIME` from which a deadline counts (default now)")
	maxRetries := flags.Int("max-retries", 0, "override maxRetries, as a task header does")
	spanFlag(flags, &q.overrides.Base, "base", "override base, as a task header does")
	spanFlag(flags, &q.overrides.Max, "max", "override max, as a task header does")
	spanFlag(flags, &q.overrides.Deadline, "deadline", "override deadline, counted from the first failure")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if flags.Changed("max-retries") {
			q.overrides.MaxRetries = maxRetries
		}
		p, err := tiss, error(nil)
		// A configuration that is broken or far away hinders nobody from asking, as long as none of it counts.
		if flags.Changed("policy") || config.Process().PoliciesFile() != "" {
			p, err = policyByName(command.Context(), q.policy)
		}
		if err := errors.Join(append(q.read(p, flags), err)...); err != nil {
			return usageError{err}
		}
		if p, err = p.With(q.overrides); err != nil {
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

// defaultPolicy is the policy of explain where none is named.
const defaultPolicy = "tiss"

// explainFlags are the flags as they are given, and what read makes of them.
type explainFlags struct {
	retry.Request
	policy, retryAfter, retryUntil, firstFailure string
	overrides                                    retry.Overrides
}

// read reads the flags whose meaning depends on others, and returns all that is wrong with any. Where the policy is not known
// it is nil, and what depends on it is not checked.
func (q *explainFlags) read(p *retry.Policy, given *pflag.FlagSet) (wrong faults) {
	for _, f := range []struct {
		flag string
		span *time.Duration
	}{{"base", &q.overrides.Base}, {"max", &q.overrides.Max}, {"deadline", &q.overrides.Deadline}} {
		wrong.when(given.Changed(f.flag) && *f.span <= 0, "--%s is %s but must be more than 0", f.flag, retry.FormatDuration(*f.span))
		*f.span = max(*f.span, 0)
	}
	zone := time.UTC
	if p != nil {
		zone = p.Zone
	}
	for _, f := range []struct {
		flag, text string
		into       *time.Time
	}{{"retry-until", q.retryUntil, &q.RetryUntil}, {"first-failure", q.firstFailure, &q.FirstFailure}} {
		t, ok := retry.ParseRetryUntil(f.text, zone)
		wrong.when(f.text != "" && !ok, "--%s is %q but must be %s", f.flag, f.text, retry.RuleTime)
		*f.into = t
	}
	q.RetryAfter, q.Ignored.RetryAfter = retry.ParseRetryAfter(q.retryAfter, zone) // ignored as the worker does
	wrong.when(q.ClaimID == "" && q.ProcessInstanceKey != 0, "--process-instance needs --claim")
	if p == nil {
		return wrong
	}
	_, err := p.With(q.overrides)
	wrong.when(err != nil, "the overrides make no sense: %s", strings.ReplaceAll(fmt.Sprint(err), "\n", ", "))
	flags := map[string]string{"claimId": "--claim", "submissionError": "--error", "retryCount": "--retry-count"}
	request := q.Request
	request.ClaimID = cmp.Or(request.ClaimID, report.AnyClaim)
	for _, f := range p.Faults(request) {
		if f.Variable == "claimId" {
			f.Value = lang.Textf("%q", q.ClaimID) // as it was typed, not masked as in a log
		}
		wrong.when(true, "%s is %s but must be %s", flags[f.Variable], f.Value, f.Rule)
	}
	return wrong
}
