package policy

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/evidence"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// rules checks the rules that the policy states itself, which stand before the inherited ones.
func (l *linter) rules() {
	switch missing := l.notRefused(); {
	case missing != nil:
		l.add(SevereWarning, "no-extends", "rules", "extends: tiss is missing: "+enumerate(missing)+" would be retried",
			"add extends: tiss, so that the rules here come before those of tiss, or rules for these words")
	case len(l.p.Rules) == 0 && !l.states("unknown"):
		l.add(SevereWarning, "no-rules", "rules", "there are no rules: every error text is "+string(l.p.Unknown),
			"add rules, or state unknown if one class for all is meant")
	}
	if builtIn := BuiltIns().entries[l.e.Name]; builtIn != nil && builtIn != l.e && l.e.Extends == "" {
		l.add(SevereInformation, "replaces-built-in", "name", "it takes the place of the built-in policy "+l.e.Name+" and inherits nothing of it", "extend it, or choose another name")
	}
	own, inherited := compiledAll(l.e.Rules), l.inherited()
	before := compiledAll(inherited)
	for i := range l.e.Rules {
		r := &l.e.Rules[i]
		l.alone(r)
		l.earlier(r, own[:i])
		l.takes(r, own[i], inherited, before)
	}
	for i := range l.e.InDoubt {
		l.alone(&l.e.InDoubt[i])
		l.doubts(&l.e.InDoubt[i])
	}
}

// inherited returns the rules behind the policy's own.
func (l *linter) inherited() []retry.Rule { return l.p.Rules[len(l.e.Rules):] }

// notRefused returns the documents' permanent words that a policy for claims retries, because it inherits no rule that knows
// them.
func (l *linter) notRefused() (words []string) {
	if l.p.IDs != retry.ClaimIDs || l.p.MaxRetries == 0 {
		return nil
	}
	refuses := func(p *retry.Policy, word string) bool { return p.Classify(word).Class == retry.Permanent }
	for _, r := range BuiltIn("rn-bil-005").Rules {
		word := r.Contains[0]
		inherited := l.e.parent != nil && refuses(l.e.parent.policy, word)
		if r.Class == retry.Permanent && !inherited && !refuses(l.p, word) {
			words = append(words, word)
		}
	}
	return words
}

// alone finds mistakes in a rule that do not depend on other rules.
func (l *linter) alone(r *retry.Rule) {
	if compiled(r.Condition).ExcludesItself() {
		l.warn(r, "never-matches", "unless", "unless matches everything that the rule looks for: the rule never matches",
			"make unless narrower, or leave it out")
	}
	if asked := conditions(&r.Condition); len(asked) > 1 {
		l.inform(r, "all-at-once", "it takes only a text that has all of "+strings.Join(asked, ", "), "make it a rule for each, if one is enough")
	}
	l.words(r, "contains", r.Contains)
	if r.Unless != nil {
		l.words(r, "unless", r.Unless.Contains)
	}
}

// conditions returns the names of what a condition asks for, without unless.
func conditions(c *evidence.Condition) (names []string) {
	for field, value := range reflect.ValueOf(c).Elem().Fields() {
		if field.Name != "Unless" && !value.IsZero() {
			names = append(names, field.Tag.Get("yaml"))
		}
	}
	return names
}

// slips are the marks of a word list that means something else: it holds texts that are looked for as they stand.
var slips = []struct {
	check           string
	mark            *regexp.Regexp
	problem, advice string
}{
	{"quotes", regexp.MustCompile(`[“”„‟‘’«»]|^['"]|['"]$`), "has quotes that are part of the text", `use plain quotes, "...", around the whole text, or none`},
	{
		"no-pattern", regexp.MustCompile(`\.[*+?]|\\[a-zA-Z.]|^\^|\$$|^[*%]|[*%]$|\||\[[^\]]*-[^\]]*\]|\(\?`),
		"looks like a pattern, but its signs are looked for as they stand", "write each text out, as a word of the list",
	},
	{"one-text", regexp.MustCompile(`[,;] |\n`), "is one text, with all that is in it", "quote each word of the list, not all of them together"},
	{"blanks", regexp.MustCompile(`^\s|\s$`), "begins or ends with a blank, which must be in the text too", "leave the blank out, unless it is meant"},
}

// shortest is the least number of letters of a word that does not stand in many others.
const shortest = 4

var letter = regexp.MustCompile(`[\pL\pN]`)

// words finds slips in a word list, and words that stand inside many others.
func (l *linter) words(r *retry.Rule, setting string, words []string) {
	for _, word := range words {
		says := quoted(word) + " in contains "
		for _, slip := range slips {
			if slip.mark.MatchString(word) {
				l.warn(r, slip.check, setting, says+slip.problem, slip.advice)
			}
		}
		if letters := len(letter.FindAllString(word, -1)); letters < shortest && !documented(word) {
			l.warn(r, "short-word", setting, says+"has "+text.Count(letters, "letter")+": it stands inside many other words and numbers",
				"write more of the text, or ask for a code: http: [404]")
		}
	}
}

// documented reports whether a word is one of RN-BIL-005: 503 and 504.
func documented(word string) bool {
	return slices.ContainsFunc(BuiltIn("rn-bil-005").Rules, func(r retry.Rule) bool { return slices.Contains(r.Contains, word) })
}

// earlier finds a rule that never decides, or a word of it that gets another class, because an earlier rule of the policy
// matches every text with it.
func (l *linter) earlier(r *retry.Rule, own []*evidence.Matcher) {
	const advice = "move it before the other rule, narrow that one with unless, or leave it out here"
	m := compiled(r.Condition)
	for i, before := range own {
		other := &l.e.Rules[i]
		check := "never-matches"
		if other.Class != r.Class {
			check = "two-classes"
		}
		if m.Implies(before) {
			l.warn(r, check, "id", fmt.Sprintf("the rule never decides: %s (%s) before it takes all such texts", other.ID, other.Class), advice)
			return
		}
		for _, word := range r.Contains {
			if other.Class != r.Class && compiled(evidence.Condition{Contains: []string{word}}).Implies(before) {
				l.warn(r, check, "contains", fmt.Sprintf("%s is not for this rule: %s (%s) before it takes all such texts", word, other.ID, other.Class), advice)
			}
		}
	}
}

// takes finds inherited rules of which an own rule takes the name, or all texts although it has the other class.
func (l *linter) takes(r *retry.Rule, own *evidence.Matcher, inherited []retry.Rule, matchers []*evidence.Matcher) {
	var taken []string
	var class retry.Class
	for i, other := range inherited {
		if other.ID == r.ID {
			l.warn(r, "same-id", "id", "an inherited rule has this id too: records and metrics do not tell the two apart", "give it an id of its own")
		}
		switch {
		case other.Class != r.Class && matchers[i].Implies(own):
			taken, class = append(taken, other.ID), other.Class
		case other.Class == r.Class && own.Implies(matchers[i]):
			l.inform(r, "inherited-already", "the inherited rule "+other.ID+" takes all its texts too", "leave it out, unless it is to come first")
		}
	}
	if taken != nil {
		l.warn(r, "takes-inherited", "id", fmt.Sprintf("%s (%s) takes all texts of %s: %s", r.ID, r.Class,
			text.Count(len(taken), "inherited "+string(class)+" rule"), enumerate(taken)), "write more of the text, or narrow it with unless")
	}
}
