package policy

import (
	_ "embed" // the known texts
	"regexp"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

var (
	noEffect = check{text.Warning, "no-effect"}
	// pattern is a word with marks of a pattern, a list or a quotation, or a blank at an end.
	pattern = regexp.MustCompile(`[“”„‟‘’«»|\n\t]|[,;] |&\w+;|^/.*/\w*$|\.[*+?]|\\[a-zA-Z.]` +
		`|\[[^\]]*-[^\]]*\]|\(\?|^[\s'"^*%]|[\s'"$*%]$`)
	// short is a word of less than four letters and digits.
	short = regexp.MustCompile(`^[^\pL\pN]*([\pL\pN][^\pL\pN]*){0,3}$`)
)

// alone finds a rule that never matches by itself, and words of it that read otherwise than they are meant.
func (l *linter) alone(r *retry.Rule) {
	l.find(compiled(r.Condition).ExcludesItself(), noEffect,
		"make unless narrower, or leave it out",
		"unless matches everything that the rule looks for: the rule never matches")
	l.find(len(r.HTTP) > 0 && len(r.SMTP) > 0, noEffect,
		"make it a rule for each",
		"it asks for an HTTP status and an SMTP reply in one text, and hardly any has both")
	words := r.Contains
	if r.Unless != nil {
		words = slices.Concat(words, r.Unless.Contains)
	}
	for _, word := range words {
		l.find(pattern.MatchString(word), check{text.Warning, "words"},
			"write each text out, as a word of the list, without blanks around it",
			"%s in contains is looked for as it stands, with its quotes, blanks and signs", quoted(word))
		documented := word == "503" || word == "504" // by RN-BIL-005
		l.find(short.MatchString(word) && !documented, check{text.Warning, "words"},
			"write more of the text, or ask for a code: http: [404]",
			"%s in contains has less than four letters: it stands inside many other words and numbers",
			quoted(word))
	}
}

// beside finds a rule that decides nothing, or not what one of its words is for, because an earlier rule
// takes all such texts, or an inherited one does the same.
func (l *linter) beside(i int) {
	const advice = "move it before the other rule, narrow that one with unless, or leave it out here"
	r, m := &l.p.Rules[i], l.compiled[i]
	for j := range l.p.Rules {
		other, earlier, inherited := &l.p.Rules[j], j < i, j >= len(l.e.Rules)
		l.find(inherited && other.ID == r.ID, check{text.Warning, "same-id"},
			"give it an id of its own",
			"an inherited rule has this id too: records and metrics do not tell the two apart")
		all, alike := m.Implies(l.compiled[j]), other.Class == r.Class && other.Team == r.Team
		if l.find(earlier && all, noEffect, advice,
			"the rule never decides: %s (%s) before it takes all such texts", other.ID, other.Class) ||
			l.find(inherited && all && alike, check{text.Information, "no-effect"},
				"leave it out, unless it is to come first",
				"the inherited rule %s takes all its texts too", other.ID) {
			return
		}
		for _, word := range r.Contains {
			alone := compiled(errtext.Condition{Contains: []string{word}})
			taken := earlier && other.Class != r.Class && alone.Implies(l.compiled[j])
			l.find(taken, noEffect, advice,
				"%s is not for this rule: %s (%s) before it takes all such texts",
				word, other.ID, other.Class)
		}
	}
}

// compiled returns a condition that was found right before.
func compiled(c errtext.Condition) *errtext.Matcher {
	return errtext.Compile(c, func(_, _ string) {})
}

//go:embed known.txt
var knownTexts string

// known are error texts of insurers, hospital systems, programs and proxies: some for each rule of tiss, and
// some that it does not know. All data in them is invented.
var known = strings.Split(strings.TrimSpace(knownTexts), "\n")

// doubts finds a rule of inDoubt that holds of many known texts.
func (l *linter) doubts(r *retry.Rule) {
	m, found := compiled(r.Condition), 0
	for _, one := range known {
		t := errtext.Read(one)
		if _, holds := m.Match(t); holds {
			found++
		}
		t.Free()
	}
	l.find(found > len(known)/8, check{text.Warning, "changes-class"},
		"write more of the text",
		"it holds of %d of %d known texts: each of them would have to be asked about", found, len(known))
}

// change is another class that texts get, by the rule that gives it.
type change struct {
	rule     string
	from, to retry.Class
}

// changes finds known texts, and words of rules, that get another class than by the policy that is extended.
// A few that were unknown before are what rules of one's own are for.
func (l *linter) changes() {
	texts := slices.Clone(known)
	for _, r := range l.p.Rules {
		texts = append(texts, r.Contains...)
	}
	changed, rules := map[change][]string{}, map[change][]string{} // texts, and the rules that decided before
	for i, said := range texts {
		before, now := l.e.parent.policy.Classify(said), l.p.Classify(said)
		c := change{now.RuleID, before.Class, now.Class}
		word := i >= len(known) // of which a new one is what the rule is for
		if c.from == c.to || word && c.from == retry.Unknown || slices.Contains(changed[c], said) {
			continue
		}
		changed[c] = append(changed[c], said)
		if !slices.Contains(rules[c], before.RuleID) {
			rules[c] = append(rules[c], before.RuleID)
		}
	}
	for c, of := range changed {
		severity := text.Warning
		if c.from == retry.Unknown && len(of) <= len(known)/10 {
			severity = text.Information
		}
		if l.rule = c.rule; c.rule == retry.RuleUnknown {
			l.rule = "" // the policy's own unknown decides
		}
		by := text.Count(len(rules[c]), "rule") + " (" + text.Shorten(strings.Join(rules[c], ", "), 100) + ")"
		l.find(true, check{severity, "changes-class"},
			"if that is not meant, write more of the text in contains, or narrow the rule with unless",
			"%d of %d known texts change class, from %s by %s to %s, such as: %s",
			len(of), len(texts), c.from, by, c.to, text.Shorten(of[0], 60))
	}
}
