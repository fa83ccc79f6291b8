// Package match finds words, codes and patterns in the error text of a failed submission. It knows no policy and no claim:
// a rule's [Condition] is compiled to a [Matcher], which is tried on a [Text].
package match

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Condition is what to look for in an error text, which is read in upper case. All parts that are given must hold.
type Condition struct {
	// Contains: any of these words stands anywhere in the text, inside of longer words and numbers too.
	Contains []string
	// Codes: any of these stands by itself in the text, and not as a part of a number, an amount, a date or an id. Where
	// Pattern has the mark [CodeMark], any of these stands there instead, apart from other digits.
	Codes []string
	// Pattern is a regular expression (RE2) that matches somewhere in the text; empty for none. Case does not matter.
	Pattern string
	// Unless is a regular expression that must not match; empty for none.
	Unless string
}

// Upper returns the condition with its words and codes in upper case, as texts are read.
func (c Condition) Upper() Condition {
	upper := func(words []string) []string {
		words = slices.Clone(words)
		for i, word := range words {
			words[i] = strings.ToUpper(word)
		}
		return words
	}
	c.Contains, c.Codes = upper(c.Contains), upper(c.Codes)
	return c
}

// ReadsEveryText reports whether the pattern is tried on every text, because neither a word nor a code nor a literal of the
// pattern rules it out before.
func (c Condition) ReadsEveryText() bool {
	m, faults := New(c)
	return faults == nil && len(m.words) == 0 && len(m.codes) == 0 && m.pattern != nil && len(m.pattern.literals) == 0
}

// Matcher is a compiled [Condition]. It is made by [New].
type Matcher struct {
	Condition
	// pattern and unless are nil where they are empty; placed takes the place of a pattern with the mark.
	pattern, unless *Expression
	placed          *placed
	// words and codes are Contains and Codes, made ready for a search.
	words, codes []word
}

// Fault is one thing that is wrong with a condition.
type Fault struct {
	// Setting is contains, code, pattern or unless.
	Setting string
	// Problem completes a sentence that begins with the setting.
	Problem string
}

// New compiles a condition, or returns all that is wrong with it. A pattern with the mark [CodeMark] is compiled by [Place].
func New(c Condition) (*Matcher, []Fault) {
	m := &Matcher{Condition: c.Upper()}
	var faults []Fault
	fault := func(setting, problem string, args ...any) {
		faults = append(faults, Fault{setting, fmt.Sprintf(problem, args...)})
	}
	if len(c.Contains) == 0 && len(c.Codes) == 0 && c.Pattern == "" {
		fault("contains", "is missing, and so are code and pattern: one of them is needed")
	}
	for _, list := range []struct {
		setting string
		words   []string
	}{{"contains", c.Contains}, {"code", c.Codes}} {
		for _, word := range list.words {
			if strings.TrimSpace(word) == "" {
				fault(list.setting, "has an empty text")
			}
		}
	}
	m.words, m.codes = makeWords(m.Contains), makeWords(m.Codes)
	pattern := c.Pattern
	if strings.Contains(pattern, CodeMark) {
		if len(c.Codes) == 0 {
			fault("pattern", "has %s, but there is no code", CodeMark)
		}
		pattern = "" // see Place
	}
	var err error
	if m.pattern, err = compile(pattern); err != nil {
		fault("pattern", "is no regular expression: %v", err)
	}
	if m.unless, err = compile(c.Unless); err != nil {
		fault("unless", "is no regular expression: %v", err)
	}
	return m, faults
}

// Match reports whether the condition holds of a text; the cheap parts of it are tried first. found is the code or the word
// that was found, which is always one of the condition's own; it is empty for a pattern without codes.
func (m *Matcher) Match(t *Text) (found string, matches bool) {
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

// StandsAlone reports whether the code is a word of its own somewhere in the text.
func StandsAlone(text, code string) bool {
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
