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
	if !l.never() {
		l.horizon(outage)
		l.waits()
	}
	l.extends()
	l.rules()
	l.changes()
	slices.SortFunc(l.findings, func(a, b text.Finding) int {
		// A warning comes before what is worth knowing.
		return cmp.Or(a.Line-b.Line, cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.What, b.What))
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

// finding returns one that is of no policy yet. what is a format.
func finding(severity text.Severity, check, advice, what string, args ...any) text.Finding {
	return text.Finding{Severity: severity, Check: check, Advice: advice, What: fmt.Sprintf(what, args...)}
}

// find adds a finding about the policy, or about a rule of it by its id, if it is so; then it returns true.
func (l *linter) find(so bool, rule string, f text.Finding) bool {
	if so {
		f.File, f.Line, f.Subject = l.e.file, l.e.node.Line, subject(l.e.Name, rule)
		if rule != "" {
			f.Line = l.e.rule(rule).Line
		}
		l.findings = append(l.findings, f)
	}
	return so
}

// never finds the reason why nothing is ever tried again.
func (l *linter) never() bool {
	p := l.p
	const check, what = "never-retries", "nothing is ever tried again: "
	passes := func(r retry.Rule) bool { return r.Class == retry.Transient }
	return l.find(p.MaxRetries == 0 && !p.JobOverrides, "", finding(text.Error, check,
		"raise maxRetries: it is how often a claim is tried again", what+"maxRetries is 0")) ||
		l.find(p.MaxRetries > 0 && p.Deadline > 0 && p.Deadline < p.Min, "", finding(text.Error, check,
			"lengthen the deadline, or shorten min",
			what+"the deadline, %s, is shorter than min, %s", text.Span(p.Deadline), text.Span(p.Min))) ||
		l.find(p.Unknown == retry.Permanent && !p.AcceptEmptyError && !slices.ContainsFunc(p.Rules, passes), "",
			finding(text.Error, check, "add TRANSIENT rules, or state unknown: UNKNOWN",
				what+"no rule is TRANSIENT, and a text that no rule matches is PERMANENT"))
}

const (
	// A claim that is tried for so long, or so often, has most likely a slip in its numbers.
	longHorizon = 7 * 24 * time.Hour
	manyRetries = retry.RetriesCeiling / 2
	// wideJitter is more likely a slip: half of the delay, so that some wait three times as long as others.
	wideJitter = 0.5
)

// horizon finds retries that end before the outage or hardly ever, and those that the deadline cuts off.
func (l *linter) horizon(outage time.Duration) {
	p := l.p
	var shortest, longest time.Duration // of all waits together; hints and the tries themselves come on top
	cut, severity := p.MaxRetries, text.Warning
	for next := range retry.Schedule(p, retry.Request{}, time.Unix(0, 0)) {
		shortest, longest = next.TotalShortest, next.TotalLongest
		if !next.Cut {
			cut, severity = cut-1, text.Information
		}
	}
	l.find(outage > shortest, "", finding(text.Warning, "outage",
		"raise maxRetries, factor or max, so that the shortest waits last",
		"an outage of %s outlasts the retries: they are used up after %s", text.Span(outage), text.Range(shortest, longest)))
	l.find(p.Deadline == 0 && (longest > longHorizon || p.MaxRetries >= manyRetries), "", finding(text.Warning, "unbounded",
		"set a deadline: the time after which the claim needs a person anyway",
		"nothing bounds the retries in time: there is no deadline, and %d retries wait up to %s in all",
		p.MaxRetries, text.About(longest)))
	l.find(p.Deadline > 0 && cut > 0, "", finding(severity, "deadline",
		"lengthen the deadline, or shorten base, if all retries are wanted",
		"the deadline, %s, cuts %d of %s at least for some claims",
		text.Span(p.Deadline), cut, text.Count(p.MaxRetries, "wait")))
}

// waits finds numbers that have no effect, or another one than they seem to.
func (l *linter) waits() {
	p := l.p
	l.find(p.Min > p.Base, "", finding(text.Warning, "waits", "raise base to min, or lower min",
		"min, %s, is longer than base, %s: the first wait is not base", text.Span(p.Min), text.Span(p.Base)))
	l.find(p.MaxRetries > 1 && p.Factor > 1 && p.Delay(1) == p.Max, "", finding(text.Information, "waits",
		"raise max or lower factor, unless that is meant",
		"the second wait is max already, %s: the waits grow no further", text.Span(p.Max)))
	const together = "claims that fail together come back together"
	l.find(l.e.Jitter < 0, "", finding(text.Warning, "jitter",
		"state jitter: 0.2, or jitter: 0 if that is meant", "there is no jitter: "+together))
	l.find(p.Jitter >= wideJitter, "", finding(text.Warning, "jitter", "0.2 is 20 %, 0.01 is 1 %",
		"jitter is %g: a wait is up to %.0f %% shorter or longer", p.Jitter, 100*p.Jitter))
	for n := range p.MaxRetries {
		shortest, longest := p.Band(n)
		if l.find(p.Jitter > 0 && shortest == longest, "", finding(text.Warning, "jitter",
			"choose a finer precision, a lower min, a higher max or a larger jitter",
			"jitter spreads nothing before retry %d: min, max and precision leave one wait, %s, so %s",
			n+1, text.Span(shortest), together)) {
			return
		}
	}
}

// extends finds what a policy would have to inherit.
func (l *linter) extends() {
	const check, advice = "no-extends", "state extends, so that the rules here come before the inherited ones"
	builtIn, words := BuiltIns().entries[l.e.Name], l.retried()
	_ = l.find(words != nil, "", finding(text.Warning, check, advice+", or add rules for these words",
		"extends: tiss is missing: %s would be retried", list(words))) ||
		l.find(len(l.p.Rules) == 0 && l.p.Unknown == retry.Unknown, "", finding(text.Warning, check,
			advice+", or state unknown: TRANSIENT", "there are no rules: every error text is UNKNOWN, and is retried")) ||
		l.find(builtIn != nil && builtIn.file != l.e.file && l.e.Extends == "", "", finding(text.Information, check,
			advice+", or choose another name",
			"it takes the place of the built-in policy %s and inherits nothing of it", l.e.Name))
}

// retried returns the documents' permanent words that a policy for claims retries, because it inherits no rule that
// knows them.
func (l *linter) retried() (words []string) {
	refused := func(p *retry.Policy, word string) bool { return p.Classify(word).Class == retry.Permanent }
	for _, r := range BuiltIn("rn-bil-005").Rules {
		word := r.Contains[0]
		if r.Class == retry.Permanent && l.p.IDs == retry.ClaimIDs && l.p.MaxRetries > 0 &&
			!refused(l.p, word) && !refused(l.e.inherits(), word) {
			words = append(words, word)
		}
	}
	return words
}

// list lists the first few names, and counts the others.
func list(names []string) string {
	const few = 5
	if more := len(names) - few; more > 0 {
		names = append(names[:few:few], fmt.Sprintf("%d others", more))
	}
	return strings.Join(names, ", ")
}
