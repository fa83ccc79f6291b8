package policy

import (
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/retry"
)

// Severity is how much a finding matters.
type Severity string

// The severities.
const (
	// SevereError: the policy does nothing of what it is for.
	SevereError Severity = "error"
	// SevereWarning: the policy does not do what is written down.
	SevereWarning Severity = "warning"
	// SevereInformation: worth knowing, and often meant.
	SevereInformation Severity = "information"
)

// Finding is a likely mistake in a valid policy.
type Finding struct {
	Severity Severity `json:"severity"`
	// Check is the kind of the finding, such as cap-not-reached.
	Check  string `json:"check"`
	Policy string `json:"policy,omitempty"`
	// Rule is the id of the rule; empty if the finding is about the policy itself.
	Rule string `json:"rule,omitempty"`
	// File and Line are the place.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Problem is what was found, Advice what to do about it.
	Problem string `json:"problem"`
	Advice  string `json:"advice,omitempty"`
}

// Lint returns the findings about a policy, in the order of their lines. Inherited settings and rules are checked in the policy
// that states them. outage is how long the other side may be down; 0 leaves that check out.
func (s *Set) Lint(name string, outage time.Duration) []Finding {
	e, known := s.entries[name]
	if !known {
		return nil
	}
	l := &linter{p: e.policy, e: e, outage: outage}
	if !l.never() {
		l.horizon()
		l.deadline()
		l.waits()
	}
	l.check()
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
	// rules are the rules up to the one that is looked at.
	rules []*evidence.Matcher
}

// setting returns the place of a setting.
func (l *linter) setting(name string) Finding {
	line, _ := l.e.states(name)
	return Finding{Policy: l.e.Name, File: l.e.file, Line: line}
}

// rule returns the place of a setting of a rule.
func (l *linter) rule(r *retry.Rule, setting string) Finding {
	return Finding{Policy: l.e.Name, Rule: r.ID, File: l.e.file, Line: lineOf(l.e.rule(r.ID), setting)}
}

// add adds a finding at a place.
func (l *linter) add(at Finding, severity Severity, check, problem, advice string) {
	at.Severity, at.Check, at.Problem, at.Advice = severity, check, problem, advice
	l.findings = append(l.findings, at)
}
