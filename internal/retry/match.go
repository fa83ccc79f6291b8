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
	// Pattern has the mark [CodeMark], any of these stands there instead.
	Codes []string
	// Pattern is a regular expression (RE2) that matches somewhere in the text; empty for none.
	Pattern string
	// Unless is a regular expression that must not match; empty for none.
	Unless string

	pattern, unless *regexp.Regexp
	// groups are the numbers of the pattern's groups that hold a code; empty where the pattern has no mark.
	groups []int
}

// CodeMark stands in a Pattern for any of the Codes.
const CodeMark = "{code}"

// compile makes the rule ready. It returns all that is wrong with it.
func (r *Rule) compile() (faults []error) {
	fault := func(setting, problem string, args ...any) {
		faults = append(faults, &SettingError{Rule: r.ID, Setting: setting, Problem: fmt.Sprintf(problem, args...)})
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

// match looks for the matcher's conditions in a text in upper case, the cheap ones first. It returns the code or the
// word that it found.
func (m *Matcher) match(text string) (found string, matches bool) {
	if len(m.Contains) > 0 {
		i := slices.IndexFunc(m.Contains, func(word string) bool { return strings.Contains(text, word) })
		if i < 0 {
			return "", false
		}
		found = m.Contains[i]
	}
	if len(m.Codes) > 0 && len(m.groups) == 0 {
		i := slices.IndexFunc(m.Codes, func(code string) bool { return standsAlone(text, code) })
		if i < 0 {
			return "", false
		}
		found = m.Codes[i]
	}
	switch {
	case len(m.groups) > 0:
		groups := m.pattern.FindStringSubmatchIndex(text)
		if groups == nil {
			return "", false
		}
		for _, group := range m.groups {
			if from, to := groups[2*group], groups[2*group+1]; from >= 0 {
				found = m.code(text[from:to])
			}
		}
	case m.pattern != nil && !m.pattern.MatchString(text):
		return "", false
	}
	if m.unless != nil && m.unless.MatchString(text) {
		return "", false
	}
	return found, true
}

// code is the rule's own copy of a code, so that what is kept of a text keeps nothing else of it.
func (m *Matcher) code(text string) string {
	if i := slices.Index(m.Codes, text); i >= 0 {
		return m.Codes[i]
	}
	return "" // a pattern that ignores case
}

// standsAlone tells whether the code is a word of its own somewhere in the text.
func standsAlone(text, code string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], code)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(code)
		if !joinedBefore(text[:start]) && !joinedBehind(text[end:]) {
			return true
		}
		from = start + 1
	}
}

// joinedBefore tells whether a number goes on to the left: with a letter or a digit, or with what joins numbers (1.503,
// CLM-503, 2025/503).
func joinedBefore(text string) bool {
	last, size := utf8.DecodeLastRuneInString(text)
	if inWord(last) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:len(text)-size])
	return joins(last, before)
}

// joinedBehind is joinedBefore to the right.
func joinedBehind(text string) bool {
	first, size := utf8.DecodeRuneInString(text)
	if inWord(first) {
		return true
	}
	next, _ := utf8.DecodeRuneInString(text[size:])
	return joins(first, next)
}

func inWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' }

// joins tells whether a sign between a number and its neighbour makes one of them.
func joins(sign, neighbour rune) bool {
	switch sign {
	case '.', ',':
		return unicode.IsDigit(neighbour)
	case '-', '/':
		return unicode.IsLetter(neighbour) || unicode.IsDigit(neighbour)
	default:
		return false
	}
}
