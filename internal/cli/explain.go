package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

func (p *program) explain() *cobra.Command {
	command := &cobra.Command{Use: "explain --error TEXT"}
	flags := command.Flags()
	errorText := flags.String("error", "", "the error text of the submission")
	count := flags.Uint16("retry-count", 0, "retries so far")
	named := flags.String("policy", "tiss", policyUsage)
	_ = command.MarkFlagRequired("error") // it is there
	return p.answers(command, language, func(c *call) (any, error) {
		_, by, err := namedPolicy(*named)
		if err != nil {
			return nil, err
		}
		if retry.Blank(*errorText) && by.OnEmptyError == retry.RejectEmptyError {
			return nil, usageError{text.Messagef("--error is blank: the policy has an incident for that")}
		}
		e := explanationOf(by, retry.Request{SubmissionError: *errorText, RetryCount: int(*count)}, p.now())
		e.say(c.w, by)
		return e, nil
	})
}

// explanation is what explain answers: what a process would get, and why. It is about no claim: a wait with
// jitter is known as a band only, and there is no wait and no time of the next try then. Its JSON form is
// stable: names are added, never changed.
type explanation struct {
	contract.Decision

	BPMNError string `json:"bpmnError,omitempty"`
	// Evidence is what was found in the error text; Later are the rules that match it too, after the one that
	// decides.
	Evidence []errtext.Evidence `json:"evidence"`
	Later    []classed          `json:"laterRules"`
	// Schedule is the waits from this decision on, empty where it stops.
	Schedule []retry.Scheduled `json:"schedule"`
}

// explanationOf asks a policy for a decision, and for the schedule ahead. The request has no claim: nothing
// but the waits depends on it.
func explanationOf(p *retry.Policy, request retry.Request, now time.Time) explanation {
	d := p.Decide(request, now)
	matching, found := p.Explain(request.SubmissionError)
	e := explanation{
		Decision:  contract.Of(&d, contract.JobType, text.English),
		BPMNError: d.ErrorCode(),
		Evidence:  found,
		Later:     []classed{},
		Schedule:  retry.Schedule(p, request, now),
	}
	for i, c := range matching {
		if i > 0 {
			e.Later = append(e.Later, classed{c.Class, c.ID})
		}
	}
	if len(e.Schedule) > 0 && e.Schedule[0].Shortest != e.Schedule[0].Longest {
		e.BackoffMinutes, e.NextRetryTime, e.RetryDecision.BackoffDuration = 0, nil, ""
	}
	return e
}

// say words the explanation: the steps of the decision as a history has them, what else there is in the text,
// and the waits ahead.
func (e *explanation) say(w *wording, by *retry.Policy) {
	wait := ""
	if len(e.Schedule) > 0 {
		wait = w.wait(&e.RetryDecision, e.Schedule[0].Wait(), by)
	}
	for i, found := range w.steps(&e.Decision, "", wait, e.BPMNError) {
		if i > 0 && found != "" { // the first is the text that was asked about
			w.label(w.step(i), found)
		}
	}
	for _, found := range e.Evidence {
		name, what := w.Sprintf("evidence"), found.Found
		if term, sign, is := strings.Cut(what, `" (`); is {
			what = term + `" (` + w.Name("sign", strings.TrimSuffix(sign, ")")) + ")"
		}
		if found.SaidOf != "" && !strings.Contains(what, `"`+found.SaidOf+`"`) {
			what = w.Sprintf("%s, said of %s", what, found.SaidOf)
		}
		if found.PassedOver != "" {
			name, what = w.Sprintf("passed over"), what+": "+w.Name("passed-over", found.PassedOver)
		}
		w.label(name, what)
	}
	for _, l := range e.Later {
		w.label(w.Sprintf("rule after it"), l.Rule+", "+string(l.Class))
	}
	x := &e.RetryDecision
	w.label(w.Sprintf("policy"), w.Sprintf("%s, version %s", x.Policy, x.PolicyVersion))
	if len(e.Schedule) > 0 {
		w.WriteString("\n")
		w.sayf("The waits ahead, if every submission fails and no permanent error comes:")
		w.WriteString("\n")
		w.schedule(e.Schedule)
		w.WriteString("  " + w.Sprintf("then   stop, BPMN error %s", string(retry.OutcomeExhausted)) + "\n")
	}
}

// schedule says the waits of a policy.
func (w *wording) schedule(waits []retry.Scheduled) {
	rows := [][]string{w.heads("retry", "before jitter", "wait", "waited in all")}
	for i := range waits {
		one := &waits[i]
		rows = append(rows, []string{
			strconv.Itoa(one.Retry),
			w.Span(time.Duration(one.BeforeJitter)),
			w.Sprintf("%s", one.Wait()),
			w.Sprintf("%s", one.Total()),
		})
	}
	w.table("  ", rows)
}
