package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

func newExplain(now clock) *cobra.Command {
	tiss := policy.BuiltIn(defaultPolicy)
	command := &cobra.Command{
		Use:   "explain --error TEXT",
		Short: "Explain a decision and the schedule ahead, offline",
		Long:  explainHelp(tiss),
		Example: `  worker explain --error "TIMEOUT after 30 s" --retry-count 1
  worker explain --error 503 --claim CLM-1-7 --process-instance 2251799813685249
  worker explain --policy smtp --error "421 try later" --claim mail-7
  worker explain --error 503 --retry-after 3600 --deadline 72h`,
		Args: noArgs,
	}
	var q asked
	flags := command.Flags()
	flags.StringVar(&q.SubmissionError, "error", "", "the error text of the submission")
	flags.IntVar(&q.RetryCount, "retry-count", 0, "how often it was tried again so far")
	flags.StringVar(&q.ClaimID, "claim", "", "the claim, to see a sample wait")
	flags.Int64Var(&q.ProcessInstanceKey, "process-instance", 0, "as logged, to see the exact wait of --claim")
	flags.StringVar(&q.policy, "policy", defaultPolicy, policyHelp)
	flags.StringVar(&q.retryAfter, "retry-after", "", "the job's variable retryAfter: seconds or a time")
	flags.StringVar(&q.retryUntil, "retry-until", "", "the job's variable retryUntil, a deadline: a `TIME`")
	flags.StringVar(&q.firstFailure, "first-failure", "", "`TIME` from which a deadline counts (default now)")
	maxRetries := flags.Int("max-retries", 0, "override, as a task header does")
	flags.Var(&q.base, "base", "override, as a task header does")
	flags.Var(&q.max, "max", "override, as a task header does")
	flags.Var(&q.deadline, "deadline", "override: a span from the first failure")
	asJSON := flags.Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if flags.Changed("max-retries") {
			q.overrides.MaxRetries = maxRetries
		}
		p, err := tiss, error(nil)
		// A configuration that is broken or far away hinders nobody from asking, as long as none of it counts.
		if flags.Changed("policy") || config.Process().PoliciesFile() != "" {
			p, err = policyByName(command.Context(), q.policy)
		}
		if err := errors.Join(append(q.read(p), err)...); err != nil {
			return usageError{err}
		}
		e, err := explain(p, &q, now())
		if err != nil {
			return usageError{err}
		}
		return printAnswer(command, *asJSON, e, e.text())
	}
	return command
}

// defaultPolicy is what explain asks where no policy is named.
const defaultPolicy = "tiss"

// asked is what explain is asked: the flags as they are given, and what read makes of them.
type asked struct {
	retry.Request
	policy, retryAfter, retryUntil, firstFailure string
	base, max, deadline                          wait
	overrides                                    retry.Overrides
}

// read reads the flags whose meaning depends on others, and returns all that is wrong with any. Of what depends on the
// policy it says nothing where that is not known: nil.
func (q *asked) read(p *retry.Policy) (faults []error) {
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	for _, f := range []struct {
		flag string
		span wait
		into *time.Duration
	}{{"base", q.base, &q.overrides.Base}, {"max", q.max, &q.overrides.Max}, {"deadline", q.deadline, &q.overrides.Deadline}} {
		fault(f.span.given && f.span.Duration <= 0, "--%s is %s but must be more than 0", f.flag, retry.FormatDuration(f.span.Duration))
		*f.into = max(f.span.Duration, 0)
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
		fault(f.text != "" && !ok, "--%s is %q but must be %s", f.flag, f.text, retry.RuleTime)
		*f.into = t
	}
	q.RetryAfter, q.Ignored.RetryAfter = retry.ParseRetryAfter(q.retryAfter, zone) // ignored as the worker does, and told
	fault(q.ClaimID == "" && q.ProcessInstanceKey != 0, "--process-instance needs --claim")
	if p == nil {
		return faults
	}
	_, err := p.With(q.overrides)
	fault(err != nil, "the overrides make no sense: %s", strings.ReplaceAll(fmt.Sprint(err), "\n", ", "))
	flags := map[string]string{"claimId": "--claim", "submissionError": "--error", "retryCount": "--retry-count"}
	request, _ := q.request()
	for _, f := range p.Faults(request) {
		if f.Variable == "claimId" {
			f.Value = fmt.Sprintf("%q", q.ClaimID) // as it was typed, not masked as in a log
		}
		fault(true, "%s is %s but must be %s", flags[f.Variable], f.Value, f.Rule)
	}
	return faults
}

// explanation is what explain answers. Its JSON form is stable: names are added, never changed.
type explanation struct {
	Policy         string      `json:"policy"`
	PolicyVersion  string      `json:"policyVersion"`
	Outcome        string      `json:"outcome"`
	BPMNError      string      `json:"bpmnError,omitempty"`
	Classification retry.Class `json:"errorClassification"`
	Rule           string      `json:"rule"`
	MatchedCode    string      `json:"matchedCode,omitempty"`
	Reason         string      `json:"retryReason"`
	RetryCount     int         `json:"retryCount"`
	MaxRetries     int         `json:"maxRetries"`
	ClaimID        string      `json:"claimId,omitempty"`
	// Instance is the process instance key; absent where none was given.
	Instance int64 `json:"processInstanceKey,omitempty"`
	// Decision is the object that a process would get. Where the wait is known as a band only, it has no backoffDuration.
	Decision contract.Explanation `json:"retryDecision"`
	// Waits tells how much is known of the waits in the schedule.
	Waits knowledge `json:"waits"`
	// Schedule is the waits from this decision on, empty where it stops.
	Schedule []step `json:"schedule"`

	// claims reports whether the policy is about claims, whose teams are known. lacksTime says that the schedule ends because
	// no further try fits before the deadline.
	claims, lacksTime bool
}

// knowledge tells how much of a wait is known. It depends on policy, retry count, claim and process instance.
type knowledge string

const (
	bandOnly knowledge = "band"   // without a claim
	sample   knowledge = "sample" // with a claim: the wait of process instance 0, which does not exist
	exact    knowledge = "exact"  // with a claim and its process instance
)

// explain asks the rule what read has found in order.
func explain(p *retry.Policy, q *asked, now time.Time) (explanation, error) {
	p, err := p.With(q.overrides)
	if err != nil {
		return explanation{}, err
	}
	request, waits := q.request()
	d, err := p.Decide(request, now)
	if err != nil {
		return explanation{}, err
	}
	e := explanation{
		Policy:         d.Policy,
		PolicyVersion:  d.PolicyVersion,
		Outcome:        d.Outcome.String(),
		BPMNError:      d.ErrorCode(),
		Classification: d.Error.Class,
		Rule:           d.Error.RuleID,
		MatchedCode:    d.Error.Code,
		Reason:         d.Reason(),
		RetryCount:     d.RetryCount,
		MaxRetries:     d.MaxRetries,
		ClaimID:        q.ClaimID,
		Instance:       q.ProcessInstanceKey,
		Waits:          waits,
		Schedule:       []step{}, // in JSON a list, even where it is empty
		claims:         p.IDs == retry.ClaimIDs,
	}
	e.Decision = contract.Explain(&d)
	if d.Outcome == retry.OutcomeRetry {
		s := schedule{policy: p, request: request, waits: waits, deadline: d.Deadline, now: now}
		e.Schedule, e.lacksTime = s.steps(&d)
		if first := &e.Schedule[0]; first.shortest != first.longest && waits == bandOnly {
			e.Decision.BackoffDuration = ""
		}
	}
	return e, nil
}

// request is what the rule is asked, and how much is known of its waits.
func (q *asked) request() (retry.Request, knowledge) {
	request := q.Request
	switch {
	case q.ClaimID == "":
		request.ClaimID = "CLM-0-0" // any valid one: it decides nothing but the wait
		return request, bandOnly
	case q.ProcessInstanceKey == 0:
		return request, sample
	default:
		return request, exact
	}
}
