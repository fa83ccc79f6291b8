package policy

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry/match"
)

// maxAlternatives bounds how many alternatives a matcher is split into. One that has more is not split.
const maxAlternatives = 10_000

// split returns the alternatives of a matcher, each with one word and one code: it matches if one of them does.
func split(m *match.Condition) (alternatives []match.Condition) {
	words, codes := each(m.Contains), each(m.Codes)
	if strings.Contains(m.Pattern, match.CodeMark) {
		codes = [][]string{m.Codes} // the pattern decides which code it finds
	}
	if len(words)*len(codes) > maxAlternatives {
		return []match.Condition{*m}
	}
	for _, word := range words {
		for _, code := range codes {
			alternatives = append(alternatives, match.Condition{Contains: word, Codes: code, Pattern: m.Pattern, Unless: m.Unless})
		}
	}
	return alternatives
}

// each returns each text by itself; no text at all stays one choice.
func each(texts []string) [][]string {
	if len(texts) == 0 {
		return [][]string{nil}
	}
	return slices.Collect(slices.Chunk(texts, 1))
}

// implies reports whether other matches every text that m matches. It may miss that.
func implies(m, other *match.Condition) bool {
	marked, otherMarked := strings.Contains(m.Pattern, match.CodeMark), strings.Contains(other.Pattern, match.CodeMark)
	return (len(other.Contains) == 0 || within(m.Contains, other.Contains) || within(m.Codes, other.Contains)) &&
		(len(other.Codes) == 0 || marked == otherMarked && all(m.Codes, func(code string) bool { return slices.Contains(other.Codes, code) })) &&
		(other.Pattern == "" || other.Pattern == m.Pattern) &&
		(other.Unless == "" || other.Unless == m.Unless)
}

// within reports whether each of the texts contains one of the words.
func within(texts, words []string) bool {
	return all(texts, func(text string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	})
}

// all reports whether there are texts and the condition holds for each.
func all(texts []string, holds func(string) bool) bool {
	return len(texts) > 0 && !slices.ContainsFunc(texts, func(text string) bool { return !holds(text) })
}

// excludesItself reports whether unless matches every text that the rule's words or codes are in.
func excludesItself(m *match.Condition) bool {
	parsed, err := syntax.Parse(m.Unless, syntax.Perl)
	if err != nil || m.Unless == "" {
		return false
	}
	unless, err := regexp.Compile("(?i)" + m.Unless) // case does not matter
	if err != nil {
		return false
	}
	// A word may stand inside another one; a code stands alone, unless the pattern says where.
	alone := !strings.Contains(m.Pattern, match.CodeMark)
	return all(m.Contains, func(word string) bool { return unless.MatchString(word) && independent(parsed, false) }) ||
		all(m.Codes, func(code string) bool { return unless.MatchString(code) && independent(parsed, alone && isWord(code)) })
}

// independent reports whether the expression matches whatever surrounds its match. With words it may ask for the edge of one.
func independent(re *syntax.Regexp, words bool) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpNoWordBoundary:
		return false
	case syntax.OpWordBoundary:
		return words
	default:
		return !slices.ContainsFunc(re.Sub, func(part *syntax.Regexp) bool { return !independent(part, words) })
	}
}

// isWord reports whether a code begins and ends with a word character of RE2.
func isWord(code string) bool {
	inWord := func(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' }
	return inWord(code[0]) && inWord(code[len(code)-1])
}
