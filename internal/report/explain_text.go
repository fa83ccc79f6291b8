package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/term"
)

// ExplainHelp words the rule as the policy has it: the documents' own words one by one, and how many other rules there are
// of a kind.
func ExplainHelp(tiss *retry.Policy) string {
	words, others := map[retry.Class][]string{}, map[string]int{}
	for i := range tiss.Rules {
		rule := &tiss.Rules[i]
		if label := rule.Label(); label != rule.ID {
			words[rule.Class] = append(words[rule.Class], label)
			continue
		}
		kind, _, _ := strings.Cut(rule.ID, ".")
		others[kind]++
	}
	var more []string
	for _, kind := range slices.Sorted(maps.Keys(others)) {
		more = append(more, fmt.Sprintf("%s (%d)", kind, others[kind]))
	}
	return fmt.Sprintf(`Explains what the worker decides for an error text and a retry count: the
decision, the rule that matched, and the waits ahead if the submission keeps
failing. It asks no broker and changes nothing. --policy asks another policy
than %s: a built-in one, or one of RETRY_POLICIES_FILE.

The rule, policy %s, in this order:
  1. retry count %d or more: stop, %s
  2. the text matches a permanent rule: stop, %s
%s  3. no try fits before a deadline: stop, %s
  4. the other side says when to come back: try again then
  5. the text matches a transient rule: try again after the policy's wait
%s  6. anything else: try again likewise, class %s
%s`,
		tiss.Name, tiss.Name, tiss.MaxRetries, retry.CodeMaxRetriesExceeded, retry.CodePermanentError,
		term.Wrap(strings.Join(words[retry.Permanent], ", "), "       "), retry.CodeMaxRetriesExceeded,
		term.Wrap(strings.Join(words[retry.Transient], ", "), "       "), tiss.Unknown,
		strings.TrimSpace(term.Wrap("The policy has further rules of either class: "+strings.Join(more, ", ")+
			". All of them, and the other policies: worker policies", "")))
}

// Text words the explanation.
func (e Explanation) Text() string {
	var b strings.Builder
	label := func(name, format string, args ...any) {
		b.WriteString(term.Hanging(fmt.Sprintf("%-11s", name), fmt.Sprintf(format, args...)))
	}
	label("Decision", "%s%s", e.decision(), settledWords(&e.Decision))
	label("Because", "%s", e.because())
	if advice := adviceWords(&e.Decision); advice != "" {
		label("Advice", "%s", advice)
	}
	if e.BPMNError == "" {
		label("Wait", "%s", waitWords(&e.Decision, e.wait()))
	} else {
		label("Then", "%s", e.then())
	}
	if len(e.Decision.Ignored) > 0 {
		label("Ignored", "%s", ignoredWords(e.Decision.Ignored))
	}
	label("Policy", "%s, version %s%s", e.Policy, e.PolicyVersion, e.overridden())
	if len(e.Schedule) > 0 {
		b.WriteString("\nThe waits ahead, if every submission fails and no permanent error comes:\n\n")
		b.WriteString(e.table())
		b.WriteString(e.footnote())
	}
	return b.String()
}

func (e Explanation) decision() string {
	if e.BPMNError != "" {
		return "stop, BPMN error " + e.BPMNError
	}
	return fmt.Sprintf("try again in %s, retry %d of %d", e.wait(), e.RetryCount, e.MaxRetries)
}

// wait words the wait from now, or its band where it is not known.
func (e Explanation) wait() string {
	now := &e.Schedule[0]
	if e.Waits == exact {
		return term.Span(now.exact.Wait)
	}
	return term.Range(now.exact.Shortest, now.exact.Longest)
}

func (e Explanation) because() string {
	class := "the error is " + classWords(string(e.Classification), &e.Decision)
	switch e.Decision.Reason { //nolint:exhaustive // the others say it in their outcome
	case retry.StepCount:
		// The count of a decision that stops is the one that was asked.
		return fmt.Sprintf("retry count %d has reached the limit of %d, whatever the error; %s", e.RetryCount, e.MaxRetries, class)
	case retry.StepDeadline:
		return fmt.Sprintf("no retry fits before the deadline %s; %s", term.Time(*e.Decision.Deadline), class)
	default:
		return class
	}
}

func (e Explanation) then() string {
	switch {
	case !e.claims:
		return "the process model says what becomes of it"
	case e.BPMNError == retry.CodePermanentError:
		return "the registration team corrects the data, then resubmits or abandons the claim"
	default:
		return "the billing team reviews the claim, then resubmits or abandons it"
	}
}

func (e Explanation) overridden() string {
	if e.Decision.Overrides == nil {
		return ""
	}
	return ", overridden: " + overridesWords(e.Decision.Overrides)
}

// table has a column for the claim's own wait where a claim was given.
func (e Explanation) table() string {
	rows := [][]string{{"retry", "before jitter", "band", "waited in all"}}
	if e.Waits != bandOnly {
		rows[0] = []string{"retry", "before jitter", "band", string(e.Waits) + " wait", "waited in all"}
	}
	for i := range e.Schedule {
		s := &e.Schedule[i]
		row := []string{fmt.Sprintf("%d of %d", s.Retry, e.MaxRetries), term.Span(s.exact.Delay), term.Range(s.exact.Shortest, s.exact.Longest)}
		if e.Waits == bandOnly {
			row = append(row, term.Range(s.exact.TotalShortest, s.exact.TotalLongest))
		} else {
			row = append(row, term.Span(s.exact.Wait), term.Span(s.exact.Total))
		}
		rows = append(rows, row)
	}
	return term.Table("  ", rows) + fmt.Sprintf("  then    stop, BPMN error %s\n", retry.CodeMaxRetriesExceeded)
}

// footnote words how exact the waits are.
func (e Explanation) footnote() string {
	var note string
	if d := e.Decision.Deadline; d != nil {
		note = fmt.Sprintf("No try is made after the deadline, %s. ", term.Time(*d))
		if e.lacksTime {
			note = fmt.Sprintf("No further try fits before the deadline, %s. ", term.Time(*d))
		}
	}
	spread := slices.ContainsFunc(e.Schedule, func(s step) bool { return s.exact.Shortest != s.exact.Longest })
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
	return "\n" + term.Wrap(note, "")
}
