package match

import (
	"cmp"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Expression is a regular expression that runs only on texts that it can match: every match contains one of its literals.
// Looking for these costs a hundredth.
type Expression struct {
	*regexp.Regexp
	literals []word // none where nothing is known
}

// compile compiles a regular expression; it returns nil for an empty one.
func compile(pattern string) (*Expression, error) {
	if pattern == "" {
		return nil, nil //nolint:nilnil // no condition is no fault
	}
	compiled, err := regexp.Compile(ignoreCase(pattern) + pattern)
	if err != nil {
		return nil, err
	}
	e := &Expression{Regexp: compiled}
	if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		e.literals = makeWords(fewest(literals(parsed)))
	}
	return e, nil
}

// notLetters matches the lower-case letters of a pattern that stand for something else: [CodeMark], escapes, flags and names.
var notLetters = regexp.MustCompile(`\{code\}|\\[pP]\{[^}]*\}|\\.|\(\?[^:)>]*|\[:\^?[a-z]+:\]`)

// ignoreCase returns the flag (?i) for a pattern with a lower-case letter, which would never match a text in upper case.
// Other patterns do without the flag: it makes them slower.
func ignoreCase(pattern string) string {
	if letters := notLetters.ReplaceAllString(pattern, ""); strings.ToUpper(letters) == letters {
		return ""
	}
	return "(?i)"
}

// MustCompile compiles an expression that is written in the code.
func MustCompile(pattern string) *Expression {
	e, err := compile(pattern)
	if err != nil {
		panic(err)
	}
	return e
}

// May reports whether the expression can match in the text.
func (e *Expression) May(t *Text) bool { return len(e.literals) == 0 || t.search(e.literals) >= 0 }

func (e *Expression) matches(t *Text) bool { return e.May(t) && e.MatchString(t.Upper) }

// maxLiterals bounds the literals of an expression, because they are searched one by one.
const maxLiterals = 256

// fewest returns the texts that contain no other one of them.
func fewest(texts []string) (kept []string) {
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	for _, text := range texts {
		if !slices.ContainsFunc(kept, func(shorter string) bool { return strings.Contains(text, shorter) }) {
			kept = append(kept, text)
		}
	}
	return kept
}

// literals returns literals, at least one of which is in every match; nil if none are known.
func literals(re *syntax.Regexp) []string { return literalsBehind([]string{""}, re) }

// literalsBehind returns the literals of the expression after one of some prefixes, which count as a part of the match.
func literalsBehind(before []string, re *syntax.Regexp) (all []string) {
	if re.Op == syntax.OpAlternate {
		for _, part := range re.Sub {
			one := literalsBehind(before, part)
			if one == nil {
				return nil
			}
			all = append(all, one...)
		}
		return better(all, nil)
	}
	texts, _ := prefixes(re)
	return better(join(before, texts), literalsInside(re))
}

func literalsInside(re *syntax.Regexp) (best []string) {
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literals(re.Sub[0])
		}
		return nil
	case syntax.OpConcat:
		together := []string{""} // the literal that neighbours make together
		for _, part := range re.Sub {
			best = better(best, literals(part))
			if together[0] != "" {
				best = better(best, literalsBehind(together, part))
			}
			texts, whole := prefixes(part)
			if together = join(together, texts); together == nil || !whole {
				together = []string{""}
			}
		}
		return best
	default:
		return nil
	}
}

// better returns the set whose shortest literal is longer. Sets with a literal under three bytes or with more than maxLiterals
// lose; if both do, it returns nil.
func better(a, b []string) (best []string) {
	most := 2
	for _, texts := range [][]string{a, b} {
		if len(texts) == 0 || len(texts) > maxLiterals {
			continue
		}
		if n := len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) })); n > most {
			best, most = texts, n
		}
	}
	return best
}

// prefixes returns literals, one of which starts every match, and whether they are whole matches. If there are too many, it
// returns the empty text alone.
func prefixes(re *syntax.Regexp) (texts []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{strings.ToUpper(string(re.Rune))}, true
		}
	case syntax.OpCharClass:
		if texts = characters(re.Rune); texts != nil {
			return texts, true
		}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, true
	case syntax.OpCapture:
		return prefixes(re.Sub[0])
	case syntax.OpQuest:
		texts, whole = prefixes(re.Sub[0])
		return append([]string{""}, texts...), whole
	case syntax.OpAlternate:
		whole = true
		for _, part := range re.Sub {
			more, all := prefixes(part)
			texts, whole = append(texts, more...), whole && all
		}
		return texts, whole
	case syntax.OpConcat:
		texts = []string{""}
		for _, part := range re.Sub {
			more, all := prefixes(part)
			longer := join(texts, more)
			if longer == nil {
				return texts, false
			}
			if texts = longer; !all {
				return texts, false
			}
		}
		return texts, true
	default:
	}
	return []string{""}, false
}

// characters returns those of a class, nil for more than a few.
func characters(ranges []rune) (all []string) {
	const few = 8
	for i := 0; i+1 < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			if len(all) == few {
				return nil
			}
			all = append(all, strings.ToUpper(string(c)))
		}
	}
	return all
}

// join returns each prefix followed by each suffix; nil for more than maxLiterals of them.
func join(prefixes, suffixes []string) (all []string) {
	if len(prefixes)*len(suffixes) > maxLiterals {
		return nil
	}
	for _, prefix := range prefixes {
		for _, suffix := range suffixes {
			all = append(all, prefix+suffix)
		}
	}
	return all
}
