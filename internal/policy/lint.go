package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Lint returns the findings about a policy, in the order of their lines. Inherited settings and rules are checked in the
// policy that states them, and against what this one puts before them. outage is how long the other side may be down; 0
// leaves that check out.
func (s *Set) Lint(name string, outage time.Duration) text.Findings {
	e, known := s.entries[name]
	if !known {
		return nil
	}
	l := &linter{p: e.policy, e: e}
	l.numbers(outage)
	l.extends()
	l.rules()
	l.changes()
	slices.SortFunc(l.findings, func(a, b text.Finding) int {
		return cmp.Or(a.Line-b.Line, cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.What, b.What)) // a warning comes first
	})
	return l.findings
}

// LintAll returns the findings about all policies of an origin, by name, as [Set.Lint] does for one.
func (s *Set) LintAll(origin string, outage time.Duration) (findings text.Findings) {
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
	findings text.Findings
}

// find adds a finding about the policy, or about a rule of it by its id, if it is so; then it returns true. what is a format.
func (l *linter) find(so bool, severity text.Severity, check, rule, advice, what string, args ...any) bool {
	if so {
		f := text.Finding{Severity: severity, Check: check, Advice: advice, What: fmt.Sprintf(what, args...)}
		f.File, f.Line, f.Subject = l.e.file, l.e.node.Line, subject(l.e.Name, rule)
		if node := l.e.rule(rule); rule != "" {
			f.Line = node.Line
		}
		l.findings = append(l.findings, f)
	}
	return so
}

const (
	// A claim that is tried for so long, or so often, has most likely a slip in its numbers.
	longHorizon = 7 * 24 * time.Hour
	manyRetries = retry.RetriesCeiling / 2
	// wideJitter is a jitter that is more likely a slip: half of the delay, so that some wait three times as long as others.
	wideJitter = 0.5
)

// numbers finds retries that never come, end before the outage or hardly ever, and numbers that have no effect, or another one
// than they seem to.
func (l *linter) numbers(outage time.Duration) {
	p := l.p
	const nothing = "nothing is ever tried again: "
	passes := func(r retry.Rule) bool { return r.Class == retry.Transient }
	if l.find(p.MaxRetries == 0 && !p.JobOverrides, text.Error, "never-retries", "",
		"raise maxRetries: it is how often a claim is tried again", nothing+"maxRetries is 0") ||
		l.find(p.MaxRetries > 0 && p.Deadline > 0 && p.Deadline < p.Min, text.Error, "never-retries", "",
			"lengthen the deadline, or shorten min", nothing+"the deadline, %s, is shorter than min, %s", text.Span(p.Deadline), text.Span(p.Min)) ||
		l.find(p.Unknown == retry.Permanent && !p.AcceptEmptyError && !slices.ContainsFunc(p.Rules, passes), text.Error, "never-retries", "",
			"add TRANSIENT rules, or state unknown: UNKNOWN", nothing+"no rule is TRANSIENT, and a text that no rule matches is PERMANENT") {
		return // the rest does not matter then
	}
	var shortest, longest time.Duration // of all waits together; hints and the tries themselves come on top
	cut := p.MaxRetries
	for next := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		shortest, longest = next.TotalShortest, next.TotalLongest
		if !next.Cut {
			cut--
		}
	}
	l.find(outage > shortest, text.Warning, "outage", "", "raise maxRetries, factor or max, so that the shortest waits last",
		"an outage of %s outlasts the retries: they are used up after %s", text.Span(outage), text.Range(shortest, longest))
	l.find(p.Deadline == 0 && (longest > longHorizon || p.MaxRetries >= manyRetries), text.Warning, "unbounded", "",
		"set a deadline: the time after which the claim needs a person anyway",
		"nothing bounds the retries in time: there is no deadline, and %d retries wait up to %s in all", p.MaxRetries, text.About(longest))
	severity := text.Information
	if cut == p.MaxRetries {
		severity = text.Warning
	}
	l.find(p.Deadline > 0 && cut > 0, severity, "deadline", "", "lengthen the deadline, or shorten base, if all retries are wanted",
		"the deadline, %s, cuts %d of %s at least for some claims", text.Span(p.Deadline), cut, text.Count(p.MaxRetries, "wait"))
	l.find(p.Min > p.Base, text.Warning, "waits", "", "raise base to min, or lower min",
		"min, %s, is longer than base, %s: the first wait is not base", text.Span(p.Min), text.Span(p.Base))
	l.find(p.MaxRetries > 1 && p.Factor > 1 && p.Delay(1) == p.Max, text.Information, "waits", "", "raise max or lower factor, unless that is meant",
		"the second wait is max already, %s: the waits grow no further", text.Span(p.Max))
	l.jitter()
}

// jitter finds claims that come back together, and those that come back when they will.
func (l *linter) jitter() {
	p := l.p
	const together = "claims that fail together come back together"
	l.find(l.e.Jitter < 0, text.Warning, "jitter", "", "state jitter: 0.2, or jitter: 0 if that is meant", "there is no jitter: "+together)
	l.find(p.Jitter >= wideJitter, text.Warning, "jitter", "", "0.2 is 20 %, 0.01 is 1 %",
		"jitter is %g: a wait is up to %.0f %% shorter or longer", p.Jitter, 100*p.Jitter)
	for n := range p.MaxRetries {
		shortest, longest := p.Band(n)
		if l.find(p.Jitter > 0 && shortest == longest, text.Warning, "jitter", "",
			"choose a finer precision, a lower min, a higher max or a larger jitter",
			"jitter spreads nothing before retry %d: min, max and precision leave one wait, %s, so %s", n+1, text.Span(shortest), together) {
			return
		}
	}
}

// extends finds what a policy would have to inherit.
func (l *linter) extends() {
	const check, advice = "no-extends", "state extends, so that the rules here come before the inherited ones"
	builtIn, words := BuiltIns().entries[l.e.Name], l.retried()
	_ = l.find(words != nil, text.Warning, check, "", advice+", or add rules for these words",
		"extends: tiss is missing: %s would be retried", enumerate(words)) ||
		l.find(len(l.p.Rules) == 0 && l.p.Unknown == retry.Unknown, text.Warning, check, "", advice+", or state unknown: TRANSIENT",
			"there are no rules: every error text is UNKNOWN, and is retried") ||
		l.find(builtIn != nil && builtIn.file != l.e.file && l.e.Extends == "", text.Information, check, "", advice+", or choose another name",
			"it takes the place of the built-in policy %s and inherits nothing of it", l.e.Name)
}

// retried returns the documents' permanent words that a policy for claims retries, because it inherits no rule that knows them.
func (l *linter) retried() (words []string) {
	for _, r := range BuiltIn("rn-bil-005").Rules {
		word := r.Contains[0]
		permanent := l.e.inherits().Classify(word).Class == retry.Permanent || l.p.Classify(word).Class == retry.Permanent
		if l.p.IDs == retry.ClaimIDs && l.p.MaxRetries > 0 && r.Class == retry.Permanent && !permanent {
			words = append(words, word)
		}
	}
	return words
}

// enumerate lists the first few items, and counts the others.
func enumerate(items []string) string {
	const few = 5
	if len(items) <= few {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(items[:few], ", "), len(items)-few)
}
