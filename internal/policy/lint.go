package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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

// Finding is something odd about a policy that is valid.
type Finding struct {
	Severity Severity `json:"severity"`
	// Check names the kind of finding, such as cap-not-reached.
	Check  string `json:"check"`
	Policy string `json:"policy,omitempty"`
	// Rule is the id of the rule that is odd; empty where it is the policy itself.
	Rule string `json:"rule,omitempty"`
	// File and Line say where it is written.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Problem says what is odd, and Advice what to do about it.
	Problem string `json:"problem"`
	Advice  string `json:"advice,omitempty"`
}

// Lint looks for what is odd about a policy. It looks at what the policy itself states: what it takes over is found where
// that is written. An outage is how long the other side may be down, 0 for not stated.
func (s *Set) Lint(name string, outage time.Duration) []Finding {
	e, known := s.entries[name]
	if !known {
		return nil
	}
	l := &linter{p: s.policies[name], e: e, outage: outage}
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
}

// oddity is the kind of a finding.
type oddity struct {
	severity Severity
	check    string
}

// setting notes a finding about a setting of the policy.
func (l *linter) setting(o oddity, setting, problem, advice string) {
	line, _ := l.e.states(setting)
	l.findings = append(l.findings, Finding{
		Severity: o.severity, Check: o.check, Policy: l.e.Name, File: l.e.file, Line: line, Problem: problem, Advice: advice,
	})
}

// Horizon is the sum of all waits of a policy at the shortest and at the longest: how long a claim is tried that fails
// every time. A deadline bounds both. Server hints and the tries themselves come on top.
func Horizon(p *retry.Policy) (shortest, longest time.Duration) {
	shortest, longest = waited(p, p.MaxRetries)
	if p.Deadline > 0 {
		shortest, longest = min(shortest, p.Deadline), min(longest, p.Deadline)
	}
	return shortest, longest
}

// waited is the sum of the first waits.
func waited(p *retry.Policy, waits int) (shortest, longest time.Duration) {
	for n := range waits {
		from, to := p.Band(n)
		shortest, longest = sum(shortest, from), sum(longest, to)
	}
	return shortest, longest
}

// sum does not overflow: a thousand waits of a year are more than a Duration holds.
func sum(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

const (
	longHorizon = 30 * 24 * time.Hour
	manyRetries = retry.RetriesCeiling / 2
)

// never finds why nothing is ever tried again, and reports whether that is so: of waits that never are there is no more to
// say.
func (l *linter) never() bool {
	const nothing = "nothing is ever tried again: "
	p, before := l.p, len(l.findings)
	if p.MaxRetries == 0 && !p.JobOverrides {
		l.setting(oddity{SevereError, "no-retries"}, "maxRetries", nothing+"maxRetries is 0", "raise maxRetries: it is how often a claim is tried again")
	}
	if p.MaxRetries > 0 && p.Deadline > 0 && p.Deadline < p.Min {
		l.setting(oddity{SevereError, "deadline-too-short"}, "deadline",
			fmt.Sprintf("%sthe deadline, %s, is shorter than min, %s", nothing, FormatDuration(p.Deadline), FormatDuration(p.Min)),
			"lengthen the deadline, or shorten min")
	}
	if l.allPermanent() {
		l.setting(oddity{SevereError, "all-permanent"}, "unknown", nothing+"no rule is TRANSIENT, and a text that no rule matches is PERMANENT",
			"add TRANSIENT rules, or state unknown: UNKNOWN")
	}
	return len(l.findings) > before
}

// allPermanent reports whether every error is permanent. A blank text that is taken is not: it is an unknown error.
func (l *linter) allPermanent() bool {
	transient := func(r retry.Rule) bool { return r.Class != retry.Permanent }
	return l.p.Unknown == retry.Permanent && !l.p.AcceptEmptyError && !slices.ContainsFunc(l.p.Rules, transient)
}

func (l *linter) horizon() {
	p := l.p
	shortest, longest := Horizon(p)
	if p.Deadline == 0 && (longest > longHorizon || p.MaxRetries >= manyRetries) {
		l.setting(oddity{SevereWarning, "unbounded"}, "maxRetries",
			fmt.Sprintf("nothing bounds the retries in time: there is no deadline, and %d retries wait up to %s in all", p.MaxRetries, FormatDuration(longest)),
			"set a deadline: the time after which the claim needs a person anyway")
	}
	switch {
	case l.outage > longest:
		l.setting(oddity{SevereWarning, "horizon-shorter-than-outage"}, "maxRetries",
			fmt.Sprintf("an outage of %s outlasts all retries: they are used up after %s", FormatDuration(l.outage), between(shortest, longest)),
			"raise maxRetries, factor or max")
	case l.outage > shortest:
		l.setting(oddity{SevereWarning, "horizon-shorter-than-outage"}, "maxRetries",
			fmt.Sprintf("an outage of %s outlasts the retries of some claims: they are used up after %s", FormatDuration(l.outage), between(shortest, longest)),
			"raise maxRetries, factor or max, so that the shortest waits last too")
	}
}

func (l *linter) deadline() {
	p := l.p
	if p.Deadline == 0 || p.MaxRetries == 0 {
		return
	}
	_, first := p.Band(0)
	_, longest := waited(p, p.MaxRetries)
	switch {
	case p.Deadline < first:
		l.setting(oddity{SevereWarning, "deadline-too-short"}, "deadline",
			fmt.Sprintf("the first wait can be %s, longer than the deadline, %s: the first try is pulled forward to it and is the only one", FormatDuration(first), FormatDuration(p.Deadline)),
			"lengthen the deadline, or shorten base")
	case p.Deadline < longest:
		fit := 0
		for all := first; all <= p.Deadline; {
			fit++
			_, next := p.Band(fit)
			all = sum(all, next)
		}
		l.setting(oddity{SevereInformation, "deadline-cuts-retries"}, "deadline",
			fmt.Sprintf("of %s only the first %d always end before the deadline, %s; the next one is pulled forward to it where at least min remains",
				counted(p.MaxRetries, "wait"), fit, FormatDuration(p.Deadline)),
			"lengthen the deadline if all retries are wanted")
	}
}

func (l *linter) waits() {
	p := l.p
	if p.Min > p.Base {
		l.setting(oddity{SevereWarning, "min-above-base"}, "min",
			fmt.Sprintf("min, %s, is longer than base, %s: the first wait is not base", FormatDuration(p.Min), FormatDuration(p.Base)),
			"raise base to min, or lower min")
	}
	if p.MaxRetries == 0 {
		l.setting(oddity{SevereInformation, "no-retries"}, "maxRetries", "a job is tried again only if it states max_attempts: maxRetries is 0",
			"nothing, where all jobs state it; else raise maxRetries")
		return
	}
	_, longest := p.Band(p.MaxRetries - 1)
	if p.Jitter.Mode != retry.JitterDecorrelated && longest < p.Max {
		l.setting(oddity{SevereInformation, "cap-not-reached"}, "max",
			fmt.Sprintf("the %s cap is never reached with %s: the longest wait is %s", FormatDuration(p.Max), counted(p.MaxRetries, "retry"), FormatDuration(longest)),
			"nothing, where max is to bound server hints only; else lower it")
	}
	if _, stated := l.e.states("factor"); stated && p.Jitter.Mode == retry.JitterDecorrelated {
		l.setting(oddity{SevereWarning, "factor-ignored"}, "factor",
			"decorrelated jitter has no factor: each wait is drawn from base to three times the wait before", "leave factor out")
	}
}

func (l *linter) jitter() {
	p := l.p
	if p.Jitter.Mode == retry.JitterNone {
		return
	}
	// Where the other modes meet a bound, that is how they are made.
	bounded := p.Jitter.Mode == retry.JitterProportional || p.Jitter.Mode == retry.JitterEqual
	var cut, single []int
	for n := range p.MaxRetries {
		if shortest, longest := p.Band(n); shortest == longest {
			single = append(single, n)
		} else if from, to := p.Spread(n); bounded && (from < p.Min || to > p.Max) {
			cut = append(cut, n)
		}
	}
	if len(single) > 0 {
		only, _ := p.Band(single[0])
		l.setting(oddity{SevereWarning, "jitter-without-room"}, "jitter",
			fmt.Sprintf("jitter spreads nothing before %s: min, max and precision leave one wait, %s, so claims that fail together come back together",
				numbered(single), FormatDuration(only)),
			"a finer precision, a lower min, a higher max or a larger share")
	}
	if len(cut) > 0 {
		from, to := p.Spread(cut[0])
		shortest, longest := p.Band(cut[0])
		l.setting(oddity{SevereInformation, "jitter-leaves-band"}, "jitter",
			fmt.Sprintf("jitter would leave the band of min and max before %s: %s, cut to %s. Claims do not pile up at the bound, but they are spread over less time",
				numbered(cut), between(from, to), between(shortest, longest)),
			"nothing, where that is enough; else a lower min or a higher max")
	}
}

// numbered words retries, counted from 1: retry 2, retries 2 to 5.
func numbered(retries []int) string {
	first, last := retries[0]+1, retries[len(retries)-1]+1
	switch {
	case len(retries) == 1:
		return fmt.Sprintf("retry %d", first)
	case last-first+1 == len(retries):
		return fmt.Sprintf("retries %d to %d", first, last)
	default:
		return fmt.Sprintf("retry %d and %s", first, counted(len(retries)-1, "other"))
	}
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		thing = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func between(from, to time.Duration) string {
	if from == to {
		return FormatDuration(from)
	}
	return FormatDuration(from) + " to " + FormatDuration(to)
}

// FormatDuration writes a duration for people, much as a policies file does: 1h36m, not 1h36m0s; a long one in days.
func FormatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == math.MaxInt64:
		return "centuries"
	case d > 10*day:
		return fmt.Sprintf("%d days", d/day)
	default:
		return retry.FormatDuration(d)
	}
}
