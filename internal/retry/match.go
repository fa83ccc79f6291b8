package retry

import (
	"fmt"
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
	// Pattern has the mark [CodeMark], any of these stands there instead, apart from other digits.
	Codes []string
	// Pattern is a regular expression (RE2) that matches somewhere in the text; empty for none.
	Pattern string
	// Unless is a regular expression that must not match; empty for none.
	Unless string

	// pattern and unless are nil where they are empty; placed takes the place of a pattern with the mark.
	pattern, unless *expression
	placed          *placed
	// words and codes are Contains and Codes, made ready for a search.
	words, codes []word
}

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
	r.words, r.codes, r.placed = makeWords(r.Contains), makeWords(r.Codes), nil
	if strings.Contains(r.Pattern, CodeMark) && len(r.Codes) == 0 {
		fault("pattern", "has %s, but there is no code", CodeMark)
	}
	pattern := r.Pattern
	if strings.Contains(pattern, CodeMark) {
		pattern = "" // see placements
	}
	var err error
	if r.pattern, err = express(pattern); err != nil {
		fault("pattern", "is no regular expression: %v", err)
	}
	if r.unless, err = express(r.Unless); err != nil {
		fault("unless", "is no regular expression: %v", err)
	}
	return faults
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
	case m.placed != nil:
		if found = m.codeOf(t.find(m.placed)); found == "" {
			return "", false
		}
	case len(m.codes) > 0:
		i := t.searchAlone(m.codes)
		if i < 0 {
			return "", false
		}
		found = m.Codes[i]
	}
	if m.pattern != nil && !m.pattern.matches(t) || m.unless != nil && m.unless.matches(t) {
		return "", false
	}
	return found, true
}

// standsAlone reports whether the code is a word of its own somewhere in the text.
func standsAlone(text, code string) bool {
	return occurs(text, code, func(before, behind string) bool { return !joinedBefore(before) && !joinedBehind(behind) })
}

// occurs reports whether the code stands somewhere in the text so that what is around it is right.
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

// joinedBefore reports whether a number goes on to the left: with a letter or a digit, with what joins it to them (1.503,
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

// joinedBehind reports whether a number goes on to the right: with a letter or a digit, or with what joins it to a digit
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
