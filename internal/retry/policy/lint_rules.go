package policy

import (
	_ "embed" // the known texts
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/retry/errtext"
	"hospital.example/analyze-retry/internal/text"
)

var (
	// pattern is a word with marks of a pattern, a list or a quotation, or a blank at an end.
	pattern = regexp.MustCompile(`[“”„‟‘’«»|\n\t]|[,;] |&\w+;|^/.*/\w*$|\.[*+?]|\\[a-zA-Z.]` +
		`|\[[^\]]*-[^\]]*\]|\(\?|^[\s'"^*%]|[\s'"$*%]$`)
	// sign is what is neither a letter nor a digit.
	sign = regexp.MustCompile(`[^\pL\pN]`)
)

// alone finds a rule that never matches by itself, and words of it that read otherwise than they are meant.
func (l *linter) alone(r *retry.Rule) {
	l.rule = r.ID
	l.find(r.Matcher.ExcludesItself(), "excludes-itself")
	words := r.Contains
	if r.Unless != nil {
		words = slices.Concat(words, r.Unless.Contains)
	}
	for _, word := range words {
		l.find(pattern.MatchString(word), "word-with-signs", quoted(word))
		documented := word == "503" || word == "504" // by RN-BIL-005
		isShort := utf8.RuneCountInString(sign.ReplaceAllString(word, "")) < 4
		l.find(isShort && !documented, "word-too-short", quoted(word))
	}
}

// beside finds a rule that decides nothing, or not what one of its words is for, because an earlier rule
// takes all such texts, and one that bears the name of an inherited one.
func (l *linter) beside(i int) {
	r, inherited := &l.p.Rules[i], l.p.Rules[len(l.e.Rules):]
	same := func(other retry.Rule) bool { return other.ID == r.ID }
	l.find(slices.ContainsFunc(inherited, same), "same-id")
	for j := range i {
		earlier := &l.p.Rules[j]
		if l.find(r.Matcher.Implies(earlier.Matcher), "rule-behind-another", earlier.ID, earlier.Class) {
			return
		}
		for _, word := range r.Contains {
			alone := errtext.Compile(errtext.Condition{Contains: []string{word}}, nil)
			l.find(earlier.Class != r.Class && alone.Implies(earlier.Matcher), "word-behind-another",
				word, earlier.ID, earlier.Class)
		}
	}
}

//go:embed known.txt
var knownTexts string

// known are error texts of insurers, hospital systems, programs and proxies: some for each rule of tiss, and
// some that it does not know. All data in them is invented.
var known = strings.Split(strings.TrimSpace(knownTexts), "\n")

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
		c := change{now.ID, before.Class, now.Class}
		word := i >= len(known) // of which a new one is what the rule is for
		if c.from == c.to || word && c.from == retry.Unknown || slices.Contains(changed[c], said) {
			continue
		}
		changed[c] = append(changed[c], said)
		if !slices.Contains(rules[c], before.ID) {
			rules[c] = append(rules[c], before.ID)
		}
	}
	for c, of := range changed {
		if c.from == retry.Unknown && len(of) <= len(known)/10 {
			continue
		}
		if l.rule = c.rule; c.rule == retry.RuleUnknown {
			l.rule = "" // the policy's own unknown decides
		}
		by := text.Messagef("%d rules (%s)", len(rules[c]), text.Shorten(strings.Join(rules[c], ", "), 100))
		l.find(true, "changes-class", len(of), len(texts), c.from, by, c.to, text.Shorten(of[0], 60))
	}
}
