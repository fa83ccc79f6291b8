package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/text"
)

// Fault is one reason to refuse a policies file.
type Fault struct {
	File string
	// Line counts from 1; 0 if the fault has no line.
	Line int
	// Policy and Rule are the names of the policy and the rule; empty if the fault is in none, or it has no name.
	Policy, Rule string
	// Problem is what is wrong.
	Problem string
}

// Error returns file, line, policy, rule and problem on one line, without control characters.
func (f Fault) Error() string {
	at := f.File
	if f.Line > 0 {
		at += ":" + strconv.Itoa(f.Line)
	}
	if f.Policy != "" {
		at += ": policy " + f.Policy
	}
	if f.Rule != "" {
		at += ": rule " + f.Rule
	}
	return text.Line(at + ": " + f.Problem)
}

// Faults are all faults of a policies file, in the order of its lines. They are the error of [Parse] and [Open].
type Faults []Fault

// Error returns a line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].Error()
	}
	return strings.Join(lines, "\n")
}

// ordered returns the faults by line and problem; nil if there is none.
func ordered(faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Problem, b.Problem)) })
	return Faults(faults)
}

// short cuts a long value, so that it does not fill the screen.
func short(value string) string { return text.Shorten(value, 60) }
