package policy

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"hospital.example/analyze-retry/internal/retry/match"
)

// asksForLower reports whether everything that a pattern matches has a letter that no text in upper case has.
func asksForLower(pattern string) bool {
	pattern = strings.ReplaceAll(pattern, match.CodeMark, "0") // codes are in upper case
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && needsLower(parsed)
}

func needsLower(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			if gone(c) && (re.Flags&syntax.FoldCase == 0 || onlyGone(c)) {
				return true
			}
		}
		return false
	case syntax.OpCharClass:
		return needsLowerClass(re.Rune)
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, needsLower)
	case syntax.OpAlternate:
		for _, part := range re.Sub {
			if !needsLower(part) {
				return false
			}
		}
		return len(re.Sub) > 0
	case syntax.OpCapture, syntax.OpPlus:
		return needsLower(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && needsLower(re.Sub[0])
	default:
		return false
	}
}

// needsLowerClass reports whether all of a class of characters are gone in upper case. It looks at small classes only.
func needsLowerClass(ranges []rune) bool {
	const large = 1000
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > large {
			return false
		}
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			if !gone(c) {
				return false
			}
		}
	}
	return len(ranges) > 0
}

// gone reports whether no text in upper case has the letter.
func gone(c rune) bool { return unicode.IsLower(c) && unicode.ToUpper(c) != c }

// onlyGone reports whether that holds of all letters that are the same letter but for their case.
func onlyGone(c rune) bool {
	for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
		if !gone(other) {
			return false
		}
	}
	return true
}

// excludesItself reports whether unless matches in every text that the rule's words or codes are in.
func excludesItself(m *match.Condition) bool {
	if m.Unless == "" {
		return false
	}
	parsed, err := syntax.Parse(m.Unless, syntax.Perl)
	if err != nil {
		return false
	}
	unless := regexp.MustCompile(m.Unless)
	// A word may stand inside another one; a code stands alone, unless the pattern says where.
	alone := !strings.Contains(m.Pattern, match.CodeMark)
	return all(m.Contains, func(word string) bool { return unless.MatchString(word) && independent(parsed, false) }) ||
		all(m.Codes, func(code string) bool { return unless.MatchString(code) && independent(parsed, alone && isWord(code)) })
}

func all(texts []string, holds func(string) bool) bool {
	for _, text := range texts {
		if !holds(text) {
			return false
		}
	}
	return len(texts) > 0
}

// independent reports whether a match of the expression stays one whatever stands around it; with words also where it asks
// for the edge of a word.
func independent(re *syntax.Regexp, words bool) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpNoWordBoundary:
		return false
	case syntax.OpWordBoundary:
		return words
	default:
		for _, part := range re.Sub {
			if !independent(part, words) {
				return false
			}
		}
		return true
	}
}

// isWord reports whether a code begins and ends with what RE2 counts as a part of a word.
func isWord(code string) bool {
	inWord := func(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' }
	return inWord(code[0]) && inWord(code[len(code)-1])
}
