package policy

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/retry"
)

// check checks the rules that the policy states itself. In its policy they stand before the inherited ones.
func (l *linter) check() {
	if len(l.p.Rules) == 0 && !l.allPermanent() {
		severity := SevereInformation
		if _, stated := l.e.states("unknown"); !stated {
			severity = SevereWarning
		}
		l.add(l.setting("rules"), severity, "no-rules", "there are no rules: every error text is "+string(l.p.Unknown),
			"add rules, or state unknown if one class for all is meant")
	}
	for i := range l.e.Rules {
		r := &l.e.Rules[i]
		l.alone(r)
		l.shadowed(r)
		l.rules = append(l.rules, compiled(r.Condition))
	}
	for i := range l.e.InDoubt {
		l.alone(&l.e.InDoubt[i])
	}
}

func compiled(c evidence.Condition) *evidence.Matcher {
	m, _ := evidence.Compile(c) // it was compiled before
	return m
}

// alone finds mistakes in a rule that do not depend on other rules.
func (l *linter) alone(r *retry.Rule) {
	if compiled(r.Condition).ExcludesItself() {
		l.add(l.rule(r, "unless"), SevereWarning, "never-matches", "unless matches everything that the rule looks for: the rule never matches",
			"make unless narrower, or leave it out")
	}
}

// shadowed finds a rule that never decides, or items of it that never do, because earlier rules match every text with them.
func (l *linter) shadowed(r *retry.Rule) {
	if by := l.earlier(r.Condition); by != nil {
		l.neverDecides(r, "id", nil, []*retry.Rule{by})
		return
	}
	c := r.Condition
	if c.Terms != nil {
		c.Terms = new(*c.Terms)
	}
	for setting, list := range lists(&c) {
		whole := *list
		var never []string
		var by []*retry.Rule
		for _, item := range whole {
			*list = []string{item}
			if earlier := l.earlier(c); earlier != nil {
				never = append(never, item)
				if !slices.Contains(by, earlier) {
					by = append(by, earlier)
				}
			}
		}
		*list = whole
		switch {
		case never == nil:
		case len(never) == len(whole):
			l.neverDecides(r, "id", nil, by)
			return
		default:
			l.neverDecides(r, setting, never, by)
		}
	}
}

// lists returns the lists of a condition, of which one item must hold, by the field that has them.
func lists(c *evidence.Condition) iter.Seq2[string, *[]string] {
	return func(yield func(string, *[]string) bool) {
		_ = yield("contains", &c.Contains) && yield("http", &c.HTTP) && yield("smtp", &c.SMTP) && yield("soapFault", &c.SOAPFault) &&
			yield("exception", &c.Exception) && (c.Terms == nil || yield("terms", &c.Terms.Sign))
	}
}

// earlier returns the first of the rules before the one that is looked at that matches every text which c holds of; nil for none.
func (l *linter) earlier(c evidence.Condition) *retry.Rule {
	m := compiled(c)
	if i := slices.IndexFunc(l.rules, m.Implies); i >= 0 {
		return &l.e.Rules[i]
	}
	return nil
}

// neverDecides adds that items of a rule never decide, or the whole rule where there are none, because other rules decide first.
func (l *linter) neverDecides(rule *retry.Rule, setting string, items []string, by []*retry.Rule) {
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
		if r.Class != rule.Class {
			severity, check = SevereWarning, "two-classes"
		}
		before = append(before, fmt.Sprintf("%s (%s)", r.ID, r.Class))
	}
	taken := "rule " + before[0] + " is asked before and takes"
	if len(before) > 1 {
		taken = "rules " + enumerate(before, few) + " are asked before and take"
	}
	l.add(l.rule(rule, setting), severity, check, what+": "+taken+" all such texts",
		"leave it out here, move it before the other rule, or narrow that one with unless")
}

// enumerate lists the first few items, and counts the others.
func enumerate(items []string, few int) string {
	if len(items) <= few {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(items[:few], ", "), len(items)-few)
}
