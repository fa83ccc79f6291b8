package policy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

// Lint returns the findings about the policies, by name and in the order of their lines; about those that
// come with the worker only if that is asked. Inherited rules are checked in the policy that states them, and
// against what others put before them. outage is how long the other side may be down; 0 leaves that check
// out.
func (s *Set) Lint(outage time.Duration, builtIns bool) (findings text.Findings) {
	for _, name := range s.Names() {
		if e := s.entries[name]; builtIns || e.origin != builtInOrigin {
			findings = append(findings, e.lint(outage)...)
		}
	}
	return findings
}

func (e *entry) lint(outage time.Duration) []text.Finding {
	l := &linter{p: e.policy, e: e}
	if !l.never() {
		l.horizon(outage)
		l.jitter()
	}
	l.extends()
	for i := range e.Rules {
		l.rule = e.Rules[i].ID
		l.compiled = append(l.compiled, l.alone(&e.Rules[i]))
		l.beside(i)
	}
	for i := range e.InDoubt {
		l.rule = e.InDoubt[i].ID
		l.alone(&e.InDoubt[i])
	}
	if e.Extends != "" {
		l.changes()
	}
	return byLine(l.findings)
}

type linter struct {
	p        *retry.Policy
	e        *entry
	compiled []*errtext.Matcher // the rules up to the one that is looked at
	// rule is the id of the rule that is looked at, empty for the policy itself.
	rule     string
	findings []text.Finding
}

// never is the check of policies that harm every claim, and the only one whose findings are errors.
const never = "never-retries"

// find adds a finding if it is so; then it returns true.
func (l *linter) find(so bool, name string, advice, what text.Message) bool {
	if so {
		severity := text.Warning
		if name == never {
			severity = text.Error
		}
		line, _ := l.e.line(l.rule, "")
		l.findings = append(l.findings, text.Finding{
			Severity: severity,
			Check:    name,
			File:     l.e.origin,
			Line:     line,
			Subject:  subject(l.e.Name, l.rule),
			What:     what,
			Advice:   advice,
		})
	}
	return so
}

// never finds the reason why nothing is ever tried again.
func (l *linter) never() bool {
	p := l.p
	passes := func(r retry.Rule) bool { return r.Class == retry.Transient }
	stops := p.Unknown == retry.Permanent && p.OnEmptyError == retry.RejectEmptyError &&
		!slices.ContainsFunc(p.Rules, passes)
	return l.find(p.MaxRetries == 0 && !p.JobOverrides, never,
		text.Messagef("raise maxRetries: it is how often a claim is tried again"),
		text.Messagef("nothing is ever tried again: maxRetries is 0")) ||
		l.find(p.Deadline > 0 && p.Deadline < p.Min, never,
			text.Messagef("lengthen the deadline, or shorten min"),
			text.Messagef("nothing is ever tried again: the deadline, %s, is shorter than "+
				"min, %s", time.Duration(p.Deadline), time.Duration(p.Min))) ||
		l.find(stops, never,
			text.Messagef("add TRANSIENT rules, or state unknown: UNKNOWN"),
			text.Messagef("nothing is ever tried again: no rule is TRANSIENT, and a text that no rule "+
				"matches "+
				"is PERMANENT"))
}

// horizon finds retries that end before the outage or hardly ever.
func (l *linter) horizon(outage time.Duration) {
	p := l.p
	var all text.Range // of all waits together; hints and the tries themselves come on top
	if waits := retry.Schedule(p, retry.Request{}, time.Unix(0, 0)); len(waits) > 0 {
		all = waits[len(waits)-1].Total()
	}
	l.find(outage > all.Shortest, "outage",
		text.Messagef("raise maxRetries, factor or max, so that the shortest waits last"),
		text.Messagef("an outage of %s outlasts the retries: they are used up after %s", outage, all))
	// A claim that is tried for so long has most likely a slip in its numbers.
	l.find(p.Deadline == 0 && all.Longest > 7*24*time.Hour, "unbounded",
		text.Messagef("set a deadline: the time after which the claim needs a person anyway"),
		text.Messagef("nothing bounds the retries in time: there is no deadline, and %s retries wait up to "+
			"%s in all",
			strconv.Itoa(p.MaxRetries), all.Longest.Truncate(time.Hour)))
}

// jitter finds waits that are not spread, so that claims which fail together come back together.
func (l *linter) jitter() {
	l.find(l.e.Jitter < 0, "jitter",
		text.Messagef("state jitter: 0.2, or jitter: 0 if that is meant"),
		text.Messagef("there is no jitter: claims that fail together come back together"))
	shortest, longest, _ := l.p.Band(0)
	l.find(l.p.Jitter > 0 && shortest == longest, "jitter",
		text.Messagef("choose a finer precision, a lower min, a higher max or a larger jitter"),
		text.Messagef("jitter spreads nothing before the first retry: min, max and precision leave one "+
			"wait, %s",
			shortest))
}

// extends finds the documents' permanent words that a policy for claims retries, because it inherits no rule
// that knows them.
func (l *linter) extends() {
	refuses := func(p *retry.Policy, word string) bool { return p.Classify(word).Class == retry.Permanent }
	var words []string
	for _, r := range BuiltIn("rn-bil-005").Rules {
		word := r.Contains[0]
		if r.Class == retry.Permanent && !refuses(l.p, word) && !refuses(l.e.parent.policy, word) {
			words = append(words, word)
		}
	}
	claims := l.p.IDs == retry.ClaimIDs && l.p.MaxRetries > 0
	l.find(claims && words != nil, "no-extends",
		text.Messagef("state extends, so that the rules here come before the inherited ones, "+
			"or add rules for these words"),
		text.Messagef("extends: tiss is missing: %s would be retried", strings.Join(words, ", ")))
}
