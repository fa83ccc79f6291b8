package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/worker/contract"
)

// words are the words about claims and decisions in a language.
type words struct{ *text.Printer }

// english are the words of commands that have no other language.
var english = words{text.NewPrinter(text.English, time.UTC)}

// steps words what each of the six steps of a decision found: of a retry with this wait, or of one that stops
// the claim with a BPMN error. The last is empty where the time of the next try is not known.
func (w words) steps(d *contract.Decision, submissionError, wait, bpmnError string) [6]string {
	x := &d.RetryDecision
	found := [6]string{submissionError, w.class(d), w.count(d), w.Sprintf("none"), "", w.Sprintf("none")}
	if d.ShouldRetry {
		found[3] = w.wait(x, wait)
		found[4] = w.Sprintf("try again, retry %d of %d", d.RetryCount, d.MaxRetries)
		if found[5] = ""; d.NextRetryTime != nil {
			found[5] = w.Sprintf("for %s", w.Time(*d.NextRetryTime))
			if !x.Deadline.IsZero() {
				found[5] += w.Sprintf("; the deadline is %s", w.Time(x.Deadline))
			}
		}
	} else {
		found[4] = w.Sprintf("stop: BPMN error %s", bpmnError)
		if x.Hint.Source != "" {
			found[3] += w.Sprintf(", although %s", w.hint(x.Hint))
		}
		if x.Reason == retry.StepDeadline {
			found[4] += w.Sprintf(", no retry fits before the deadline %s", w.Time(x.Deadline))
		}
	}
	if overrides := w.overrides(x.Overrides); overrides != "" {
		found[3] += w.Sprintf(" (overridden for this job: %s)", overrides)
	}
	if len(x.Ignored) > 0 {
		found[3] += w.Sprintf(" (ignored: %s)", strings.Join(x.Ignored, ", "))
	}
	if x.With != "" {
		found[4] += w.Sprintf("; left with %s", text.Line(w.Name("with", x.With)))
	}
	if advice := w.advice(x.Advice); advice != "" {
		found[4] += "; " + advice
	}
	return found
}

// step names one of the six steps of a decision (RN-BIL-005, section VII), from 0.
func (w words) step(i int) string { return w.Name("step", strconv.Itoa(i+1)) }

// class names the class of an error, and why it has that.
func (w words) class(d *contract.Decision) string {
	name, x := w.Name("class", string(d.ErrorClassification)), &d.RetryDecision
	switch {
	case x.MatchedCode != "":
		return w.Sprintf("%s: it contains %s (rule %s)", name, x.MatchedCode, x.RuleID)
	case x.RuleID == "empty":
		return w.Sprintf("%s: it is empty", name)
	case x.RuleID == retry.RuleUnknown:
		return w.Sprintf("%s: no rule of the policy matches it", name)
	default:
		return w.Sprintf("%s: rule %s matches it", name, x.RuleID)
	}
}

func (w words) count(d *contract.Decision) string {
	used := d.RetryCount
	if d.ShouldRetry {
		used--
	}
	s := w.Sprintf("%d of %d retries used", used, d.MaxRetries)
	if d.RetryDecision.CountFrom == retry.CountFromTrail {
		s += w.Sprintf(" by this trail (the process brought fewer: it has lost its count)")
	}
	if used >= d.MaxRetries {
		s += w.Sprintf(": none is left")
	}
	return s
}

// wait words the length of a wait, its reason and its bounds. jittered is the wait, or the band that it is
// in.
func (w words) wait(x *contract.Explanation, jittered string) string {
	s := jittered
	if before := w.iso(x.DelayBeforeJitter); x.Reason == retry.StepHint {
		s += ": " + w.hint(x.Hint)
	} else if before != jittered {
		s = w.Sprintf("%s, with jitter %s", before, jittered)
	}
	for _, bound := range x.Bounds {
		switch bound {
		case retry.BoundMin:
			s += w.Sprintf(", bounded by the policy's min")
		case retry.BoundMax:
			s += w.Sprintf(", bounded by the policy's max")
		case retry.BoundDeadline:
			s += w.Sprintf(", pulled forward to the deadline %s", w.Time(x.Deadline))
		}
	}
	return s
}

// hint words the hint of the other side.
func (w words) hint(h retry.Hint) string {
	where := w.Sprintf("error text")
	if h.Source == retry.HintVariable {
		where = w.Sprintf("variable retryAfter")
	}
	switch {
	case h.Until.IsZero():
		span := w.Span(time.Duration(h.After))
		return w.Sprintf("the other side asked to come back after %s (%s)", span, where)
	case h.Source == retry.HintWindow:
		return w.Sprintf("the insurer's window for submissions opens %s", w.Time(h.Until))
	default:
		return w.Sprintf("the other side asked to come back at %s (%s)", w.Time(h.Until), where)
	}
}

// advice words what to do before the claim is sent again.
func (w words) advice(advice retry.Advice) string {
	if advice == retry.AdviceCheckStatus {
		return w.Sprintf("check the protocol's status before sending again, for it may have arrived")
	}
	return ""
}

// overrides lists what task or job had changed of the policy, by the names of its settings.
func (w words) overrides(o retry.Overrides) string {
	var list []string
	if o.MaxRetries != nil {
		list = append(list, fmt.Sprintf("maxRetries %d", *o.MaxRetries))
	}
	for i, d := range []retry.ISODuration{o.Base, o.Max, o.Deadline} {
		if d != 0 {
			list = append(list, []string{"base", "max", "deadline"}[i]+" "+w.Span(time.Duration(d)))
		}
	}
	return strings.Join(list, ", ")
}

// iso words an ISO 8601 duration.
func (w words) iso(iso string) string {
	d, err := retry.ParseDuration(iso)
	if err != nil {
		return iso
	}
	return w.Span(d)
}
