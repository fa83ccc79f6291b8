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

// words are the words of history and explain about a decision, in a language. Both read the object `retryDecision`, so that
// they use the same ones. Records of older versions lack part of it; that part is left out.
type words struct{ *text.Printer }

// english are the words of JSON, and of commands that have no other language.
var english = words{text.NewPrinter(text.English, time.UTC)}

// classNames are the classes as they are shown.
var classNames = map[retry.Class]text.Message{
	retry.Transient: text.Messagef("TRANSIENT"), retry.Permanent: text.Messagef("PERMANENT"), retry.Unknown: text.Messagef("UNKNOWN"),
}

// class names the class of an error, and why it has that.
func (w words) class(class retry.Class, x *contract.Explanation) string {
	name := string(class)
	if s, known := classNames[class]; known {
		name = w.Text(s)
	}
	switch {
	case x.MatchedCode != "":
		return w.Sprintf("%s: it contains %s (rule %s)", name, x.MatchedCode, x.RuleID)
	case x.RuleID == "empty":
		return w.Sprintf("%s: it is empty", name)
	case x.RuleID == retry.RuleUnknown || x.RuleID == "":
		return w.Sprintf("%s: no rule of the policy matches it", name)
	default:
		return w.Sprintf("%s: rule %s matches it", name, x.RuleID)
	}
}

// wait words the length of a wait, and its reason. jittered is the wait, or the band that it is in.
func (w words) wait(x *contract.Explanation, jittered string) string {
	before := w.iso(x.DelayBeforeJitter)
	pulled := slices.Contains(x.Bounds, "DEADLINE") && x.Deadline != nil
	var s string
	switch {
	case x.Reason == retry.StepHint:
		s = jittered + ": " + w.hint(x.Hint) + w.hintBounds(x, jittered, pulled)
	case pulled:
		return w.Sprintf("%s, pulled forward to the deadline %s: %s", before, w.Time(*x.Deadline), jittered)
	case before == jittered:
		s = w.Sprintf("%s before and after jitter", before) + w.policyBounds(x)
	default:
		s = w.Sprintf("%s, with jitter %s", before, jittered) + w.policyBounds(x)
	}
	if pulled {
		s += w.Sprintf(", pulled forward to the deadline %s", w.Time(*x.Deadline))
	}
	return s
}

// policyBounds names the bounds that have cut the band that the wait was drawn from.
func (w words) policyBounds(x *contract.Explanation) string {
	switch below, above := slices.Contains(x.Bounds, "MIN"), slices.Contains(x.Bounds, "MAX"); {
	case below && above:
		return w.Sprintf(", bounded by the policy's min and max")
	case below:
		return w.Sprintf(", bounded by the policy's min")
	case above:
		return w.Sprintf(", bounded by the policy's max")
	default:
		return ""
	}
}

// hintBounds words how the wait differs from the hint. Where the deadline shortened the wait after that, it is no longer the
// bound itself.
func (w words) hintBounds(x *contract.Explanation, wait string, pulled bool) string {
	switch {
	case slices.Contains(x.Bounds, "MAX") && !pulled:
		return w.Sprintf(", capped at %s", wait)
	case slices.Contains(x.Bounds, "MAX"):
		return w.Sprintf(", capped at the policy's max")
	case slices.Contains(x.Bounds, "MIN"):
		return w.Sprintf(", raised to the policy's min")
	case x.Hint != nil && x.Hint.After != "" && w.iso(x.Hint.After) != wait:
		return w.Sprintf(", with jitter")
	default:
		return ""
	}
}

// hint words the hint of the other side.
func (w words) hint(h *contract.Hint) string {
	if h == nil {
		return w.Sprintf("the other side's time")
	}
	where := "Retry-After"
	if h.Source == retry.HintVariable {
		where = w.Sprintf("variable retryAfter")
	}
	switch {
	case h.Until == nil:
		return w.Sprintf("the other side asked to come back after %s (%s)", w.iso(h.After), where)
	case h.Source == retry.HintWindow:
		return w.Sprintf("the insurer's window for submissions opens %s", w.Time(*h.Until))
	default:
		return w.Sprintf("the other side asked to come back at %s (%s)", w.Time(*h.Until), where)
	}
}

var settledTexts = map[retry.Step]text.Message{
	retry.StepCount: text.Messagef(", settled by the count"), retry.StepPermanent: text.Messagef(", settled by the class"),
	retry.StepDeadline: text.Messagef(", settled by the deadline"), retry.StepHint: text.Messagef(", settled by the hint"),
	retry.StepBackoff: text.Messagef(", settled by the back-off"),
}

// settled names the step of the rule that settled the decision.
func (w words) settled(x *contract.Explanation) string {
	if s, known := settledTexts[x.Reason]; known {
		return w.Text(s)
	}
	return ""
}

// advice words what to do before the claim is sent again.
func (w words) advice(advice retry.Advice) string {
	switch advice {
	case "":
		return ""
	case retry.AdviceCheckStatus:
		return w.Sprintf("check the protocol's status before sending again, for it may have arrived")
	default:
		return string(advice)
	}
}

// overrides lists what task or job had changed of the policy, by the names of its settings.
func (w words) overrides(o *contract.Overrides) string {
	var list []string
	if o.MaxRetries != nil {
		list = append(list, fmt.Sprintf("maxRetries %d", *o.MaxRetries))
	}
	for _, span := range []struct{ name, iso string }{{"base", o.Base}, {"max", o.Max}, {"deadline", o.Deadline}} {
		if span.iso != "" {
			list = append(list, span.name+" "+w.iso(span.iso))
		}
	}
	return strings.Join(list, ", ")
}

var ignoredTexts = map[retry.IgnoredReason]text.Message{
	retry.IgnoredType: text.Messagef("is neither a text nor a number"), retry.IgnoredUnreadable: text.Messagef("has no known form"),
	retry.IgnoredYear: text.Messagef("has an impossible year"),
}

// ignored lists the variables that could not be read, and why.
func (w words) ignored(ignored []contract.Ignored) string {
	list := make([]string, len(ignored))
	for i, one := range ignored {
		why := string(one.Reason)
		if s, known := ignoredTexts[one.Reason]; known {
			why = w.Text(s)
		}
		list[i] = one.Variable + " " + why
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
