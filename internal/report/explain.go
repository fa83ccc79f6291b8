package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Explanation is what explain answers: what a process would get, and why. Where the wait is known as a band only, it has no
// wait and no time of the next try. Its JSON form is stable: names are added, never changed.
type Explanation struct {
	contract.Decision

	BPMNError string `json:"bpmnError,omitempty"`
	// Evidence is what was found in the error text; Later are the rules that match it too, after the one that decides.
	Evidence []string `json:"evidence"`
	Later    []later  `json:"laterRules"`
	// Waits is how much is known of the waits in the schedule.
	Waits Knowledge `json:"waits"`
	// Schedule is the waits from this decision on, empty where it stops.
	Schedule []isoWait `json:"schedule"`

	policy *retry.Policy
	ahead  []retry.Scheduled // the schedule, exactly
}

// later is a rule that matches after the one that decides.
type later struct {
	Rule        string      `json:"rule"`
	Class       retry.Class `json:"class"`
	MatchedCode string      `json:"matchedCode,omitempty"`
}

// Knowledge is how much of a wait is known. It depends on policy, retry count, claim and process instance.
type Knowledge string

const (
	bandOnly Knowledge = "band"   // without a claim
	sample   Knowledge = "sample" // with a claim: the wait of process instance 0, which does not exist
	exact    Knowledge = "exact"  // with a claim and its process instance
)

// AnyClaim stands for a claim that is not known. It decides nothing but the wait.
const AnyClaim = "CLM-0-0"

// Explain asks a policy for a decision, and for the schedule ahead. The request may lack the claim.
func Explain(p *retry.Policy, request retry.Request, now time.Time) (Explanation, error) {
	waits := exact
	switch {
	case request.ClaimID == "":
		request.ClaimID, waits = AnyClaim, bandOnly
	case request.ProcessInstanceKey == 0:
		waits = sample
	}
	d, err := p.Decide(request, now)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{
		Decision:  contract.Of(&d, contract.JobType, text.English),
		BPMNError: d.ErrorCode(),
		Evidence:  []string{}, // in JSON lists, even where they are empty
		Later:     []later{},
		Waits:     waits,
		Schedule:  []isoWait{},
		policy:    p,
	}
	e.Evidence = append(e.Evidence, p.Evidence(request.SubmissionError)...)
	for i, c := range p.Matching(request.SubmissionError) {
		if i > 0 {
			e.Later = append(e.Later, later{c.RuleID, c.Class, c.Code})
		}
	}
	if d.Outcome == retry.OutcomeRetry {
		e.fillSchedule(request, now)
	}
	return e, nil
}

// fillSchedule lists the waits to the limit, or to the deadline.
func (e *Explanation) fillSchedule(request retry.Request, now time.Time) {
	for s := range retry.Schedule(e.policy, request, now) {
		if e.Waits == bandOnly {
			s.Wait, s.Total = 0, 0
		} else if s.Wait == 0 {
			break
		}
		e.ahead = append(e.ahead, s)
		e.Schedule = append(e.Schedule, isoOf(&s))
	}
	if first := &e.ahead[0]; first.Shortest != first.Longest && e.Waits == bandOnly {
		e.BackoffMinutes, e.NextRetryTime, e.RetryDecision.BackoffDuration = 0, nil, ""
	}
}

// Text words the explanation.
func (e Explanation) Text() string {
	var b labelled
	b.label("Decision", "%s", e.decision())
	b.label("Because", "%s", e.because())
	if len(e.Evidence) > 0 {
		b.label("Evidence", "%s", strings.Join(e.Evidence, "; "))
	}
	if len(e.Later) > 0 {
		b.label("Later", "%s", e.laterWords())
	}
	if advice := english.advice(e.RetryDecision.Advice); advice != "" {
		b.label("Advice", "%s", advice)
	}
	if e.BPMNError == "" {
		b.label("Wait", "%s", english.wait(&e.RetryDecision, e.wait()))
	} else {
		b.label("Then", "%s", e.then())
	}
	if len(e.RetryDecision.Ignored) > 0 {
		b.label("Ignored", "%s", english.ignored(e.RetryDecision.Ignored))
	}
	b.label("Policy", "%s, version %s%s", e.RetryDecision.Policy, e.RetryDecision.PolicyVersion, e.overridden())
	if len(e.Schedule) > 0 {
		b.WriteString("\nThe waits ahead, if every submission fails and no permanent error comes:\n\n")
		b.WriteString(scheduleTable(e.policy, e.ahead, e.Waits) + fmt.Sprintf("  then    stop, BPMN error %s\n", retry.CodeMaxRetriesExceeded))
		b.WriteString(e.footnote())
	}
	return b.String()
}

// laterWords names the rules that would have decided if the first one had not.
func (e Explanation) laterWords() string {
	const most = 5
	var words []string
	for _, l := range e.Later[:min(len(e.Later), most)] {
		words = append(words, fmt.Sprintf("%s, %s", l.Rule, l.Class))
	}
	if more := len(e.Later) - most; more > 0 {
		words = append(words, text.Count(more, "more rule"))
	}
	return "rules that match too, after it: " + strings.Join(words, "; ")
}

func (e Explanation) decision() string {
	if e.BPMNError != "" {
		return "stop, BPMN error " + e.BPMNError
	}
	return fmt.Sprintf("try again in %s, retry %d of %d", e.wait(), e.RetryCount, e.MaxRetries)
}

// wait words the wait from now, or its band where it is not known.
func (e Explanation) wait() string {
	if e.Waits == exact {
		return text.Span(e.ahead[0].Wait)
	}
	return text.Range(e.ahead[0].Shortest, e.ahead[0].Longest)
}

func (e Explanation) because() string {
	class := "the error is " + english.class(e.ErrorClassification, &e.RetryDecision)
	switch e.RetryDecision.Reason { //nolint:exhaustive // the others say it in their outcome
	case retry.StepCount:
		// The count of a decision that stops is the one that was asked.
		return fmt.Sprintf("retry count %d has reached the limit of %d, whatever the error; %s", e.RetryCount, e.MaxRetries, class)
	case retry.StepDeadline:
		return fmt.Sprintf("no retry fits before the deadline %s; %s", text.Time(*e.RetryDecision.Deadline), class)
	default:
		return class
	}
}

func (e Explanation) then() string {
	switch {
	case e.policy.IDs != retry.ClaimIDs: // the teams are known for claims only
		return "the process model says what becomes of it"
	case e.BPMNError == retry.CodePermanentError:
		return "the registration team corrects the data, then resubmits or abandons the claim"
	default:
		return "the billing team reviews the claim, then resubmits or abandons it"
	}
}

func (e Explanation) overridden() string {
	if e.RetryDecision.Overrides == nil {
		return ""
	}
	return ", overridden: " + english.overrides(e.RetryDecision.Overrides)
}

// footnote words how exact the waits are.
func (e Explanation) footnote() string {
	var note string
	if d := e.RetryDecision.Deadline; d != nil {
		note = fmt.Sprintf("No try is made after the deadline, %s. ", text.Time(*d))
		if e.RetryCount-1+len(e.ahead) < e.MaxRetries {
			note = fmt.Sprintf("No further try fits before the deadline, %s. ", text.Time(*d))
		}
	}
	spread := slices.ContainsFunc(e.ahead, func(s retry.Scheduled) bool { return s.Shortest != s.Longest })
	switch {
	case !spread || e.Waits == exact:
	case e.Waits == bandOnly:
		note += "Each claim gets its own wait in the band: add --claim to see one."
	default:
		note += "The sample is that of process instance 0; the wait differs from one process instance " +
			"to the next. Add --process-instance, from the log, for the exact one."
	}
	if note == "" {
		return ""
	}
	return "\n" + text.Wrap(note, "")
}
