package cli

import (
	"fmt"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// labelled writes "Name      text", the text wrapped beside its name.
func labelled(b *strings.Builder, width int, name, text string) {
	if len(name) >= width {
		b.WriteString(name + "\n" + wrap(text, strings.Repeat(" ", width)))
		return
	}
	wrapped := wrap(text, strings.Repeat(" ", width))
	b.WriteString(name + wrapped[len(name):])
}

func listText(list []policySummary) string {
	width := 0
	for _, s := range list {
		width = min(max(width, len(s.Name)+2), 24)
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		labelled(&b, width, s.Name, s.waits())
		if s.Description != "" {
			labelled(&b, width, "", plain(s.Description))
		}
		labelled(&b, width, "", s.whence())
	}
	return b.String()
}

func (s policySummary) waits() string {
	if s.MaxRetries == 0 {
		return "no retries"
	}
	tries := fmt.Sprintf("%d retries", s.MaxRetries)
	if s.MaxRetries == 1 {
		tries = "1 retry"
	}
	return fmt.Sprintf("%s, waits of %s, %s in all", tries,
		fromTo(time.Duration(s.ShortestWait), time.Duration(s.LongestWait)), fromTo(time.Duration(s.ShortestInAll), time.Duration(s.LongestInAll)))
}

func (s policySummary) whence() string {
	text := fmt.Sprintf("%s, version %s", plain(s.Origin), s.Version)
	if s.Source != "" {
		text += ", from " + plain(s.Source)
	}
	return text
}

func fromTo(from, to time.Duration) string {
	if from == to {
		return policy.FormatDuration(from)
	}
	return policy.FormatDuration(from) + " to " + policy.FormatDuration(to)
}

// text words a policy for a person at a terminal of 80 columns.
func (s shownPolicy) text(p *retry.Policy) string {
	var b strings.Builder
	label := func(name, format string, args ...any) { labelled(&b, 11, name, fmt.Sprintf(format, args...)) }
	label("Policy", "%s, %s", s.Name, s.whence())
	if s.Description != "" {
		label("", "%s", plain(s.Description))
	}
	label("Tries", "%s", s.policySummary.waits())
	label("Waits", "base %s, factor %g, min %s, max %s, %s, in whole %ss", s.Policy.Base, p.Factor, s.Policy.Min, s.Policy.Max,
		jitterWords(p.Jitter), s.Policy.Precision)
	if p.Deadline > 0 {
		label("Deadline", "%s after the first failure", policy.FormatDuration(p.Deadline))
	}
	label("Input", "%s", s.input(p))
	b.WriteString(s.schedule(p))
	b.WriteString(rulesText("PERMANENT, asked first: no retry", s.Policy.Rules, string(retry.Permanent)))
	b.WriteString(rulesText("TRANSIENT: another try", s.Policy.Rules, string(retry.Transient)))
	fmt.Fprintf(&b, "\nNo rule matches: %s\n", p.Unknown)
	b.WriteString(rulesText("Submission may have landed: advice CHECK_STATUS", s.Policy.InDoubt, ""))
	if len(s.Findings) > 0 {
		b.WriteString("\nWhat worker policies lint says:\n" + findingsText(s.Findings))
	}
	return b.String()
}

func jitterWords(j retry.Jitter) string {
	switch j.Mode {
	case retry.JitterNone:
		return "no jitter"
	case retry.JitterProportional:
		return fmt.Sprintf("%s jitter of %g", j.Mode, j.Share)
	case retry.JitterFull, retry.JitterEqual, retry.JitterDecorrelated:
		return string(j.Mode) + " jitter"
	default:
		return string(j.Mode)
	}
}

func (s shownPolicy) input(p *retry.Policy) string {
	text := "claimId is one word"
	if p.IDs == retry.ClaimIDs {
		text = "claimId is CLM-<any>-<digits>"
	}
	if p.AcceptEmptyError {
		text += "; a blank error text is an unknown error"
	} else {
		text += "; a blank error text is invalid"
	}
	text += "; a time without a zone is of " + s.Policy.TimeZone
	if p.JobOverrides {
		text += "; max_attempts, retry_delay and max_retry_delay of a job override"
	}
	return text
}

// mostWaits is how many waits are printed; of more, the first ones and the last.
const mostWaits = 15

func (s shownPolicy) schedule(p *retry.Policy) string {
	if len(s.Schedule) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n")
	row := func(number, before, band, total string) {
		line := fmt.Sprintf("  %-12s   %-13s   %-19s   %s", number, before, band, total)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	row("retry", "before jitter", "band", "waited in all")
	for i, w := range s.Schedule {
		if i >= mostWaits-1 && i < len(s.Schedule)-1 {
			if i == mostWaits-1 {
				row("...", "", "", "")
			}
			continue
		}
		before := policy.FormatDuration(time.Duration(w.BeforeJitter))
		if p.Jitter.Mode == retry.JitterDecorrelated {
			before = "-"
		}
		row(fmt.Sprintf("%d of %d", w.Retry, s.MaxRetries), before, fromTo(time.Duration(w.Shortest), time.Duration(w.Longest)),
			fromTo(time.Duration(w.TotalShortest), time.Duration(w.TotalLongest)))
	}
	return b.String()
}

// rulesText lists the rules of a class.
func rulesText(title string, rules []policy.Rule, class string) string {
	var b strings.Builder
	for _, r := range rules {
		if r.Class != class {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\n" + title + "\n")
		}
		b.WriteString("  " + r.ID + "\n")
		b.WriteString(wrap(conditions(r), "      "))
	}
	return b.String()
}

func conditions(r policy.Rule) string {
	var parts []string
	add := func(name, text string) {
		if text != "" {
			parts = append(parts, name+" "+plain(text))
		}
	}
	add("contains", strings.Join(r.Contains, ", "))
	add("code", strings.Join(r.Code, ", "))
	add("pattern", cutRunes(r.Pattern, 60))
	add("unless", cutRunes(r.Unless, 60))
	if r.Source == "" {
		return strings.Join(parts, "; ")
	}
	return strings.Join(parts, "; ") + " (" + plain(r.Source) + ")"
}

// findingsText words findings, each with what to do about it.
func findingsText(findings []policy.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		where := plain(f.File)
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, f.Line)
		}
		fmt.Fprintf(&b, "  %s: %s %s\n", where, f.Severity, f.Check)
		what := f.Problem
		if f.Rule != "" {
			what = "rule " + f.Rule + ": " + what
		}
		if f.Policy != "" {
			what = "policy " + f.Policy + ": " + what
		}
		if !strings.HasSuffix(what, "?") { // did you mean ...?
			what += "."
		}
		b.WriteString(wrap(plain(what), "      "))
		if f.Advice != "" {
			b.WriteString(wrap("What to do: "+f.Advice+".", "      "))
		}
	}
	return b.String()
}
