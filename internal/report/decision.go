package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/term"
)

// The words of history and explain about a decision. Both read the object `retryDecision`, so that they use the same ones.
// Records of older versions lack part of it; that part is left out.

// classWords names the class of an error, and why it has that.
func classWords(class string, x *contract.Explanation) string {
	switch {
	case x.MatchedCode != "":
		return fmt.Sprintf("%s: it contains %s (rule %s)", class, x.MatchedCode, x.RuleID)
	case x.RuleID == "empty":
		return class + ": it is empty"
	case x.RuleID == retry.RuleUnknown || x.RuleID == "":
		return class + ": no rule of the policy matches it"
	default:
		return fmt.Sprintf("%s: rule %s matches it", class, x.RuleID)
	}
}

// waitWords words the length of a wait, and its reason. jittered is the wait, or the band that it is in.
func waitWords(x *contract.Explanation, jittered string) string {
	before := isoWords(x.DelayBeforeJitter)
	pulled := slices.Contains(x.Bounds, "DEADLINE") && x.Deadline != nil
	text := before + ", with jitter " + jittered
	switch {
	case x.Reason == retry.StepHint:
		text = fmt.Sprintf("%s: %s%s", jittered, hintWords(x.Hint), hintBounds(x, jittered, pulled))
	case pulled:
		return fmt.Sprintf("%s, pulled forward to the deadline %s: %s", before, term.Time(*x.Deadline), jittered)
	case before == jittered:
		text = before + " before and after jitter" + policyBounds(x)
	default:
		text += policyBounds(x)
	}
	if pulled {
		text += ", pulled forward to the deadline " + term.Time(*x.Deadline)
	}
	return text
}

// policyBounds names the bounds that have cut the band that the wait was drawn from.
func policyBounds(x *contract.Explanation) string {
	var names []string
	for _, bound := range x.Bounds {
		if bound != "DEADLINE" {
			names = append(names, strings.ToLower(bound))
		}
	}
	if names == nil {
		return ""
	}
	return ", bounded by the policy's " + strings.Join(names, " and ")
}

// hintBounds words how the wait differs from the hint. Where the deadline shortened the wait after that, it is no longer the
// bound itself.
func hintBounds(x *contract.Explanation, wait string, pulled bool) string {
	switch {
	case slices.Contains(x.Bounds, "MAX") && !pulled:
		return ", capped at " + wait
	case slices.Contains(x.Bounds, "MAX"):
		return ", capped at the policy's max"
	case slices.Contains(x.Bounds, "MIN"):
		return ", raised to the policy's min"
	case x.Hint != nil && x.Hint.After != "" && isoWords(x.Hint.After) != wait:
		return ", with jitter"
	default:
		return ""
	}
}

// hintWords words the hint of the other side.
func hintWords(h *contract.Hint) string {
	if h == nil {
		return "the other side's time"
	}
	where := "Retry-After"
	if h.Source == retry.HintVariable {
		where = "variable retryAfter"
	}
	switch {
	case h.Until == nil:
		return fmt.Sprintf("the other side asked to come back after %s (%s)", isoWords(h.After), where)
	case h.Source == retry.HintWindow:
		return "the insurer's window for submissions opens " + term.Time(*h.Until)
	default:
		return fmt.Sprintf("the other side asked to come back at %s (%s)", term.Time(*h.Until), where)
	}
}

// settledWords names the step of the rule that settled the decision.
func settledWords(x *contract.Explanation) string {
	by, known := map[retry.Step]string{
		retry.StepCount: "count", retry.StepPermanent: "class", retry.StepDeadline: "deadline", retry.StepHint: "hint", retry.StepBackoff: "back-off",
	}[x.Reason]
	if !known {
		return ""
	}
	return ", settled by the " + by
}

// adviceWords words what to do before the claim is sent again.
func adviceWords(x *contract.Explanation) string {
	switch x.Advice {
	case "":
		return ""
	case retry.AdviceCheckStatus:
		return "check the protocol's status before sending again, for it may have arrived"
	default:
		return string(x.Advice)
	}
}

// overridesWords lists what task or job had changed of the policy.
func overridesWords(o *contract.Overrides) string {
	var words []string
	if o.MaxRetries != nil {
		words = append(words, fmt.Sprintf("maxRetries %d", *o.MaxRetries))
	}
	for _, span := range []struct{ name, iso string }{{"base", o.Base}, {"max", o.Max}, {"deadline", o.Deadline}} {
		if span.iso != "" {
			words = append(words, span.name+" "+isoWords(span.iso))
		}
	}
	return strings.Join(words, ", ")
}

// ignoredWords lists the variables that could not be read, and why.
func ignoredWords(ignored []contract.Ignored) string {
	why := map[retry.IgnoredReason]string{
		retry.IgnoredType: "is neither a text nor a number", retry.IgnoredUnreadable: "has no known form",
		retry.IgnoredAmbiguous: "can mean more than one thing", retry.IgnoredNegative: "is negative", retry.IgnoredYear: "has an impossible year",
	}
	words := make([]string, len(ignored))
	for i, one := range ignored {
		words[i] = one.Variable + " " + cmp.Or(why[one.Reason], string(one.Reason))
	}
	return strings.Join(words, ", ")
}

// isoWords words an ISO 8601 duration.
func isoWords(iso string) string {
	d, err := policy.ParseDuration(iso)
	if err != nil {
		return iso
	}
	return term.Span(d)
}
