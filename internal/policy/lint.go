package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Severity is how much a finding matters.
type Severity string

// The severities.
const (
	// SevereError: the file is refused, or the policy does nothing of what it is for.
	SevereError Severity = "error"
	// SevereWarning: the policy most likely does not do what is meant.
	SevereWarning Severity = "warning"
	// SevereInformation: worth knowing, and often meant.
	SevereInformation Severity = "information"
)

// Finding is a fault of a policies file, or a likely mistake in a valid one.
type Finding struct {
	Severity Severity `json:"severity"`
	// Check is the kind of the finding, such as short-word.
	Check string `json:"check"`
	// Policy and Rule are the names of the policy and the rule; empty if the finding is about none, or about a form.
	Policy string `json:"policy,omitempty"`
	Rule   string `json:"rule,omitempty"`
	// File and Line are the place. Line counts from 1; 0 if there is none.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Problem is what was found, Advice what to do about it, empty where the problem says so.
	Problem string `json:"problem"`
	Advice  string `json:"advice,omitempty"`
}

// String returns file, line, policy, rule and problem on one line, without control characters.
func (f Finding) String() string {
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
type Faults []Finding

// Error returns a line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].String()
	}
	return strings.Join(lines, "\n")
}

// ordered returns the faults of a file by line and problem, each once.
func (f Faults) ordered(file string) Faults {
	for i := range f {
		f[i].File, f[i].Severity = file, SevereError
	}
	slices.SortStableFunc(f, func(a, b Finding) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Problem, b.Problem)) })
	return slices.Compact(f)
}

// Lint returns the findings about a policy, in the order of their lines. Inherited settings and rules are checked in the
// policy that states them, and against what this one puts before them. outage is how long the other side may be down; 0
// leaves that check out.
func (s *Set) Lint(name string, outage time.Duration) []Finding {
	e, known := s.entries[name]
	if !known {
		return nil
	}
	l := &linter{p: e.policy, e: e, outage: outage}
	if !l.never() {
		l.horizon()
		l.waits()
	}
	l.rules()
	l.changes()
	slices.SortStableFunc(l.findings, func(a, b Finding) int { return a.Line - b.Line })
	return l.findings
}

// LintAll returns the findings about all policies of an origin, by name, as [Set.Lint] does for one.
func (s *Set) LintAll(origin string, outage time.Duration) (findings []Finding) {
	for _, name := range s.Names() {
		if s.Origin(name) == origin {
			findings = append(findings, s.Lint(name, outage)...)
		}
	}
	return findings
}

type linter struct {
	p        *retry.Policy
	e        *Entry
	outage   time.Duration
	findings []Finding
}

// add adds a finding about a setting of the policy.
func (l *linter) add(severity Severity, check, setting, problem, advice string) {
	l.findings = append(l.findings, Finding{
		Severity: severity,
		Check:    check,
		Policy:   l.e.Name,
		File:     l.e.file,
		Line:     lineOf(l.e.node, setting),
		Problem:  problem,
		Advice:   advice,
	})
}

// warn adds a warning about a setting of a rule.
func (l *linter) warn(r *retry.Rule, check, setting, problem, advice string) {
	l.add(SevereWarning, check, setting, problem, advice)
	f := &l.findings[len(l.findings)-1]
	f.Rule, f.Line = r.ID, lineOf(l.e.rule(r.ID), setting)
}

// inform adds what is worth knowing of a rule.
func (l *linter) inform(r *retry.Rule, check, problem, advice string) {
	l.warn(r, check, "id", problem, advice)
	l.findings[len(l.findings)-1].Severity = SevereInformation
}

// states reports whether the policy or one that it extends states a setting.
func (l *linter) states(setting string) bool {
	for e := l.e; e != nil; e = e.parent {
		if e.states(setting) {
			return true
		}
	}
	return false
}

func compiled(c evidence.Condition) *evidence.Matcher {
	m, _ := evidence.Compile(c) // it was compiled before
	return m
}

func compiledAll(rules []retry.Rule) (all []*evidence.Matcher) {
	for i := range rules {
		all = append(all, compiled(rules[i].Condition))
	}
	return all
}

// enumerate lists the first few items, and counts the others.
func enumerate(items []string) string {
	const few = 5
	if len(items) <= few {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(items[:few], ", "), len(items)-few)
}
