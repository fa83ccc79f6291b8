package report

import (
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// Explanation is what explain answers: what a process would get, and why. It is about no claim: a wait with
// jitter is known as a band only, and there is no wait and no time of the next try then. Its JSON form is
// stable: names are added, never changed.
type Explanation struct {
	contract.Decision

	BPMNError string `json:"bpmnError,omitempty"`
	// Evidence is what was found in the error text; Later are the rules that match it too, after the one that
	// decides.
	Evidence []errtext.Evidence `json:"evidence"`
	Later    []classed          `json:"laterRules"`
	// Schedule is the waits from this decision on, empty where it stops.
	Schedule []isoWait `json:"schedule"`

	policy *retry.Policy
}

// Explain asks a policy for a decision, and for the schedule ahead. The request has no claim: nothing but the
// waits depends on it.
func Explain(p *retry.Policy, request retry.Request, now time.Time) Explanation {
	d := p.Decide(request, now)
	matching, found := p.Explain(request.SubmissionError)
	e := Explanation{
		Decision:  contract.Of(&d, contract.JobType, text.English),
		BPMNError: d.ErrorCode(),
		Evidence:  found,
		Later:     []classed{},
		Schedule:  []isoWait{},
		policy:    p,
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
		e.Schedule = append(e.Schedule, isoOf(&s))
	}
	if first := &e.Schedule[0]; first.Shortest != first.Longest {
		e.BackoffMinutes, e.NextRetryTime, e.RetryDecision.BackoffDuration = 0, nil, ""
	}
	return e
}

// Text words the explanation: the steps of the decision as a history has them, what else there is in the
// text, and the waits ahead.
func (e *Explanation) Text(p *text.Printer) string {
	var b strings.Builder
	w, wait := words{p}, ""
	if len(e.Schedule) > 0 {
		wait = w.wait(&e.RetryDecision, e.Schedule[0].wait(), e.policy)
	}
	for i, found := range w.steps(&e.Decision, "", wait, e.BPMNError) {
		if i > 0 && found != "" { // the first is the text that was asked about
			b.WriteString(label(w.step(i), found))
		}
	}
	for _, found := range e.Evidence {
		name, what := p.Sprintf("evidence"), found.Found
		if found.SaidOf != "" {
			what = p.Sprintf("%s, said of %s", what, found.SaidOf)
		}
		if found.PassedOver != "" {
			name, what = p.Sprintf("passed over"), what+": "+p.Name("passed-over", found.PassedOver)
		}
		b.WriteString(label(name, what))
	}
	for _, l := range e.Later {
		b.WriteString(label(p.Sprintf("rule after it"), l.Rule+", "+string(l.Class)))
	}
	x := &e.RetryDecision
	b.WriteString(label(p.Sprintf("policy"), p.Sprintf("%s, version %s", x.Policy, x.PolicyVersion)))
	if len(e.Schedule) > 0 {
		b.WriteString("\n" + text.Wrap(p.Sprintf(
			"The waits ahead, if every submission fails and no permanent error comes:"), "") + "\n")
		b.WriteString(scheduleTable(p, e.Schedule))
		b.WriteString("  " + p.Sprintf("then   stop, BPMN error %s", retry.CodeMaxRetriesExceeded) + "\n")
	}
	return b.String()
}
