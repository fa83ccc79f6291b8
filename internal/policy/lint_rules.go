package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/match"
)

// rules checks the rules that the policy states itself.
func (l *linter) rules() {
	if len(l.p.Rules) == 0 && !l.allPermanent() {
		severity := SevereInformation
		if l.e.Unknown == "" {
			severity = SevereWarning
		}
		l.add(l.setting("rules"), severity, "no-rules", "there are no rules: every error text is "+string(l.p.Unknown),
			"add rules, or state unknown if one class for all is meant")
	}
	own := func(r *Rule) bool { return r.policy == l.e.Name && r.file == l.e.file }
	for i := range l.p.Rules {
		if own(&l.e.Rules[i]) {
			l.alone(&l.e.Rules[i], &l.p.Rules[i].Condition)
			if !l.shadowed(i) {
				l.inBothClasses(i)
			}
		}
	}
	for i := range l.p.InDoubt {
		if own(&l.e.InDoubt[i]) {
			l.alone(&l.e.InDoubt[i], &l.p.InDoubt[i].Condition)
		}
	}
}

// alone finds mistakes in a rule that do not depend on other rules.
func (l *linter) alone(r *Rule, m *match.Condition) {
	if m.ReadsEveryText() {
		l.add(l.rule(r, "pattern"), SevereInformation, "expensive", "the pattern is tried on every text, which costs far more than looking for a word",
			"add contains, or a word of three letters or more to each alternative of the pattern")
	}
	if excludesItself(m) {
		l.add(l.rule(r, "unless"), SevereWarning, "never-matches", "unless matches everything that the rule looks for: the rule never matches",
			"make unless narrower, or leave it out")
	}
}

// shadowed finds the words of a rule that never decide, because a rule that is checked earlier matches every text with them.
func (l *linter) shadowed(i int) bool {
	r := &l.p.Rules[i]
	alternatives := split(&r.Condition)
	var words []string
	var by *retry.Rule
	for k := range alternatives {
		a := &alternatives[k]
		if earlier := l.earlier(i, a); earlier != nil {
			words = append(words, strings.Join(slices.Concat(a.Contains, a.Codes), " "))
			by = cmp.Or(by, earlier)
		}
	}
	if by == nil {
		return false
	}
	severity, check, what := SevereWarning, "never-matches", "the rule"
	if len(words) < len(alternatives) {
		what = strings.Join(words, ", ")
	}
	switch {
	case by.Class != r.Class:
		check = "two-classes"
	case len(words) < len(alternatives):
		severity = SevereInformation
	}
	l.add(l.rule(&l.e.Rules[i], "contains"), severity, check,
		fmt.Sprintf("%s never decides: rule %s, %s, is asked before and takes all such texts", what, by.ID, by.Class),
		"leave it out here, or narrow the other rule with pattern or unless")
	return true
}

// earlier returns the first rule that is checked before rule i and matches every text that m matches; nil for none.
func (l *linter) earlier(i int, m *match.Condition) *retry.Rule {
	permanent := l.p.Rules[i].Class == retry.Permanent
	for k := range l.p.Rules {
		other := &l.p.Rules[k]
		before := k < i
		if (other.Class == retry.Permanent) != permanent {
			before = !permanent // all permanent rules are checked first
		}
		if before && implies(m, &other.Condition) {
			return other
		}
	}
	return nil
}

// inBothClasses finds what a transient rule and a permanent one both look for, each under its own conditions.
func (l *linter) inBothClasses(i int) {
	r := &l.p.Rules[i]
	for k := range l.p.Rules {
		other := &l.p.Rules[k]
		if r.Class == retry.Permanent || other.Class != retry.Permanent {
			continue
		}
		both := slices.DeleteFunc(slices.Clone(wanted(&r.Condition)), func(word string) bool { return !slices.Contains(wanted(&other.Condition), word) })
		if len(both) > 0 {
			l.add(l.rule(&l.e.Rules[i], "code"), SevereInformation, "two-classes",
				fmt.Sprintf("%s here, but PERMANENT in rule %s under other conditions: %s; if both hold it is PERMANENT", r.Class, other.ID, strings.Join(both, ", ")),
				"nothing, if the conditions keep the two apart")
		}
	}
}

// wanted returns what a rule looks for: its codes, or its words if it has no codes.
func wanted(m *match.Condition) []string {
	if len(m.Codes) > 0 {
		return m.Codes
	}
	return m.Contains
}
