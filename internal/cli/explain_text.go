package cli

import (
	"fmt"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
)

// text words an explanation for a person at a terminal of 80 columns.
func (e explanation) text() string {
	var b strings.Builder
	label := func(name, format string, args ...any) {
		value := strings.TrimLeft(wrap(fmt.Sprintf(format, args...), strings.Repeat(" ", 11)), " ")
		fmt.Fprintf(&b, "%-11s%s", name, value)
	}
	label("Decision", "%s", e.decision())
	label("Because", "%s", e.because())
	if e.BPMNError != "" {
		label("Then", "%s", e.then())
	}
	label("Policy", "%s, version %s", e.Policy, e.PolicyVersion)
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
	now := e.Schedule[0]
	wait := fmt.Sprintf("%d to %d minutes", now.Shortest, now.Longest)
	if e.Waits == exact {
		wait = fmt.Sprintf("%d minutes", now.Wait)
	}
	return fmt.Sprintf("try again in %s, retry %d of %d", wait, e.RetryCount, e.MaxRetries)
}

func (e explanation) because() string {
	class := fmt.Sprintf("the error contains %s, which is %s (rule %s)", e.MatchedCode, e.Classification, e.Rule)
	if e.Classification == retry.Unknown {
		class = fmt.Sprintf("no code of the policy is in the error, which makes it %s", e.Classification)
	}
	if e.BPMNError == retry.CodeMaxRetriesExceeded {
		// The count of a decision that stops is the one that was asked.
		return fmt.Sprintf("retry count %d has reached the limit of %d, whatever the error; %s", e.RetryCount, e.MaxRetries, class)
	}
	return class
}

func (e explanation) then() string {
	if e.BPMNError == retry.CodePermanentError {
		return "the registration team corrects the data, then resubmits or abandons the claim"
	}
	return "the billing team reviews the claim, then resubmits or abandons it"
}

// table has a column for the claim's own wait where a claim was given.
func (e explanation) table() string {
	var b strings.Builder
	row := func(retries, before, band, wait, total string) {
		fmt.Fprintf(&b, "  %-6s   %13s   %12s", retries, before, band)
		if e.Waits != bandOnly {
			fmt.Fprintf(&b, "   %11s", wait)
		}
		fmt.Fprintf(&b, "   %16s\n", total)
	}
	row("retry", "before jitter", "band", string(e.Waits)+" wait", "waited in all")
	for _, s := range e.Schedule {
		total := hours(s.TotalShortest) + " to " + hours(s.TotalLongest)
		if e.Waits != bandOnly {
			total = hours(s.Total)
		}
		row(fmt.Sprintf("%d of %d", s.Retry, e.MaxRetries), fmt.Sprintf("%d min", s.BeforeJitter),
			fmt.Sprintf("%d to %d min", s.Shortest, s.Longest), fmt.Sprintf("%d min", s.Wait), total)
	}
	fmt.Fprintf(&b, "  then     stop, BPMN error %s\n", retry.CodeMaxRetriesExceeded)
	return b.String()
}

// footnote says how far the waits can be trusted.
func (e explanation) footnote() string {
	switch e.Waits {
	case bandOnly:
		return "\n" + wrap("Each claim gets its own wait in the band: add --claim to see one.", "")
	case sample:
		return "\n" + wrap("The sample is that of process instance 0; the wait differs from one process instance "+
			"to the next. Add --process-instance, from the log, for the exact one.", "")
	case exact:
		return ""
	default:
		return ""
	}
}

// hours words minutes as a person says them: 48 min, 1 h 05.
func hours(minutes int) string {
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %02d", minutes/60, minutes%60)
}
