package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

func newExplain() *cobra.Command {
	tiss := policy.BuiltIn("tiss")
	command := &cobra.Command{
		Use:   "explain --error TEXT",
		Short: "Explain a decision and the schedule ahead, offline",
		Long:  explainHelp(tiss),
		Example: `  worker explain --error "TIMEOUT after 30 s" --retry-count 1
  worker explain --error 503 --claim CLM-1-7 --process-instance 2251799813685249`,
		Args: noArgs,
	}
	var request retry.Request
	flags := command.Flags()
	flags.StringVar(&request.SubmissionError, "error", "", "the error text of the submission")
	flags.IntVar(&request.RetryCount, "retry-count", 0, "how often it was tried again so far")
	flags.StringVar(&request.ClaimID, "claim", "", "the claim, to see a sample wait")
	flags.Int64Var(&request.ProcessInstanceKey, "process-instance", 0, "as logged, to see the exact wait of --claim")
	asJSON := flags.Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, _ []string) error {
		explanation, err := explain(tiss, request)
		if err != nil {
			return usageError{err}
		}
		return printAnswer(command, *asJSON, explanation, explanation.text())
	}
	return command
}

func explainHelp(tiss *retry.Policy) string {
	byClass := map[retry.Class][]string{}
	for _, rule := range tiss.Rules {
		byClass[rule.Class] = append(byClass[rule.Class], rule.Label())
	}
	return fmt.Sprintf(`Explains what the worker decides for an error text and a retry count: the
decision, the rule that matched, and the waits ahead if the submission keeps
failing. It asks no broker and changes nothing.

The rule, policy %s, in this order:
  1. retry count %d or more: stop, %s
  2. the text contains a permanent code: stop, %s
%s  3. it contains a transient code: try again
%s  4. anything else: try again, class UNKNOWN`,
		tiss.Name, tiss.MaxRetries, retry.CodeMaxRetriesExceeded, retry.CodePermanentError,
		wrap(strings.Join(byClass[retry.Permanent], ", "), "       "),
		wrap(strings.Join(byClass[retry.Transient], ", "), "       "))
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
	// Waits tells how much is known of the waits in the schedule.
	Waits knowledge `json:"waits"`
	// Schedule is the waits from this decision on, empty where it stops.
	Schedule []step `json:"schedule"`
}

// knowledge tells how much of a wait is known. It depends on policy, retry count, claim and process instance.
type knowledge string

const (
	bandOnly knowledge = "band"   // without a claim
	sample   knowledge = "sample" // with a claim: the wait of process instance 0, which does not exist
	exact    knowledge = "exact"  // with a claim and its process instance
)

// step is one wait of the schedule, in minutes.
type step struct {
	Retry        int `json:"retry"`
	BeforeJitter int `json:"beforeJitterMinutes"`
	Shortest     int `json:"shortestMinutes"`
	Longest      int `json:"longestMinutes"`
	// Wait is the claim's own; absent where no claim was given.
	Wait int `json:"waitMinutes,omitempty"`
	// All the waits up to and with this one.
	TotalShortest int `json:"totalShortestMinutes"`
	TotalLongest  int `json:"totalLongestMinutes"`
	Total         int `json:"totalMinutes,omitempty"`
}

// explain asks the rule. Its error says which flags are wrong.
func explain(tiss *retry.Policy, asked retry.Request) (explanation, error) {
	request, waits := asked, exact
	switch {
	case asked.ClaimID == "" && asked.ProcessInstanceKey != 0:
		return explanation{}, errors.New("--process-instance needs --claim")
	case asked.ClaimID == "":
		waits = bandOnly
		request.ClaimID = "CLM-0-0" // any valid one: it decides nothing but the wait
	case asked.ProcessInstanceKey == 0:
		waits = sample
	}
	flags := map[string]string{"claimId": "--claim", "submissionError": "--error", "retryCount": "--retry-count"}
	var faults []error
	for _, f := range tiss.Faults(request) {
		faults = append(faults, fmt.Errorf("%s is %s but must be %s", flags[f.Variable], f.Value, f.Rule))
	}
	if err := errors.Join(faults...); err != nil {
		return explanation{}, err
	}
	d, err := tiss.Decide(request, time.Time{})
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
		ClaimID:        asked.ClaimID,
		Instance:       asked.ProcessInstanceKey,
		Waits:          waits,
		Schedule:       []step{}, // in JSON a list, even where it is empty
	}
	if d.Outcome == retry.OutcomeRetry {
		e.Schedule = schedule(tiss, request, waits)
	}
	return e, nil
}

// schedule lists the waits from the request's retry count to the limit.
func schedule(tiss *retry.Policy, request retry.Request, waits knowledge) []step {
	var steps []step
	var total step // of which only the sums are used
	for ; request.RetryCount < tiss.MaxRetries; request.RetryCount++ {
		shortest, longest := tiss.Band(request.RetryCount)
		total.TotalShortest += minutes(shortest)
		total.TotalLongest += minutes(longest)
		s := step{
			Retry:         request.RetryCount + 1,
			BeforeJitter:  minutes(tiss.Delay(request.RetryCount)),
			Shortest:      minutes(shortest),
			Longest:       minutes(longest),
			TotalShortest: total.TotalShortest,
			TotalLongest:  total.TotalLongest,
		}
		if waits != bandOnly {
			s.Wait = minutes(tiss.Backoff(request))
			total.Total += s.Wait
			s.Total = total.Total
		}
		steps = append(steps, s)
	}
	return steps
}

func minutes(d time.Duration) int { return int(d / time.Minute) }
