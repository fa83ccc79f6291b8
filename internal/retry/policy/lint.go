package policy

import (
	_ "embed" // for the texts
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// Lint returns the findings about the policies but for those that come with the worker, by name and in the
// order of their lines. Inherited rules are checked in the policy that states them, and against what others
// put before them. outage is how long the other side may be down; 0 leaves that check out.
func (s *Set) Lint(outage time.Duration) (findings text.Findings) {
	for _, name := range s.Names() {
		if e := s.entries[name]; e.origin != builtInOrigin {
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
		l.alone(&l.p.Rules[i])
		l.beside(i)
	}
	for i := range e.InDoubt {
		l.alone(&l.p.InDoubt[i])
	}
	if e.Extends != "" {
		l.changes()
	}
	return byLine(l.findings)
}

type linter struct {
	p *retry.Policy
	e *entry
	// rule is the id of the rule that is looked at, empty for the policy itself.
	rule     string
	findings []text.Finding
}

//go:embed mistakes.yaml
var mistakeTexts []byte

// mistakes are what can be found, each by its name.
var mistakes = sync.OnceValue(func() (all map[string]text.Finding) {
	if err := yaml.Unmarshal(mistakeTexts, &all); err != nil {
		panic(err) // the file is part of the program
	}
	return all
})

// find adds a mistake, with what it names, if it is so; then it returns true.
func (l *linter) find(so bool, mistake string, named ...any) bool {
	if so {
		f := mistakes()[mistake]
		f.What.Args = named
		f.Subject, f.File = subject(l.e.Name, l.rule), l.e.origin
		value, _ := l.e.find(l.rule, "")
		f.Line = value.Line
		l.findings = append(l.findings, f)
	}
	return so
}

// never finds the reason why nothing is ever tried again.
func (l *linter) never() bool {
	p := l.p
	passes := func(r retry.Rule) bool { return r.Class == retry.Transient }
	stops := p.Unknown == retry.Permanent && p.OnEmptyError == retry.RejectEmptyError &&
		!slices.ContainsFunc(p.Rules, passes)
	deadline, least := time.Duration(p.Deadline), time.Duration(p.Min)
	return l.find(p.MaxRetries == 0 && !p.JobOverrides, "no-retries") ||
		l.find(deadline > 0 && deadline < least, "deadline-too-short", deadline, least) ||
		l.find(stops, "all-permanent")
}

// horizon finds retries that end before the outage or hardly ever.
func (l *linter) horizon(outage time.Duration) {
	p := l.p
	var all text.Range // of all waits together; hints and the tries themselves come on top
	if waits := retry.Schedule(p, retry.Request{}, time.Unix(0, 0)); len(waits) > 0 {
		all = waits[len(waits)-1].Total()
	}
	l.find(outage > all.Shortest, "outage", outage, all)
	// A claim that is tried for so long has most likely a slip in its numbers.
	l.find(p.Deadline == 0 && all.Longest > 7*24*time.Hour, "unbounded",
		strconv.Itoa(p.MaxRetries), all.Longest.Truncate(time.Hour))
}

// jitter finds waits that are not spread, so that claims which fail together come back together.
func (l *linter) jitter() {
	l.find(l.e.Jitter < 0, "no-jitter")
	shortest, longest, _ := l.p.Band(0)
	l.find(l.p.Jitter > 0 && shortest == longest, "jitter-without-room", shortest)
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
	l.find(claims && words != nil, "no-extends", strings.Join(words, ", "))
}
