package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// The columns of the table: number of the try, time, text, class, what follows.
const (
	layout    = "%4s%7s  %-34s  %-9s  %s"
	textWidth = 34
	width     = 80
)

// table shows what happened to each claim. Its lines are laid out by fmt: text/tabwriter would align each claim's columns by
// themselves, for a heading ends a column.
func (p *play) table() string {
	t := &strings.Builder{}
	row(t, "try", "time", "what happened", "class", "then")
	for i, c := range p.claims {
		rule := "─"
		if i == 0 {
			rule = "━"
		}
		fmt.Fprintln(t, strings.Repeat(rule, width))
		faults := p.faults(c)
		right := "✓ " + c.whereabouts()
		if len(faults) > 0 {
			right = "✗ " + c.whereabouts()
		}
		head, shows := plain(c.Claim), plain(c.Shows)
		if both := head + "  " + shows; utf8.RuneCountInString(both+right) < width {
			head, shows = both, ""
		}
		fmt.Fprintf(t, "%-*s%s\n", width-utf8.RuneCountInString(right), head, right)
		if shows != "" {
			t.WriteString(text.Wrap(shows, "  "))
		}
		for i, try := range c.tries {
			try.write(t, i+1)
		}
		for _, fault := range faults {
			t.WriteString(text.Hanging(strings.Repeat(" ", 13), "✗ "+fault))
		}
	}
	fmt.Fprintln(t, strings.Repeat("━", width))
	return t.String()
}

func row(t *strings.Builder, cells ...any) {
	fmt.Fprintln(t, strings.TrimRight(fmt.Sprintf(layout, cells...), " "))
}

// tag is an XML tag. In the table only the text between them is of interest.
var tag = regexp.MustCompile(`<[^<>]*>`)

func (y *try) write(t *strings.Builder, number int) {
	said := cmp.Or(plain(tag.ReplaceAllString(y.answer, " ")), "(an error without a text)")
	class, then := "", ""
	if y.decision != nil {
		class, then = string(y.decision.ErrorClassification), y.follows()
	}
	again := then
	switch {
	case y.answer == accepted:
		class, then = "", "submitted"
	case y.hasStopped:
		class, then = "", incident
	}
	row(t, fmt.Sprint(number), clockTime(y.at), text.Shorten(said, textWidth), class, then)
	for _, n := range y.notes {
		t.WriteString(text.Hanging(fmt.Sprintf("%11s  ", clockTime(n.at)), plain(n.text)))
	}
	if y.hasStopped && y.decision != nil {
		row(t, "", clockTime(y.decided), "analysed again", string(y.decision.ErrorClassification), again)
	}
}

// follows says what the worker decided.
func (y *try) follows() string {
	d := y.decision
	wait := time.Duration(d.BackoffMinutes) * time.Minute
	if iso := d.RetryDecision.BackoffDuration; iso != "" {
		wait, _ = retry.ParseDuration(iso) // the worker's own
	}
	switch {
	case y.code != "" || wait <= 0:
		return cmp.Or(y.code, string(d.ErrorClassification))
	case d.MaxRetries == 0: // RN-BIL-004 does not have it
		return fmt.Sprintf("retry %d in %s", d.RetryCount, text.Span(wait))
	}
	return fmt.Sprintf("retry %d/%d in %s", d.RetryCount, d.MaxRetries, text.Span(wait))
}

// clockTime words a time since the start as hours and minutes.
func clockTime(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", d/time.Hour, d%time.Hour/time.Minute)
}

// plain makes a text fit for a line of a terminal: what an insurer wrote may hold line ends and control characters.
func plain(s string) string { return strings.Join(strings.Fields(text.Harmless(s)), " ") }

// summary says in a few lines how the run compares with its file.
func (p *play) summary(file string, elapsed time.Duration) string {
	submissions, failed, ended := 0, 0, map[string]int{}
	for _, c := range p.claims {
		ended[c.whereabouts()]++
		submissions += len(c.tries)
		if len(p.faults(c)) > 0 {
			failed++
		}
	}
	s := fmt.Sprintf("All %d claims went as %s says", len(p.claims), file)
	if p.models.own {
		s = fmt.Sprintf("All %d claims of %s came to rest in %s", len(p.claims), file, p.models.process)
	}
	if failed > 0 {
		s = fmt.Sprintf("%d of %d claims did not go as %s says", failed, len(p.claims), file)
	}
	var counts []string
	for end, n := range ended {
		counts = append(counts, fmt.Sprintf("%d %s", n, end))
	}
	slices.SortFunc(counts, func(a, b string) int {
		return cmp.Compare(strings.TrimLeft(a, "0123456789"), strings.TrimLeft(b, "0123456789"))
	})
	return fmt.Sprintf("%s: %s.\n%s: %s on the engine's clock, %.0f s on yours.\n", s, strings.Join(counts, ", "),
		text.Count(submissions, "submission"), text.About(p.passed()), elapsed.Seconds())
}
