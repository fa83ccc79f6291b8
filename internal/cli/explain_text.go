package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/retry"
)

// explainHelp tells the rule as the policy has it. The documents' own words are told one by one, of all other rules how
// many there are of a kind.
func explainHelp(tiss *retry.Policy) string {
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
		wrap(strings.Join(words[retry.Permanent], ", "), "       "), retry.CodeMaxRetriesExceeded,
		wrap(strings.Join(words[retry.Transient], ", "), "       "), tiss.Unknown,
		strings.TrimSpace(wrap("The policy has further rules of either class: "+strings.Join(more, ", ")+
			". All of them, and the other policies: worker policies", "")))
}

// text words an explanation for a person at a terminal of 80 columns.
func (e explanation) text() string {
	var b strings.Builder
	label := func(name, format string, args ...any) {
		b.WriteString(hanging(fmt.Sprintf("%-11s", name), fmt.Sprintf(format, args...)))
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

func (e explanation) decision() string {
	if e.BPMNError != "" {
		return "stop, BPMN error " + e.BPMNError
	}
	return fmt.Sprintf("try again in %s, retry %d of %d", e.wait(), e.RetryCount, e.MaxRetries)
}

// wait is the wait now, where it is known, or its band.
func (e explanation) wait() string {
	now := &e.Schedule[0]
	if e.Waits == exact {
		return spanWords(now.wait)
	}
	return bandWords(now.shortest, now.longest)
}

func (e explanation) because() string {
	class := "the error is " + classWords(string(e.Classification), &e.Decision)
	switch e.Decision.Reason { //nolint:exhaustive // the others say it in their outcome
	case retry.StepCount:
		// The count of a decision that stops is the one that was asked.
		return fmt.Sprintf("retry count %d has reached the limit of %d, whatever the error; %s", e.RetryCount, e.MaxRetries, class)
	case retry.StepDeadline:
		return fmt.Sprintf("no retry fits before the deadline %s; %s", utc(*e.Decision.Deadline), class)
	default:
		return class
	}
}

func (e explanation) then() string {
	switch {
	case !e.claims:
		return "the process model says what becomes of it"
	case e.BPMNError == retry.CodePermanentError:
		return "the registration team corrects the data, then resubmits or abandons the claim"
	default:
		return "the billing team reviews the claim, then resubmits or abandons it"
	}
}

func (e explanation) overridden() string {
	if e.Decision.Overrides == nil {
		return ""
	}
	return ", overridden: " + overridesWords(e.Decision.Overrides)
}

// table has a column for the claim's own wait where a claim was given.
func (e explanation) table() string {
	rows := [][]string{{"retry", "before jitter", "band", string(e.Waits) + " wait", "waited in all"}}
	for i := range e.Schedule {
		s := &e.Schedule[i]
		total := totalWords(s.totalShortest) + " to " + totalWords(s.totalLongest)
		if s.totalShortest == s.totalLongest {
			total = totalWords(s.totalLongest)
		}
		if e.Waits != bandOnly {
			total = totalWords(s.total)
		}
		rows = append(rows, []string{
			fmt.Sprintf("%d of %d", s.Retry, e.MaxRetries), spanWords(s.beforeJitter), bandWords(s.shortest, s.longest), spanWords(s.wait), total,
		})
	}
	widths := []int{6, 13, 12, 11, 16}
	for _, row := range rows {
		for column, cell := range row {
			widths[column] = max(widths[column], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "  %-*s", widths[0], row[0])
		for column := 1; column < len(row); column++ {
			if column == 3 && e.Waits == bandOnly {
				continue
			}
			fmt.Fprintf(&b, "   %*s", widths[column], row[column])
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "  then     stop, BPMN error %s\n", retry.CodeMaxRetriesExceeded)
	return b.String()
}

// footnote says how far the waits can be trusted.
func (e explanation) footnote() string {
	var note string
	if d := e.Decision.Deadline; d != nil {
		note = fmt.Sprintf("No try is made after the deadline, %s. ", utc(*d))
		if e.lacksTime {
			note = fmt.Sprintf("No further try fits before the deadline, %s. ", utc(*d))
		}
	}
	spread := slices.ContainsFunc(e.Schedule, func(s step) bool { return s.shortest != s.longest })
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
	return "\n" + wrap(note, "")
}

// totalWords words how long was waited in all: as a person says it where it is whole minutes or long.
func totalWords(d time.Duration) string {
	if d >= time.Hour || d%time.Minute == 0 {
		return hours(int(d / time.Minute))
	}
	return spanWords(d)
}

// hours words minutes as a person says them: 48 min, 1 h 05.
func hours(minutes int) string {
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %02d", minutes/60, minutes%60)
}
