package demo

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/term"
)

// The columns of the table: number of the try, time, text, class, what follows.
const (
	layout    = "%4s%7s  %-34s  %-9s  %s"
	textWidth = 34
	noteWidth = 13 // of what comes before the text
	width     = 80
)

// table is a table that is being written. Its lines are laid out by fmt: text/tabwriter would align each
// claim's columns by themselves, for a heading ends a column.
type table struct{ strings.Builder }

// Table shows what happened to each claim.
func Table(results []Result) string {
	t := &table{}
	t.row("try", "time", "what happened", "class", "then")
	for i, r := range results {
		rule := "─"
		if i == 0 {
			rule = "━"
		}
		fmt.Fprintln(t, strings.Repeat(rule, width))
		t.claim(r)
	}
	fmt.Fprintln(t, strings.Repeat("━", width))
	return t.String()
}

func (t *table) row(try, at, text, class, then string) {
	fmt.Fprintln(t, strings.TrimRight(fmt.Sprintf(layout, try, at, text, class, then), " "))
}

// note writes a text, wrapped over the width that is there.
func (t *table) note(at, text string) {
	t.WriteString(term.Hanging(fmt.Sprintf("%*s  ", noteWidth-2, at), plain(text)))
}

func (t *table) claim(r Result) {
	mark := "✓ "
	if len(r.Faults) > 0 {
		mark = "✗ "
	}
	right := mark + cmp.Or(r.End, "NOT ENDED")
	head, shows := plain(r.ID), plain(r.Shows)
	if both := head + "  " + shows; utf8.RuneCountInString(both+right) < width {
		head, shows = both, ""
	}
	fmt.Fprintf(t, "%-*s%s\n", width-utf8.RuneCountInString(right), head, right)
	if shows != "" {
		t.WriteString(term.Wrap(shows, "  "))
	}
	for i, try := range r.Tries {
		t.try(i+1, try)
	}
	for _, fault := range r.Faults {
		t.note("", "✗ "+fault)
	}
}

func (t *table) try(number int, try history.Try) {
	class, then, code := "", "", ""
	if try.Decision != nil {
		class, then, code = try.Decision.Class, follows(*try.Decision), try.Decision.Code
	}
	again := then
	switch {
	case try.Accepted:
		then = "submitted"
	case len(try.Incidents) > 0:
		class, then = "", script.Incident
	}
	t.row(fmt.Sprint(number), try.At.String(), excerpt(said(try), code), class, then)
	for _, stop := range try.Incidents {
		t.incident(stop)
	}
	if len(try.Incidents) > 0 && try.Decision != nil {
		t.row("", try.Decision.At.String(), "analysed again", try.Decision.Class, again)
	}
	t.people(try)
}

// tag is an XML tag. In the table only the text between them is of interest.
var tag = regexp.MustCompile(`<[^<>]*>`)

// said returns what the insurer answered.
func said(try history.Try) string {
	if try.Accepted {
		return script.Accepted
	}
	return cmp.Or(plain(tag.ReplaceAllString(try.Error, " ")), "(an error without a text)")
}

// follows returns what the worker decided.
func follows(d history.Decision) string {
	switch {
	case d.Wait <= 0:
		return d.Outcome
	case d.MaxRetries == 0:
		return fmt.Sprintf("retry %d in %s", d.RetryCount, term.Span(d.Wait))
	}
	return fmt.Sprintf("retry %d/%d in %s", d.RetryCount, d.MaxRetries, term.Span(d.Wait))
}

func (t *table) incident(stop history.Stop) {
	t.note(stop.At.String(), stop.Message)
	var set []string
	for _, c := range stop.Corrections {
		set = append(set, c.Variable+" = "+c.Value)
	}
	if stop.ResolvedAt != nil {
		t.note(stop.ResolvedAt.String(), "operator: "+strings.Join(append(set, "incident resolved"), ", "))
	}
}

func (t *table) people(try history.Try) {
	for i, review := range try.Reviews {
		notified := " "
		if i < len(try.Notified) && try.Notified[i] == review.Team {
			notified = " notified, "
		}
		text := review.Team + notified + "decides " + review.Decision
		if review.Justification != "" {
			text += ": " + review.Justification
		}
		t.note(review.At.String(), text)
	}
	for i := len(try.Reviews); i < len(try.Notified); i++ {
		t.note("", try.Notified[i]+" was notified")
	}
}

// plain makes a text fit for a line of a terminal: what an insurer wrote may hold line ends and control
// characters.
func plain(text string) string { return strings.Join(strings.Fields(term.Text(text)), " ") }

// excerpt cuts a text to the width of its column. What stays begins at the start if code is within reach,
// otherwise at code.
func excerpt(text, code string) string {
	if at := strings.Index(strings.ToUpper(text), code); code != "" && at > 0 && at < len(text) && utf8.RuneCountInString(text) > textWidth {
		if utf8.RuneCountInString(text[:at]+code) >= textWidth {
			text = "..." + text[at:]
		}
	}
	return term.Shorten(text, textWidth)
}
