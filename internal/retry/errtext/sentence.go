package errtext

import "strings"

// divide numbers the clauses and sentences of the text. A clause ends at a comma, a colon, a parenthesis, a
// dash between blanks, and before a word of cause or contrast; a sentence at its sign, at the end of a line
// or of an element.
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
}

// inTrace reports whether a byte stands in a stack trace: in a line "at a.b.C(D.java:12)" or "em A.B() na
// linha 7", or behind " at " where all of it is one line.
func (t *Text) inTrace(at int32) bool {
	if at < t.line.start || at >= t.line.end { // not in the line that was asked for last
		start := strings.LastIndexByte(t.Source[:at], '\n') + 1
		line, _, _ := strings.Cut(t.Source[start:], "\n")
		t.line = stretch{int32(start), int32(start + len(line))}
		t.trace = t.line.end
		if begin := traceIn(line); begin >= 0 {
			t.trace = int32(start + begin)
		}
	}
	return at >= t.trace
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

// inFieldName reports whether a token belongs to the name of a field with a number or a truth value:
// timeoutMs=30000.
func (t *Text) inFieldName(i int) bool {
	for t.isJoined(i) {
		i++
	}
	return t.isSetting(i)
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
