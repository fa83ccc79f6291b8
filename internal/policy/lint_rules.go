package policy

import (
	"fmt"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
)

// rules checks the rules that the policy states itself. In its policy they stand before the inherited ones.
func (l *linter) rules() {
	if len(l.p.Rules) == 0 && !l.allPermanent() {
		severity := SevereInformation
		if _, stated := l.e.states("unknown"); !stated {
			severity = SevereWarning
		}
		l.add(l.setting("rules"), severity, "no-rules", "there are no rules: every error text is "+string(l.p.Unknown),
			"add rules, or state unknown if one class for all is meant")
	}
	for i := range l.e.Rules {
		l.demands = append(l.demands, demandOf(&l.p.Rules[i].Condition))
		l.alone(&l.e.Rules[i], l.demands[i])
		l.shadowed(i)
	}
	for i := range l.e.InDoubt {
		l.alone(&l.e.InDoubt[i], demandOf(&l.p.InDoubt[i].Condition))
	}
}

// alone finds mistakes in a rule that do not depend on other rules.
func (l *linter) alone(r *Rule, d *demand) {
	if d.excludesItself() {
		l.add(l.rule(r, "unless"), SevereWarning, "never-matches", "unless matches everything that the rule looks for: the rule never matches",
			"make unless narrower, or leave it out")
	}
}

// shadowed finds a rule that never decides, or items of it that never do, because earlier rules match every text with them.
func (l *linter) shadowed(i int) {
	if by := l.earlier(l.demands[i]); by != nil {
		l.neverDecides(i, "id", nil, []*retry.Rule{by})
		return
	}
	for _, list := range listsOf(&l.p.Rules[i].Condition) {
		var never []string
		var by []*retry.Rule
		for _, item := range list.items {
			one := *l.demands[i]
			list.only(&one, item)
			if earlier := l.earlier(&one); earlier != nil {
				never = append(never, item)
				if !slices.Contains(by, earlier) {
					by = append(by, earlier)
				}
			}
		}
		switch {
		case never == nil:
		case len(never) == len(list.items):
			l.neverDecides(i, "id", nil, by)
			return
		default:
			l.neverDecides(i, list.setting, never, by)
		}
	}
}

// earlier returns the first of the rules before the one that is looked at that matches every text which d holds of; nil for none.
func (l *linter) earlier(d *demand) *retry.Rule {
	for k, other := range l.demands[:len(l.demands)-1] {
		if d.implies(other) {
			return &l.p.Rules[k]
		}
	}
	return nil
}

// neverDecides adds that items of a rule never decide, or the whole rule where there are none, because other rules decide first.
func (l *linter) neverDecides(i int, setting string, items []string, by []*retry.Rule) {
	const few = 5
	severity, check, what := SevereWarning, "never-matches", "the rule never decides"
	if len(items) > 0 {
		severity, what = SevereInformation, enumerate(items, few)+" never decide"
	}
	if len(items) == 1 {
		what += "s"
	}
	var before []string
	for _, r := range by {
		if r.Class != l.p.Rules[i].Class {
			severity, check = SevereWarning, "two-classes"
		}
		before = append(before, fmt.Sprintf("%s (%s)", r.ID, r.Class))
	}
	taken := "rule " + before[0] + " is asked before and takes"
	if len(before) > 1 {
		taken = "rules " + enumerate(before, few) + " are asked before and take"
	}
	l.add(l.rule(&l.e.Rules[i], setting), severity, check, what+": "+taken+" all such texts",
		"leave it out here, move it before the other rule, or narrow that one with unless")
}

// enumerate lists the first few items, and counts the others.
func enumerate(items []string, few int) string {
	if len(items) <= few {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(items[:few], ", "), len(items)-few)
}
