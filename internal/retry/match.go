package retry

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Matcher looks for something in an error text, which it reads in upper case. All conditions that are given must hold.
type Matcher struct {
	// Contains: any of these words stands anywhere in the text, inside of longer words and numbers too.
	Contains []string
	// Codes: any of these stands by itself in the text, and not as a part of a number, an amount, a date or an id. Where
	// Pattern has the mark [CodeMark], any of these stands there instead, and somewhere in the text apart from other digits.
	Codes []string
	// Pattern is a regular expression (RE2) that matches somewhere in the text; empty for none.
	Pattern string
	// Unless is a regular expression that must not match; empty for none.
	Unless string

	pattern, unless *regexp.Regexp
	// groups are the numbers of the pattern's groups that hold a code; empty where the pattern has no mark.
	groups []int
	// words and codes are Contains and Codes, made ready for a search.
	words, codes []word
	// shared is the pattern with the codes of all rules that have the same one; nil where no other has.
	shared *regexp.Regexp
}

// CodeMark stands in a Pattern for any of the Codes.
const CodeMark = "{code}"

// compile makes the rule ready. It returns all that is wrong with it.
func (r *Rule) compile() (faults []error) {
	fault := func(setting, problem string, args ...any) {
		faults = append(faults, &SettingError{Rule: r.ID, Setting: setting, Problem: fmt.Sprintf(problem, args...)})
	}
	if r.ID == "" {
		fault("id", "is missing: decisions and the audit trail name their rule")
	}
	if len(r.Contains) == 0 && len(r.Codes) == 0 && r.Pattern == "" {
		fault("contains", "is missing, and so are code and pattern: one of them is needed")
	}
	for _, list := range []struct {
		setting string
		words   *[]string
	}{{"contains", &r.Contains}, {"code", &r.Codes}} {
		*list.words = slices.Clone(*list.words)
		for i, word := range *list.words {
			if strings.TrimSpace(word) == "" {
				fault(list.setting, "has an empty text")
			}
			(*list.words)[i] = strings.ToUpper(word)
		}
	}
	r.words, r.codes = makeWords(r.Contains), makeWords(r.Codes)
	if strings.Contains(r.Pattern, CodeMark) && len(r.Codes) == 0 {
		fault("pattern", "has %s, but there is no code", CodeMark)
	}
	var err error
	if r.pattern, err = r.compilePattern(); err != nil {
		fault("pattern", "is no regular expression: %v", err)
	}
	if r.Unless != "" {
		if r.unless, err = regexp.Compile(r.Unless); err != nil {
			fault("unless", "is no regular expression: %v", err)
		}
	}
	return faults
}

func (m *Matcher) compilePattern() (*regexp.Regexp, error) {
	if m.Pattern == "" {
		return nil, nil
	}
	quoted := make([]string, len(m.Codes))
	for i, code := range m.Codes {
		quoted[i] = regexp.QuoteMeta(code)
	}
	const group = "anyOfTheCodes"
	text := m.Pattern
	for n := 1; strings.Contains(text, CodeMark); n++ { // names of groups must differ
		text = strings.Replace(text, CodeMark, fmt.Sprintf("(?P<%s%d>%s)", group, n, strings.Join(quoted, "|")), 1)
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	m.groups = nil
	for i, name := range pattern.SubexpNames() {
		if strings.HasPrefix(name, group) {
			m.groups = append(m.groups, i)
		}
	}
	return pattern, nil
}

// share lets rules with one pattern, whose codes alone differ, be ruled out together in a long text.
func share(rules ...*Rule) {
	samePattern := map[string][]*Rule{}
	for _, r := range rules {
		if len(r.groups) > 0 {
			samePattern[r.Pattern] = append(samePattern[r.Pattern], r)
		}
	}
	for pattern, same := range samePattern {
		if len(same) == 1 {
			continue
		}
		all := Matcher{Pattern: pattern}
		for _, r := range same {
			all.Codes = append(all.Codes, r.Codes...)
		}
		// What each rule's codes make of the pattern, all of them make; there is nothing new to go wrong.
		if shared, err := all.compilePattern(); err == nil {
			for _, r := range same {
				r.shared = shared
			}
		}
	}
}

// match looks for the matcher's conditions in a text, the cheap ones first. It returns the code or the word that it
// found, which is always one of the matcher's own.
func (m *Matcher) match(t *text) (found string, matches bool) {
	if len(m.words) > 0 {
		i := t.search(m.words)
		if i < 0 {
			return "", false
		}
		found = m.Contains[i]
	}
	switch {
	case len(m.groups) > 0:
		// A pattern costs a hundred times as much as a look whether any of its codes is there at all.
		if !t.hasNumber(m.codes) || !t.mayMatch(m.shared) {
			return "", false
		}
		groups := m.pattern.FindStringSubmatchIndex(t.upper)
		if groups == nil {
			return "", false
		}
		found = m.codeIn(t.upper, groups)
	case len(m.codes) > 0:
		i := t.searchAlone(m.codes)
		if i < 0 {
			return "", false
		}
		found = m.Codes[i]
		fallthrough
	default:
		if m.pattern != nil && !m.pattern.MatchString(t.upper) {
			return "", false
		}
	}
	if m.unless != nil && m.unless.MatchString(t.upper) {
		return "", false
	}
	return found, true
}

// codeIn is the first code that a match of the pattern holds. It is the rule's own copy, so that what is kept of a text
// keeps nothing else of it, and empty where a pattern that ignores case found something else.
func (m *Matcher) codeIn(upper string, groups []int) string {
	for _, group := range m.groups {
		if from, to := groups[2*group], groups[2*group+1]; from >= 0 {
			if i := slices.Index(m.Codes, upper[from:to]); i >= 0 {
				return m.Codes[i]
			}
		}
	}
	return ""
}

// standsAlone tells whether the code is a word of its own somewhere in the text.
func standsAlone(text, code string) bool {
	return occurs(text, code, func(before, behind string) bool { return !joinedBefore(before) && !joinedBehind(behind) })
}

// isNumber tells whether the code stands somewhere in the text without a digit at either side.
func isNumber(text, code string) bool {
	return occurs(text, code, func(before, behind string) bool {
		return (before == "" || !digit(before[len(before)-1])) && (behind == "" || !digit(behind[0]))
	})
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// occurs tells whether the code stands somewhere in the text so that what is around it is right.
func occurs(text, code string, right func(before, behind string) bool) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], code)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(code)
		if right(text[:start], text[end:]) {
			return true
		}
		from = start + 1
	}
}

// joinedBefore tells whether a number goes on to the left: with a letter or a digit, with what joins it to them (1.503,
// CLM-503, 2025/503, 10.0.0.1:503), or with the sign of a currency (R$ 503).
func joinedBefore(before string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	if inWord(last) {
		return true
	}
	neighbour, _ := utf8.DecodeLastRuneInString(before[:len(before)-size])
	if joins(last) {
		return unicode.IsDigit(neighbour) || (last == '-' || last == '/') && unicode.IsLetter(neighbour)
	}
	last, _ = utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, unicode.IsSpace))
	return unicode.Is(unicode.Sc, last)
}

// joinedBehind tells whether a number goes on to the right: with a letter or a digit, or with what joins it to a digit
// (503,00, 503/2025). A dash before a word joins nothing there: servers write "503-Service unavailable".
func joinedBehind(behind string) bool {
	first, size := utf8.DecodeRuneInString(behind)
	if inWord(first) {
		return true
	}
	neighbour, _ := utf8.DecodeRuneInString(behind[size:])
	return joins(first) && unicode.IsDigit(neighbour)
}

func inWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' }

func joins(sign rune) bool { return strings.ContainsRune(".,-/:", sign) }
