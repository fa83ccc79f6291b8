package policy

import (
	"fmt"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/term"
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

// severities are in the order of their weight.
var severities = []Severity{SevereInformation, SevereWarning, SevereError}

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
// that states them. outage is how long the other side may be down; 0 leaves that check out. Of more than 100 findings the last
// one counts the rest.
func (s *Set) Lint(name string, outage time.Duration) []Finding {
	return listed(s.lint(name, outage))
}

// LintAll returns the findings about all policies of an origin, by name, as [Set.Lint] does for one.
func (s *Set) LintAll(origin string, outage time.Duration) (findings []Finding) {
	for _, name := range s.Names() {
		if s.Origin(name) == origin {
			findings = append(findings, s.lint(name, outage)...)
		}
	}
	return listed(findings)
}

// maxFindings is how many findings are listed.
const maxFindings = 100

// listed returns the first findings, and one that counts the rest. It is as severe as the worst of them.
func listed(findings []Finding) []Finding {
	if len(findings) <= maxFindings {
		return findings
	}
	rest := findings[maxFindings:]
	worst := slices.MaxFunc(rest, func(a, b Finding) int {
		return slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity)
	})
	return append(slices.Clip(findings[:maxFindings]), Finding{
		Severity: worst.Severity, Check: "more", File: worst.File, Problem: "and " + term.Count(len(rest), "more finding"),
	})
}

func (s *Set) lint(name string, outage time.Duration) []Finding {
	e, known := s.entries[name]
	if !known {
		return nil
	}
	l := &linter{p: e.policy, e: e, outage: outage, words: maxWords}
	if !l.never() {
		l.horizon()
		l.deadline()
		l.waits()
		l.jitter()
	}
	l.rules()
	slices.SortStableFunc(l.findings, func(a, b Finding) int { return a.Line - b.Line })
	return l.findings
}

type linter struct {
	p        *retry.Policy
	e        *Entry
	outage   time.Duration
	findings []Finding
	// demands are those of the rules up to the one that is looked at. words is how many pairs of words may still be compared.
	demands []*demand
	words   int
}

// setting returns the place of a setting.
func (l *linter) setting(name string) Finding {
	line, _ := l.e.states(name)
	return Finding{Policy: l.e.Name, File: l.e.file, Line: line}
}

// rule returns the place of a setting of a rule.
func (l *linter) rule(r *Rule, setting string) Finding {
	_, line := follow(r.node, []string{setting})
	return Finding{Policy: l.e.Name, Rule: r.ID, File: l.e.file, Line: line}
}

// add adds a finding at a place.
func (l *linter) add(at Finding, severity Severity, check, problem, advice string) {
	at.Severity, at.Check, at.Problem, at.Advice = severity, check, problem, advice
	l.findings = append(l.findings, at)
}

// numbered names retries, counted from 1: retry 2, retries 2 to 5.
func numbered(retries []int) string {
	first, last := retries[0]+1, retries[len(retries)-1]+1
	switch {
	case len(retries) == 1:
		return fmt.Sprintf("retry %d", first)
	case last-first+1 == len(retries):
		return fmt.Sprintf("retries %d to %d", first, last)
	default:
		return fmt.Sprintf("retry %d and %s", first, term.Count(len(retries)-1, "other"))
	}
}
