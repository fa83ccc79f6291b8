package text

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Severity is how much a finding matters. It stands in JSON: the names are never changed.
type Severity string

// The severities.
const (
	// OK is as it should be.
	OK Severity = "ok"
	// Information is worth knowing, and often meant. Warning does something else than it seems to, in some
	// cases. Error stops what it is about, or lets it not do what it is for.
	Information Severity = "information"
	Warning     Severity = "warning"
	Error       Severity = "error"
)

// Finding is something that a person should know about a policy, a model, a setting or a part that runs. Its
// JSON form is stable: names are added, never changed.
type Finding struct {
	Severity Severity `json:"severity"`
	// Check is what was looked at or for, such as gateway or timer-duration.
	Check string `json:"check"`
	// File and Line are the place, Line from 1; empty and 0 where it is in none, or not known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Subject is what the finding is about, such as an element of a model by its id, or "policy tiss, rule
	// transient.TIMEOUT". Name is what people call it.
	Subject Message `json:"subject,omitzero"`
	Name    string  `json:"name,omitempty"`
	// What is what was found, Effect what happens at run time, Advice what to do, and Fix a text to paste
	// there.
	What   Message `json:"what"`
	Effect Message `json:"effect,omitzero"`
	Advice Message `json:"advice,omitzero"`
	Fix    string  `json:"fix,omitempty"`
}

// Findings are several; as an error they are all that is wrong. In JSON those that are empty, but not nil,
// are a list.
type Findings []Finding

// Error returns a line for each.
func (f Findings) Error() string { return In(English).Error(f) }

// Count returns how many are of a severity.
func (f Findings) Count(s Severity) (n int) {
	for i := range f {
		if f[i].Severity == s {
			n++
		}
	}
	return n
}

// In is all of them for a person.
func (f Findings) In(p *Printer) string {
	texts := make([]string, len(f))
	for i := range f {
		texts[i] = f[i].In(p)
	}
	return strings.Join(texts, "\n")
}

// In is a finding for a person: of a part or a setting one line, with what to do behind an arrow; of a
// place in a file its sentences, below the place.
func (f Finding) In(p *Printer) string {
	severity := p.Name("severity", string(f.Severity))
	if f.File == "" {
		const longest = len("authentication")
		s := fmt.Sprintf("%-*s  %-*s  %s\n", len(Warning), severity, longest, f.Check, f.line(p))
		if f.Advice.Format != "" {
			s += fmt.Sprintf("%*s-> %s\n", len(Warning)+2, "", p.Text(f.Advice))
		}
		return s
	}
	var b strings.Builder
	say := func(indent, words string) { b.WriteString(Wrap(indent, words)) }
	fmt.Fprintf(&b, "%s: %s %s\n", Line(f.place()), severity, f.Check)
	subject := p.Text(f.Subject)
	if f.Name != "" {
		subject = fmt.Sprintf("%s (%s)", f.Name, subject)
	}
	if subject != "" {
		say("  ", subject)
	}
	const indent = "    "
	say(indent, sentence(p.Text(f.What)))
	if f.Effect.Format != "" {
		say(indent, p.Sprintf("At run time: %s", sentence(p.Text(f.Effect))))
	}
	switch {
	case f.Advice.Format != "":
		say(indent, p.Sprintf("What to do: %s", sentence(p.Text(f.Advice))))
	case f.Fix != "":
		say(indent, p.Sprintf("What to do:"))
	}
	for line := range strings.Lines(f.Fix) {
		b.WriteString(strings.TrimRight(indent+"  "+Harmless(line), " \n") + "\n")
	}
	return b.String()
}

// OneLine is a finding for a log or an error: the place, what it is about and what was found.
func (f Finding) OneLine() string { return f.line(In(English)) }

func (f Finding) place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

func (f Finding) line(p *Printer) string {
	parts := []string{f.place(), p.Text(f.Subject), p.Text(f.What)}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	words := strings.Fields(strings.Join(parts, ": ")) // an error may have several lines
	return Line(strings.Join(words, " "))
}

var ended = regexp.MustCompile(`[?:.]\)?$`)

// sentence begins a text with a capital letter, unless it begins with a name that is written as it is, and
// ends it.
func sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s, " ")
	if strings.IndexFunc(word, unicode.IsUpper) < 0 {
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	if !ended.MatchString(s) {
		s += "."
	}
	return s
}
