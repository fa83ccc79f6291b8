package policy

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxPattern is the longest pattern in characters, which the schema has too.
const maxPattern = 1000

// tooManySteps notes if the patterns of the file cost too much together. None of them is compiled before.
func (r *reader) tooManySteps(entries []*Entry) bool {
	n := 0
	for _, e := range entries {
		for _, rule := range slices.Concat(e.Rules, e.InDoubt) {
			if n += steps(rule.Pattern); rule.Unless != nil {
				n += steps(rule.Unless.Pattern)
			}
			if n > maxSteps {
				_, line := follow(rule.node, []string{"pattern"})
				r.report(strings.Split(rule.path, "/"), line, fmt.Sprintf("the patterns of the file have more than %d steps up to here: x{100} has 100, and \\pL one for each range of letters", maxSteps))
				return true
			}
		}
	}
	return false
}

// steps returns about how many instructions and ranges of characters a pattern compiles to.
func steps(pattern string) int {
	if utf8.RuneCountInString(pattern) > maxPattern { // which the schema refuses
		return 0
	}
	parsed, err := syntax.Parse("(?i)"+pattern, syntax.Perl)
	if err != nil { // which is another fault, found by parsing it again
		return len(pattern)
	}
	return size(parsed)
}

func size(e *syntax.Regexp) int {
	times := 1
	if e.Op == syntax.OpRepeat {
		times = max(1, e.Min, e.Max)
	}
	n := 1 + len(e.Rune)
	for _, part := range e.Sub {
		n += times * size(part)
	}
	return n
}
