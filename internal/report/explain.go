package report

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Explanation is what explain answers: what a process would get, and why. Without a claim and its process
// instance a wait with jitter is known as a band only: there is no wait and no time of the next try then. Its
// JSON form is stable: names are added, never changed.
type Explanation struct {
	contract.Decision

	BPMNError string `json:"bpmnError,omitempty"`
	// Evidence is what was found in the error text; Later are the rules that match it too, after the one that
	// decides.
	Evidence []string  `json:"evidence"`
	Later    []classed `json:"laterRules"`
	// Schedule is the waits from this decision on, empty where it stops.
	Schedule []isoWait `json:"schedule"`
}

// Explain asks a policy for a decision, and for the schedule ahead. The request may lack the claim with its
// process instance, on which nothing but the waits depends.
func Explain(p *retry.Policy, request retry.Request, now time.Time) Explanation {
	d, exact := p.Decide(request, now), request.ClaimID != ""
	matching, found := p.Explain(request.SubmissionError)
	e := Explanation{
		Decision:  contract.Of(&d, contract.JobType, text.English),
		BPMNError: d.ErrorCode(),
		Evidence:  append([]string{}, found...), // never null
		Later:     []classed{},
		Schedule:  []isoWait{},
	}
	for i, c := range matching {
		if i > 0 {
			e.Later = append(e.Later, classed{c.Class, c.RuleID})
		}
	}
	if d.Outcome != retry.OutcomeRetry {
		return e
	}
	for s := range retry.Schedule(p, request, now) {
		if !exact {
			s.Wait, s.Total = 0, 0
		} else if s.Wait == 0 {
			break
		}
		e.Schedule = append(e.Schedule, isoOf(&s))
	}
	if first := &e.Schedule[0]; !exact && first.Shortest != first.Longest {
		e.BackoffMinutes, e.NextRetryTime, e.RetryDecision.BackoffDuration = 0, nil, ""
	}
	return e
}

// Text words the explanation: the steps of the decision as a history has them, what else there is in the
// text, and the waits ahead.
func (e Explanation) Text() string {
	var b strings.Builder
	wait := ""
	if len(e.Schedule) > 0 {
		wait = e.Schedule[0].wait()
	}
	for i, found := range english.steps(&e.Decision, "", wait, e.BPMNError) {
		if i > 0 && found != "" { // the first is the text that was asked about
			b.WriteString(label(english.step(i), found))
		}
	}
	if len(e.Evidence) > 0 {
		b.WriteString(label("evidence", strings.Join(e.Evidence, "; ")))
	}
	for _, l := range e.Later {
		b.WriteString(label("rule after it", fmt.Sprintf("%s, %s", l.Rule, l.Class)))
	}
	b.WriteString(label("policy", e.RetryDecision.Policy+", version "+e.RetryDecision.PolicyVersion))
	if len(e.Schedule) > 0 {
		b.WriteString("\nThe waits ahead, if every submission fails and no permanent error comes:\n\n")
		b.WriteString(scheduleTable(e.Schedule))
		b.WriteString("  then   stop, BPMN error " + retry.CodeMaxRetriesExceeded + "\n")
	}
	return b.String()
}
