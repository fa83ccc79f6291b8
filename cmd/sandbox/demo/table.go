package demo

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
)

// The widths that a table can have, and the one where the terminal's is not known.
const (
	MinWidth     = 80
	MaxWidth     = 100
	DefaultWidth = 96
)

// The columns: number of the try, time, text, class, what follows. The text takes what the others leave.
const (
	tryWidth   = 4
	timeWidth  = 7
	classWidth = 9
	thenWidth  = 20
	gap        = 2
	indent     = tryWidth + timeWidth + gap
)

// table is a table that is being written. Its lines are laid out by fmt, whose widths count runes: text/tabwriter would align
// each claim's columns by themselves, for a heading ends a column.
type table struct {
	strings.Builder
	width int
}

// Table shows what happened to each claim, columns wide (MinWidth to MaxWidth).
func Table(results []Result, columns int) string {
	t := &table{width: min(max(columns, MinWidth), MaxWidth)}
	t.row("try", "time", "what happened", "class", "then")
	for i, r := range results {
		rule := "─"
		if i == 0 {
			rule = "━"
		}
		t.line(strings.Repeat(rule, t.width))
		t.claim(r)
	}
	t.line(strings.Repeat("━", t.width))
	return t.String()
}

func (t *table) line(text string) {
	fmt.Fprintln(t, strings.TrimRight(text, " "))
}

func (t *table) textWidth() int { return t.width - indent - classWidth - thenWidth - 2*gap }

func (t *table) row(try, at, text, class, then string) {
	t.line(fmt.Sprintf("%*s%*s  %-*s  %-*s  %s", tryWidth, try, timeWidth, at, t.textWidth(), text, classWidth, class, then))
}

// note writes a text, wrapped over the width that is there.
func (t *table) note(at, text string) {
	for _, line := range wrap(plain(text), t.width-indent) {
		t.line(fmt.Sprintf("%*s%*s  %s", tryWidth, "", timeWidth, at, line))
		at = ""
	}
}

func (t *table) claim(r Result) {
	t.heading(r)
	for i, try := range r.History.Tries {
		t.try(i+1, try)
	}
	for _, fault := range r.Faults {
		t.note("", "✗ "+fault)
	}
}

// heading writes the claim and what it shows on the left and how it ended on the right.
func (t *table) heading(r Result) {
	mark, end := "✓", string(r.End)
	if !r.OK() {
		mark = "✗"
	}
	if r.End == "" {
		end = "NOT ENDED"
	}
	right := mark + " " + end
	name := plain(r.Claim.ID)
	lines := wrap(plain(r.Claim.Shows), t.width-width(name)-width(right)-2*gap)
	t.line(fmt.Sprintf("%s  %-*s%s", name, t.width-width(name)-width(right)-gap, lines[0], right))
	for _, line := range lines[1:] {
		t.line(fmt.Sprintf("%*s%s", width(name)+gap, "", line))
	}
}

func (t *table) try(number int, try history.Try) {
	class, then, code := "", "", ""
	decided := try.Decision != nil
	switch {
	case try.Accepted:
		then = "submitted"
	case len(try.Incidents) > 0:
		then = string(history.Incident)
		if decided {
			code = try.Decision.Code
		}
	case decided:
		class, then, code = try.Decision.Class, follows(*try.Decision), try.Decision.Code
	}
	t.row(fmt.Sprint(number), try.At.String(), excerpt(said(try), code, t.textWidth()), class, then)
	for _, stop := range try.Incidents {
		t.incident(stop)
	}
	if len(try.Incidents) > 0 && decided {
		t.row("", try.Decision.At.String(), "analysed again", try.Decision.Class, follows(*try.Decision))
	}
	t.people(try)
}

// tag is an XML tag. In the table only the text between them is of interest.
var tag = regexp.MustCompile(`<[^<>]*>`)

// said returns what the insurer answered.
func said(try history.Try) string {
	switch text := plain(tag.ReplaceAllString(try.Error, " ")); {
	case try.Accepted:
		return "OK"
	case text == "":
		return "(an error without a text)"
	default:
		return text
	}
}

// follows returns what the worker decided.
func follows(d history.Decision) string {
	if d.BackoffMinutes > 0 {
		return fmt.Sprintf("retry %d/%d in %d min", d.RetryCount, d.MaxRetries, d.BackoffMinutes)
	}
	return string(d.Outcome)
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

// plain makes a text fit for a line of a terminal: what an insurer wrote may hold line ends and control characters.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
}

// width returns the number of columns of a text that is plain.
func width(text string) int { return utf8.RuneCountInString(text) }

// excerpt cuts a text to so many columns. What stays begins at the start if code is within reach, otherwise at code.
func excerpt(text, code string, columns int) string {
	all := []rune(text)
	if len(all) <= columns {
		return text
	}
	if at := strings.Index(strings.ToUpper(text), code); code != "" && at > 0 && at < len(text) {
		if start := width(text[:at]); start+width(code) > columns-1 {
			all = append([]rune("…"), all[start:]...)
		}
	}
	if len(all) <= columns {
		return string(all)
	}
	return string(all[:columns-1]) + "…"
}

// wrap breaks a text into lines of so many columns, at blanks if there are any.
func wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && width(line)+1+width(word) <= columns {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		runes := []rune(word)
		for ; len(runes) > columns; runes = runes[columns:] { // a word that fits on no line
			lines = append(lines, string(runes[:columns]))
		}
		line = string(runes)
	}
	return append(lines, line)
}
