package match

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// CodeMark stands in a Pattern for any of the Codes.
const CodeMark = "{code}"

// placed is a pattern with the mark [CodeMark]. Rules with the same pattern share one, with the codes of all of them: the
// pattern is compiled once, and a text is read once for all of these rules.
type placed struct {
	expression *regexp.Regexp
	// around is the pattern with anything in the place of the code, for its literals.
	around *Expression
	// groups are the numbers of the groups that hold a code.
	groups []int
	// numbers are the codes that are made of digits, others are those that are not.
	numbers map[string]bool
	others  []word
}

// Place compiles the patterns with the mark [CodeMark], each once for all the matchers that have it. It returns the faults by
// the index of their matcher.
func Place(matchers []*Matcher) map[int]Fault {
	faults := map[int]Fault{}
	samePattern := map[string][]int{}
	for i, m := range matchers {
		if strings.Contains(m.Pattern, CodeMark) && len(m.Codes) > 0 {
			samePattern[m.Pattern] = append(samePattern[m.Pattern], i)
		}
	}
	for pattern, same := range samePattern {
		var codes []string
		for _, i := range same {
			codes = append(codes, matchers[i].Codes...)
		}
		p, err := place(pattern, codes)
		for _, i := range same {
			matchers[i].placed = p
			if err != nil {
				faults[i] = Fault{"pattern", fmt.Sprintf("is no regular expression: %v", err)}
			}
		}
	}
	return faults
}

func place(pattern string, codes []string) (*placed, error) {
	around, err := compile(strings.ReplaceAll(pattern, CodeMark, "(?:.)"))
	if err != nil {
		return nil, err // an error without hundreds of codes
	}
	p := &placed{around: around, numbers: map[string]bool{}}
	codes = slices.Clone(codes)
	// The longest first: where 502 stands, 50 does not.
	slices.SortFunc(codes, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	codes = slices.Compact(codes)
	quoted := make([]string, len(codes))
	var others []string
	for i, code := range codes {
		quoted[i] = regexp.QuoteMeta(code)
		if strings.Trim(code, "0123456789") == "" {
			p.numbers[code] = true
		} else {
			others = append(others, code)
		}
	}
	p.others = makeWords(others)
	const group = "anyOfTheCodes"
	flags := ignoreCase(pattern)
	for n := 1; strings.Contains(pattern, CodeMark); n++ { // names of groups must differ
		pattern = strings.Replace(pattern, CodeMark, fmt.Sprintf("(?P<%s%d>%s)", group, n, strings.Join(quoted, "|")), 1)
	}
	if p.expression, err = regexp.Compile(flags + pattern); err != nil {
		return nil, err
	}
	for i, name := range p.expression.SubexpNames() {
		if strings.HasPrefix(name, group) {
			p.groups = append(p.groups, i)
		}
	}
	return p, nil
}

// maxPasses bounds how often a text is read for one pattern.
const maxPasses = 4

// find returns what the pattern matches in a text: for each match its codes, in their order; a match that is there more
// than once stands in it once.
//
// A match can hide another one that begins inside of it, and that may be the permanent one. So the codes that were found are
// overwritten and the text is read again, as long as it has a code that could be in another match.
func (p *placed) find(t *Text) (found [][]string) {
	upper := t.Upper
	var seen map[string]bool
	for range maxPasses {
		if !p.hasCode(upper) || !p.around.May(t) {
			break
		}
		matches := p.expression.FindAllStringSubmatchIndex(upper, -1)
		if matches == nil {
			break
		}
		if seen == nil {
			seen = map[string]bool{}
		}
		rest := []byte(upper)
		for _, groups := range matches {
			codes := p.codesIn(upper, groups, rest)
			if key := strings.Join(codes, "\x00"); len(codes) > 0 && !seen[key] {
				seen[key] = true
				found = append(found, codes)
			}
		}
		upper = string(rest)
	}
	return found
}

// codesIn returns the codes of a match that stand apart from other digits. It overwrites what the groups hold with 0 in rest.
func (p *placed) codesIn(upper string, groups []int, rest []byte) (codes []string) {
	for _, group := range p.groups {
		from, to := groups[2*group], groups[2*group+1]
		if from < 0 {
			continue
		}
		if apart(upper[:from], upper[to:]) {
			codes = append(codes, upper[from:to])
		}
		for i := from; i < to; i++ {
			rest[i] = '0'
		}
	}
	return codes
}

// hasCode reports whether any of the codes stands in the text apart from other digits. It costs a hundredth of the pattern.
func (p *placed) hasCode(upper string) bool {
	if len(p.numbers) > 0 {
		for i := 0; i < len(upper); i++ {
			from := i
			for i < len(upper) && digit(upper[i]) {
				i++
			}
			if i > from && p.numbers[upper[from:i]] {
				return true
			}
		}
	}
	return slices.ContainsFunc(p.others, func(w word) bool { return occurs(upper, w.text, apart) })
}

// codeOf returns the first code of the first match whose codes are all the matcher's own; empty for none. It returns the
// matcher's copy, so that the text itself can be freed.
func (m *Matcher) codeOf(found [][]string) string {
	for _, codes := range found {
		if !slices.ContainsFunc(codes, func(code string) bool { return !slices.Contains(m.Codes, code) }) {
			return m.Codes[slices.Index(m.Codes, codes[0])]
		}
	}
	return ""
}

// apart reports whether there is no digit at either side.
func apart(before, behind string) bool {
	return (before == "" || !digit(before[len(before)-1])) && (behind == "" || !digit(behind[0]))
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
