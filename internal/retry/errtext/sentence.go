package errtext

import (
	"cmp"
	"slices"
	"strings"
)

// place is where a token stands.
type place uint8

const (
	prose place = iota
	trace       // a line of a stack trace
	name        // the name of a field with a number or a truth value: timeoutMs=30000
)

// divide numbers the clauses and sentences of the text. A clause ends at a comma, a colon, a parenthesis, a
// dash between blanks, and before a word of cause or contrast; a sentence at its sign, at the end of a line
// or of an element. It notes what stands in no sentence, and keeps the longest of nouns that are one in
// another: "rede credenciada" is no network.
func (t *Text) divide() {
	for i := range t.marks {
		if m := &t.marks[i]; m.row.Sign == "cause" {
			t.Tokens[m.first].clause = 1 // begins one
		}
	}
	clause, line := int16(0), int16(0)
	for i := range t.Tokens {
		k := &t.Tokens[i]
		isApart := k.gap == apart
		if k.gap == sentenceEnd {
			line++
		}
		if k.gap == sentenceEnd || isApart || k.clause == 1 {
			clause++
		}
		k.clause, k.sentence = clause, line
	}
	slices.SortStableFunc(t.nouns, func(a, b span) int {
		return cmp.Or(int(a.first-b.first), int(b.last-a.last))
	})
	end := int32(-1)
	t.nouns = slices.DeleteFunc(t.nouns, func(n span) bool {
		within := n.last <= end
		end = max(end, n.last)
		return within
	})
	t.traces()
	t.fieldNames()
}

// traces notes the lines of a stack trace, "at a.b.C(D.java:12)" and "em A.B() na linha 7", and what stands
// behind " at " where all of it is one line.
func (t *Text) traces() {
	i, at := 0, 0
	for line := range strings.Lines(t.Source) {
		from, end := traceIn(line), at+len(line)
		for ; i < len(t.Tokens) && int(t.Tokens[i].Start) < end; i++ {
			if from >= 0 && int(t.Tokens[i].Start) >= at+from {
				t.Tokens[i].place = trace
			}
		}
		at = end
	}
}

// traceIn returns where a trace begins in a line, -1 where none does.
func traceIn(line string) int {
	begin, _, isCall := strings.Cut(strings.TrimSpace(line), "(")
	begin, _, _ = strings.Cut(begin, " ")
	switch {
	case isCall && (begin == "at" || begin == "em" || strings.HasPrefix(begin, "#")):
		return 0
	case strings.Contains(line, ".java:"), strings.Contains(line, ".js:"), strings.Contains(line, ".cs:"):
		return strings.Index(line, " at ")
	}
	return -1
}

// fieldNames notes the names of fields with a number or a truth value.
func (t *Text) fieldNames() {
	for last := range t.Tokens {
		if !t.isSetting(last) {
			continue
		}
		t.Tokens[last].place = name
		for i := last - 1; i >= 0 && t.isJoined(i); i-- {
			t.Tokens[i].place = name
		}
	}
}

// isSetting reports whether a name stands before a number or a truth value: timeoutMs=30000,
// "retryable":false.
func (t *Text) isSetting(last int) bool {
	rest, isQuoted := strings.CutPrefix(t.behind(last), `"`)
	if !strings.HasPrefix(rest, "=") && (!isQuoted || !strings.HasPrefix(rest, ":")) {
		return false
	}
	value := strings.TrimLeft(rest, `=: "'`)
	return value != "" && kinds[value[0]] == digit || strings.HasPrefix(value, "false")
}

// isJoined reports whether the token behind one is a part of the same name.
func (t *Text) isJoined(i int) bool {
	return i+1 < len(t.Tokens) && (t.Tokens[i+1].gap == joined || t.between(i, i+1) == "_")
}
