package policy

import (
	"fmt"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/match"
)

// rule notes a finding about a rule.
func (l *linter) rule(o oddity, r *Rule, setting, problem, advice string) {
	_, line := follow(r.node, []string{setting})
	l.findings = append(l.findings, Finding{
		Severity: o.severity, Check: o.check, Policy: l.e.Name, Rule: r.ID, File: r.file, Line: line, Problem: problem, Advice: advice,
	})
}

// rules looks at the rules that the policy states itself.
func (l *linter) rules() {
	if len(l.p.Rules) == 0 && !l.allPermanent() {
		l.noRules()
	}
	for i := range l.p.Rules {
		if l.own(&l.e.Rules[i]) {
			l.alone(&l.e.Rules[i], &l.p.Rules[i].Condition)
			l.amongOthers(i)
		}
	}
	for i := range l.p.InDoubt {
		if l.own(&l.e.InDoubt[i]) {
			l.alone(&l.e.InDoubt[i], &l.p.InDoubt[i].Condition)
		}
	}
}

func (l *linter) own(r *Rule) bool { return r.policy == l.e.Name && r.file == l.e.file }

func (l *linter) noRules() {
	severity, class := SevereInformation, string(l.p.Unknown)
	if l.e.Unknown == "" {
		severity = SevereWarning
	}
	l.setting(oddity{severity, "no-rules"}, "rules", "there are no rules: every error text is "+class,
		"add rules, or state unknown if one class for all is meant")
}

// alone finds what is odd about a rule whatever the others are.
func (l *linter) alone(r *Rule, m *match.Condition) {
	if m.ReadsEveryText() {
		l.rule(oddity{SevereInformation, "expensive"}, r, "pattern", "the pattern is tried on every text, which costs far more than looking for a word",
			"add contains, or to all ways through the pattern a word of three letters or more")
	}
	if excludesItself(m) {
		l.rule(oddity{SevereWarning, "never-matches"}, r, "unless", "unless matches everything that the rule looks for: the rule never matches", "make unless narrower, or leave it out")
	}
}

// amongOthers finds the words of a rule that never decide, because a rule that is asked before takes every text that has
// them, and the words that have another class elsewhere.
func (l *linter) amongOthers(i int) {
	r := &l.p.Rules[i]
	var taken []taking
	alternatives := split(&r.Condition)
	for k := range alternatives {
		if by := l.takenBy(i, &alternatives[k].Condition); by >= 0 {
			taken = append(taken, taking{alternatives[k].word, by})
		}
	}
	if len(taken) > 0 {
		l.taken(i, taken, len(taken) == len(alternatives))
		return
	}
	if r.Class != retry.Permanent {
		l.inBothClasses(i)
	}
}

// taking is a word of a rule, and the rule that takes all texts with it.
type taking struct {
	word string
	by   int
}

func (l *linter) taken(i int, taken []taking, whole bool) {
	r, by := &l.p.Rules[i], &l.p.Rules[taken[0].by]
	severity, check := SevereWarning, "never-matches"
	if by.Class != r.Class {
		check = "two-classes"
	} else if !whole {
		severity = SevereInformation
	}
	which := "the rule never decides"
	if !whole {
		which = quoted(taken) + " never decides"
	}
	l.rule(oddity{severity, check}, &l.e.Rules[i], "contains",
		fmt.Sprintf("%s: rule %s, %s, is asked before and takes all such texts", which, by.ID, by.Class),
		"leave it out here, or narrow the other rule with pattern or unless")
}

func quoted(taken []taking) string {
	words := make([]string, len(taken))
	for i, t := range taken {
		words[i] = t.word
	}
	return strings.Join(words, ", ")
}

// takenBy is the first rule that is asked before rule i and matches every text that m matches; -1 for none. m is the
// matcher of the rule, or an alternative of it.
func (l *linter) takenBy(i int, m *match.Condition) int {
	for k := range l.p.Rules {
		if l.askedBefore(k, i) && implies(m, &l.p.Rules[k].Condition) {
			return k
		}
	}
	return -1
}

func (l *linter) askedBefore(k, i int) bool {
	first, second := l.p.Rules[k].Class == retry.Permanent, l.p.Rules[i].Class == retry.Permanent
	if first != second {
		return first
	}
	return k < i
}

// inBothClasses finds what a rule and a permanent one both look for, each under its own conditions.
func (l *linter) inBothClasses(i int) {
	for k := range l.p.Rules {
		other := &l.p.Rules[k]
		if other.Class != retry.Permanent {
			continue
		}
		var both []string
		for _, word := range wanted(&l.p.Rules[i].Condition) {
			if slices.Contains(wanted(&other.Condition), word) {
				both = append(both, word)
			}
		}
		if len(both) > 0 {
			l.rule(oddity{SevereInformation, "two-classes"}, &l.e.Rules[i], "code",
				fmt.Sprintf("%s here, but PERMANENT in rule %s under other conditions: %s; where both hold it is PERMANENT",
					l.p.Rules[i].Class, other.ID, strings.Join(both, ", ")),
				"nothing, where the conditions tell the two apart")
		}
	}
}

// wanted is what a rule looks for: its codes, and its words where it has no codes to narrow down.
func wanted(m *match.Condition) []string {
	if len(m.Codes) > 0 {
		return m.Codes
	}
	return m.Contains
}

// alternative is a matcher with one of its words and one of its codes.
type alternative struct {
	match.Condition
	word string
}

// maxAlternatives bounds into how many alternatives a matcher is split; one that has more is looked at as a whole.
const maxAlternatives = 10_000

// split makes alternatives of a matcher: it matches where one of them does, and nowhere else.
func split(m *match.Condition) []alternative {
	marked := strings.Contains(m.Pattern, match.CodeMark)
	words, codes := m.Contains, m.Codes
	if len(words) == 0 {
		words = []string{""}
	}
	if len(codes) == 0 {
		codes = []string{""}
	}
	if len(words)*len(codes) > maxAlternatives {
		return []alternative{{Condition: *m}}
	}
	var all []alternative
	for _, word := range words {
		for _, code := range codes {
			a := alternative{Condition: match.Condition{Pattern: m.Pattern, Unless: m.Unless}}
			if word != "" {
				a.Contains, a.word = []string{word}, word
			}
			if code != "" {
				a.Codes = []string{code}
				a.word = strings.TrimSpace(a.word + " " + code)
			}
			if marked { // which code the pattern finds is for the pattern to say: they stay together
				a.Codes, a.word = m.Codes, strings.TrimSpace(word+" "+strings.Join(m.Codes, " "))
				all = append(all, a)
				break
			}
			all = append(all, a)
		}
	}
	return all
}

// implies reports whether every text that m matches is matched by other too. It may say no where the answer is yes.
func implies(m, other *match.Condition) bool {
	marked, otherMarked := strings.Contains(m.Pattern, match.CodeMark), strings.Contains(other.Pattern, match.CodeMark)
	subset := len(m.Codes) > 0 && !slices.ContainsFunc(m.Codes, func(code string) bool { return !slices.Contains(other.Codes, code) })
	return (len(other.Contains) == 0 || within(m.Contains, other.Contains) || within(m.Codes, other.Contains)) &&
		(len(other.Codes) == 0 || subset && marked == otherMarked) &&
		(other.Pattern == "" || other.Pattern == m.Pattern) &&
		(other.Unless == "" || other.Unless == m.Unless)
}

// within reports whether each of the texts has one of the words in it.
func within(texts, words []string) bool {
	return len(texts) > 0 && !slices.ContainsFunc(texts, func(text string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	})
}
