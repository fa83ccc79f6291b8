package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/terminal"
)

// Fault is one thing because of which a policies file is refused.
type Fault struct {
	File string
	// Line counts from 1; 0 where the fault has no line.
	Line int
	// Policy and Rule name where in the file it is; empty where it is above them or they have no name.
	Policy, Rule string
	// Problem says what is wrong.
	Problem string
}

// Error names file, line, policy and rule, and the problem, on one line that cannot command a terminal.
func (f Fault) Error() string {
	var b strings.Builder
	b.WriteString(terminal.Line(f.File))
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	b.WriteString(": ")
	if f.Policy != "" {
		b.WriteString("policy " + terminal.Line(f.Policy) + ": ")
	}
	if f.Rule != "" {
		b.WriteString("rule " + terminal.Line(f.Rule) + ": ")
	}
	b.WriteString(terminal.Line(f.Problem))
	return b.String()
}

// Faults is all that is wrong with a policies file, in the order of its lines. It is the error of [Parse] and [Open].
type Faults []Fault

// Error has a line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].Error()
	}
	return strings.Join(lines, "\n")
}

// maxFaults is how many faults of a file are told.
const maxFaults = 100

// ordered is the faults by line, those of a line always in the same order, and each once; nil where there is none.
func ordered(faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Problem, b.Problem)) })
	faults = slices.Compact(faults)
	if more := len(faults) - maxFaults; more > 0 {
		faults = append(faults[:maxFaults], Fault{File: faults[0].File, Problem: fmt.Sprintf("and %d more faults", more)})
	}
	return Faults(faults)
}

// short cuts a long value, so that it does not fill the screen.
func short(value string) string {
	const most = 60
	if runes := []rune(value); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return value
}
