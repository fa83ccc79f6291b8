package policy

import (
	_ "embed" // the known texts
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
	var all []*evidence.Matcher
	for i := range l.p.Rules {
		all = append(all, compiled(l.p.Rules[i].Condition))
	}
	for i := range l.e.Rules {
		l.alone(&l.e.Rules[i], all[i])
		l.beside(i, all)
	}
	for i := range l.e.InDoubt {
		m := compiled(l.e.InDoubt[i].Condition)
		l.alone(&l.e.InDoubt[i], m)
		l.doubts(l.e.InDoubt[i].ID, m)
	}
}

func compiled(c evidence.Condition) *evidence.Matcher {
	m, _ := evidence.Compile(c) // it was compiled before
	return m
}

// alone finds mistakes in a rule that do not depend on other rules.
func (l *linter) alone(r *retry.Rule, m *evidence.Matcher) {
	l.find(m.ExcludesItself(), r.ID, finding(text.Warning, "no-effect", "make unless narrower, or leave it out",
		"unless matches everything that the rule looks for: the rule never matches"))
	var asked []string
	for field, value := range reflect.ValueOf(r.Condition).Fields() {
		if field.Name != "Unless" && !value.IsZero() {
			asked = append(asked, field.Tag.Get("yaml"))
		}
	}
	l.find(len(asked) > 1, r.ID, finding(text.Information, "all-at-once", "make it a rule for each, if one is enough",
		"it takes only a text that has all of %s", list(asked)))
	words := r.Contains
	if r.Unless != nil {
		words = slices.Concat(words, r.Unless.Contains)
	}
	for _, word := range words {
		documented := word == "503" || word == "504" // by RN-BIL-005
		for _, slip := range slips {
			l.find(slip.mark.MatchString(word) && !documented, r.ID,
				finding(text.Warning, "words", slip.advice, "%s in contains %s", quoted(word), slip.what))
		}
	}
}

// slips are the marks of a word that is most likely not meant: each is looked for as it stands, also inside of longer ones.
var slips = []struct {
	mark         *regexp.Regexp
	what, advice string
}{
	{
		regexp.MustCompile(`[“”„‟‘’«»]|^['"]|['"]$`),
		"has quotes that are part of the text", `use plain quotes, "...", around the whole text, or none`,
	},
	{
		regexp.MustCompile(`\.[*+?]|\\[a-zA-Z.]|^\^|\$$|^[*%]|[*%]$|\||\[[^\]]*-[^\]]*\]|\(\?`),
		"looks like a pattern, but its signs are looked for as they stand", "write each text out, as a word of the list",
	},
	{
		regexp.MustCompile(`[,;] |\n`),
		"is one text, with all that is in it", "quote each word of the list, not all of them together",
	},
	{
		regexp.MustCompile(`^\s|\s$`),
		"begins or ends with a blank, which must be in the text too", "leave the blank out, unless it is meant",
	},
	{
		regexp.MustCompile(`^[^\pL\pN]*([\pL\pN][^\pL\pN]*){0,3}$`),
		"has less than four letters: it stands inside many other words and numbers",
		"write more of the text, or ask for a code: http: [404]",
	},
}

// beside finds a rule that decides nothing, or not what one of its words is for, because an earlier rule takes all such
// texts, or an inherited one does the same. all are the rules of the policy.
func (l *linter) beside(i int, all []*evidence.Matcher) {
	const check, advice = "no-effect", "move it before the other rule, narrow that one with unless, or leave it out here"
	r := &l.p.Rules[i]
	for j := range l.p.Rules {
		other, earlier, inherited := &l.p.Rules[j], j < i, j >= len(l.e.Rules)
		l.find(inherited && other.ID == r.ID, r.ID, finding(text.Warning, "same-id", "give it an id of its own",
			"an inherited rule has this id too: records and metrics do not tell the two apart"))
		if l.find(earlier && all[i].Implies(all[j]), r.ID, finding(text.Warning, check, advice,
			"the rule never decides: %s (%s) before it takes all such texts", other.ID, other.Class)) ||
			l.find(inherited && other.Class == r.Class && all[i].Implies(all[j]), r.ID, finding(text.Information, check,
				"leave it out, unless it is to come first", "the inherited rule %s takes all its texts too", other.ID)) {
			return
		}
		for _, word := range r.Contains {
			alone := evidence.Condition{Contains: []string{word}}
			l.find(earlier && other.Class != r.Class && compiled(alone).Implies(all[j]), r.ID, finding(text.Warning, check, advice,
				"%s is not for this rule: %s (%s) before it takes all such texts", word, other.ID, other.Class))
		}
	}
}

//go:embed known.txt
var knownTexts string

// known are error texts of insurers, hospital systems, programs and proxies: some for each rule of tiss, and some that it
// does not know. All data in them is invented.
var known = strings.Split(strings.TrimSpace(knownTexts), "\n")

// doubts finds a rule of inDoubt that holds of many known texts.
func (l *linter) doubts(rule string, m *evidence.Matcher) {
	found := 0
	for _, known := range known {
		t := evidence.Read(known)
		if _, matches := m.Match(t); matches {
			found++
		}
		t.Free()
	}
	l.find(found > len(known)/5, rule, finding(text.Warning, "changes-class", "write more of the text",
		"it holds of %d of %d known texts: each of them would have to be asked about", found, len(known)))
}

// change is another class that texts get, by the rule that gives it.
type change struct {
	rule     string
	from, to retry.Class
}

// changes finds known texts, and words of rules, that get another class than by the policy that is extended.
// A few that were unknown before are what rules of one's own are for.
func (l *linter) changes() {
	if l.e.parent == nil {
		return
	}
	texts := slices.Clone(known)
	for _, r := range l.e.inherits().Rules {
		texts = append(texts, r.Contains...)
	}
	for _, r := range l.e.Rules { // that a word is of one's own is what the rule is for, unless it was known
		for _, word := range r.Contains {
			if l.e.inherits().Classify(word).Class != retry.Unknown {
				texts = append(texts, word)
			}
		}
	}
	changed, rules := map[change][]string{}, map[change][]string{} // the texts, and the rules that decided before
	for i, known := range texts {
		before, now := l.e.inherits().Classify(known), l.p.Classify(known)
		if before.Class == now.Class || slices.Contains(texts[:i], known) {
			continue
		}
		c := change{now.RuleID, before.Class, now.Class}
		changed[c] = append(changed[c], known)
		if !slices.Contains(rules[c], before.RuleID) {
			rules[c] = append(rules[c], before.RuleID)
		}
	}
	for c, of := range changed {
		rule, severity := c.rule, text.Warning
		if c.from == retry.Unknown && len(of) <= len(known)/10 {
			severity = text.Information
		}
		if l.e.rule(rule) == nil {
			rule = "" // the policy's own unknown decides
		}
		l.find(true, rule, finding(severity, "changes-class",
			"if that is not meant, write more of the text in contains, or narrow the rule with unless",
			"%d of %d known texts change class, from %s (%s) to %s, such as: %s",
			len(of), len(known), c.from, list(rules[c]), c.to, text.Shorten(of[0], 60)))
	}
}
