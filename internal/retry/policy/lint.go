package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

// LintAll returns the findings about all policies that do not come with the worker, by name, as [Set.Lint]
// does for one.
func (s *Set) LintAll(outage time.Duration) (findings text.Findings) {
	for _, name := range s.Names() {
		if s.entries[name].Origin != BuiltInOrigin {
			findings = append(findings, s.Lint(name, outage)...)
		}
	}
	return findings
}

// Lint returns the findings about a known policy, in the order of their lines. Inherited rules are checked in
// the policy that states them, and against what this one puts before them. outage is how long the other side
// may be down; 0 leaves that check out.
func (s *Set) Lint(name string, outage time.Duration) text.Findings {
	e := s.entries[name]
	l := &linter{p: e.policy, e: e}
	if !l.never() {
		l.horizon(outage)
		l.waits()
	}
	l.settings(s.settings)
	l.extends()
	for i := range l.p.Rules {
		l.compiled = append(l.compiled, compiled(l.p.Rules[i].Condition))
	}
	for i := range e.Rules {
		l.rule = e.Rules[i].ID
		l.alone(&e.Rules[i])
		l.beside(i)
	}
	for i := range e.InDoubt {
		l.rule = e.InDoubt[i].ID
		l.alone(&e.InDoubt[i])
		l.doubts(&e.InDoubt[i])
	}
	if e.Extends != "" {
		l.changes()
	}
	slices.SortFunc(l.findings, func(a, b text.Finding) int {
		// A warning comes before what is worth knowing.
		return cmp.Or(a.Line-b.Line, cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.What, b.What))
	})
	return l.findings
}

type linter struct {
	p        *retry.Policy
	e        *Entry
	compiled []*errtext.Matcher // the policy's rules
	// rule is the id of the rule that is looked at, empty for the policy itself.
	rule     string
	findings text.Findings
}

// check is what a finding is of.
type check struct {
	severity text.Severity
	name     string
}

// find adds a finding if it is so; then it returns true. What was found is a format.
func (l *linter) find(so bool, of check, advice, what string, args ...any) bool {
	if so {
		line, _ := l.e.line(l.rule, "")
		l.findings = append(l.findings, text.Finding{
			Severity: of.severity,
			Check:    of.name,
			File:     l.e.Origin,
			Line:     line,
			Subject:  subject(l.e.Name, l.rule),
			What:     fmt.Sprintf(what, args...),
			Advice:   advice,
		})
	}
	return so
}

// never finds the reason why nothing is ever tried again.
func (l *linter) never() bool {
	p := l.p
	const what = "nothing is ever tried again: "
	never := check{text.Error, "never-retries"}
	passes := func(r retry.Rule) bool { return r.Class == retry.Transient }
	stops := p.Unknown == retry.Permanent && !p.AcceptEmptyError && !slices.ContainsFunc(p.Rules, passes)
	return l.find(p.MaxRetries == 0 && !p.JobOverrides, never,
		"raise maxRetries: it is how often a claim is tried again",
		what+"maxRetries is 0") ||
		l.find(p.Deadline > 0 && p.Deadline < p.Min, never,
			"lengthen the deadline, or shorten min",
			what+"the deadline, %s, is shorter than min, %s", text.Span(p.Deadline), text.Span(p.Min)) ||
		l.find(stops, never,
			"add TRANSIENT rules, or state unknown: UNKNOWN",
			what+"no rule is TRANSIENT, and a text that no rule matches is PERMANENT")
}

// horizon finds retries that end before the outage or hardly ever, and those that the deadline cuts off.
func (l *linter) horizon(outage time.Duration) {
	p := l.p
	var shortest, longest time.Duration // of all waits together; hints and the tries themselves come on top
	cut := p.MaxRetries
	for next := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		shortest, longest = next.TotalShortest, next.TotalLongest
		if !next.Cut {
			cut--
		}
	}
	l.find(outage > shortest, check{text.Warning, "outage"},
		"raise maxRetries, factor or max, so that the shortest waits last",
		"an outage of %s outlasts the retries: they are used up after %s",
		text.Span(outage), text.Range(shortest, longest))
	// A claim that is tried for so long, or so often, has most likely a slip in its numbers.
	many := longest > 7*24*time.Hour || p.MaxRetries >= retry.RetriesCeiling/2
	l.find(p.Deadline == 0 && many, check{text.Warning, "unbounded"},
		"set a deadline: the time after which the claim needs a person anyway",
		"nothing bounds the retries in time: there is no deadline, and %d retries wait up to %s in all",
		p.MaxRetries, text.About(longest))
	deadline := check{text.Information, "deadline"}
	if 2*cut > p.MaxRetries {
		deadline.severity = text.Warning
	}
	l.find(p.Deadline > 0 && cut > 0, deadline,
		"lengthen the deadline, or shorten base, if all retries are wanted",
		"the deadline, %s, cuts %d of %s at least for some claims",
		text.Span(p.Deadline), cut, text.Count(p.MaxRetries, "wait"))
	l.find(longest < p.Deadline/8, check{text.Information, "deadline"},
		"raise maxRetries, factor or max, if the retries are to last so long",
		"the deadline, %s, never counts: the retries are used up after %s",
		text.Span(p.Deadline), text.Range(shortest, longest))
}

// waits finds numbers that have no effect, or another one than they seem to.
func (l *linter) waits() {
	p := l.p
	l.find(p.Min > p.Base, check{text.Warning, "waits"},
		"raise base to min, or lower min",
		"min, %s, is longer than base, %s: the first wait is not base", text.Span(p.Min), text.Span(p.Base))
	last := p.Delay(p.MaxRetries - 1)
	_ = l.find(p.MaxRetries > 1 && p.Factor > 1 && p.Delay(1) == p.Max, check{text.Information, "waits"},
		"raise max or lower factor, unless that is meant",
		"the second wait is max already, %s: the waits grow no further", text.Span(p.Max)) ||
		l.find(p.Factor > 1 && p.MaxRetries > 2 && last < p.Base*3/2, check{text.Information, "waits"},
			"raise factor, unless that is meant",
			"the waits hardly grow: the first is %s, the last %s before jitter",
			text.Span(p.Base), text.Span(last))
	l.find(l.e.Jitter < 0, check{text.Warning, "jitter"},
		"state jitter: 0.2, or jitter: 0 if that is meant",
		"there is no jitter: claims that fail together come back together")
	l.find(p.Jitter >= 0.5, check{text.Warning, "jitter"},
		"0.2 is 20 %, 0.01 is 1 %",
		"jitter is %g: a wait is up to %.0f %% shorter or longer", p.Jitter, 100*p.Jitter)
	shortest, longest, _ := p.Band(0)
	l.find(p.Jitter > 0 && shortest == longest, check{text.Warning, "jitter"},
		"choose a finer precision, a lower min, a higher max or a larger jitter",
		"jitter spreads nothing before the first retry: min, max and precision leave one wait, %s",
		text.Span(shortest))
	for _, t := range p.Targets {
		tooSoon := retry.KPIs()[t.KPI] == retry.Seconds && t.Value < shortest.Seconds()
		l.find(tooSoon, check{text.Warning, "targets"},
			"raise the target, or shorten base and min",
			"the target for %s cannot be reached: the first wait is %s", t.KPI, text.Range(shortest, longest))
	}
}

// settings finds a default policy of a file whose numbers are not those of the settings (RN-BIL-004 section
// 5.2), whether it states them or has them from another policy.
func (l *linter) settings(by Source) {
	p := l.p
	same := p.MaxRetries == cmp.Or(by.MaxRetries, p.MaxRetries) && p.Base == cmp.Or(by.Base, p.Base) &&
		p.Min == cmp.Or(by.Base, p.Min) && p.Max == cmp.Or(by.Max, p.Max)
	l.find(p.Name == "tiss" && !same, check{text.Warning, "settings"},
		"extend tiss and leave the numbers out of the file, or unset the settings",
		"the numbers of the file count, not those of %s", SettingsOrigin)
}

// extends finds the documents' permanent words that a policy for claims retries, because it inherits no rule
// that knows them.
func (l *linter) extends() {
	const advice = "state extends, so that the rules here come before the inherited ones"
	refuses := func(p *retry.Policy, word string) bool { return p.Classify(word).Class == retry.Permanent }
	var words []string
	for _, r := range BuiltIn("rn-bil-005").Rules {
		word := r.Contains[0]
		if r.Class == retry.Permanent && !refuses(l.p, word) && !refuses(l.e.parent.policy, word) {
			words = append(words, word)
		}
	}
	_, replaced := builtIn()[l.e.Name]
	alone := l.e.Extends == "" && l.e.Origin != BuiltInOrigin
	claims := l.p.IDs == retry.ClaimIDs && l.p.MaxRetries > 0
	_ = l.find(claims && words != nil, check{text.Warning, "no-extends"},
		advice+", or add rules for these words",
		"extends: tiss is missing: %s would be retried", strings.Join(words, ", ")) ||
		l.find(alone && (replaced || l.p.Rules == nil), check{text.Information, "no-extends"}, advice,
			"it extends no policy: a text that none of its own rules matches is %s", l.p.Unknown)
}
