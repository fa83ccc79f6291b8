package policy

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"hospital.example/analyze-retry/internal/retry/match"
)

// excludesItself reports whether unless matches in every text that the rule's words or codes are in.
func excludesItself(m *match.Condition) bool {
	if m.Unless == "" {
		return false
	}
	parsed, err := syntax.Parse(m.Unless, syntax.Perl)
	if err != nil {
		return false
	}
	unless := regexp.MustCompile("(?i)" + m.Unless) // case does not matter
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
