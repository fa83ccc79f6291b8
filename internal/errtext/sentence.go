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
	trace       // a line of a stack trace, or a file's or a class's name in it
	name        // the name of an element, or of a field with a number or a truth value: timeoutMs=30000
)

// divide numbers the clauses and sentences of the text. A clause ends at a comma, a colon, a parenthesis, a
// dash between blanks, and before a word of cause or contrast; a sentence at its sign, at the end of a line
// or of an element. It notes what stands in no sentence, and keeps the longest of nouns that are one in
// another: "rede credenciada" is no network.
func (t *Text) divide() {
	clause, line, m := int16(0), int16(0), 0
	for i := range t.Tokens {
		for m < len(t.marks) && int(t.marks[m].first) < i {
			m++
		}
		k := &t.Tokens[i]
		switch {
		case i == 0:
		case k.gap == sentenceEnd:
			clause++
			line++
		case k.gap == apart && !t.isInParentheses(i) && !t.isInParentheses(i-1): // (3.02.00)
			clause++
		case t.causes(m, i):
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

// isInParentheses reports whether a token is a number that stands in parentheses.
func (t *Text) isInParentheses(i int) bool {
	if !t.Tokens[i].IsNumber {
		return false
	}
	return strings.HasSuffix(t.before(i), "(") || strings.HasPrefix(t.behind(i), ")")
}

// causes reports whether one of the marks from m on begins with a token and sets a cause or a contrast.
func (t *Text) causes(m, i int) bool {
	for ; m < len(t.marks) && int(t.marks[m].first) == i; m++ {
		if t.marks[m].row.Sign == "cause" {
			return true
		}
	}
	return false
}

// traces notes the lines of a stack trace: "at a.b.C(D.java:12)", `File "x.py", line 3`, "em A.B() na linha
// 7".
func (t *Text) traces() {
	if !strings.Contains(t.Source, " at ") && !strings.Contains(t.Source, "\n") {
		return
	}
	i, at := 0, 0
	for line := range strings.Lines(t.Source) {
		from := traceIn(line)
		for ; i < len(t.Tokens) && int(t.Tokens[i].Start) < at+len(line); i++ {
			if from >= 0 && int(t.Tokens[i].Start) >= at+from {
				t.Tokens[i].place = trace
			}
		}
		at += len(line)
	}
}

// traceIn returns where a trace begins in a line, -1 where none does.
func traceIn(line string) int {
	trimmed := strings.TrimSpace(line)
	hasCall := strings.Contains(trimmed, "(") && strings.Contains(trimmed, ".")
	switch {
	case strings.HasPrefix(trimmed, "at ") && strings.ContainsAny(trimmed, "(:."),
		strings.HasPrefix(trimmed, `File "`),
		strings.HasPrefix(trimmed, "em ") && hasCall,
		strings.HasPrefix(trimmed, "#") && hasCall:
		return 0
	}
	cut := strings.Index(line, " at ") // all in one line: Error ... at a.b.C(D.java:12)
	for _, file := range []string{".java:", ".js:", ".cs:"} {
		if cut >= 0 && strings.Contains(line[cut:], file) {
			return cut
		}
	}
	return -1
}

// fieldNames notes the names of programs' files, of fields with a number, and of elements.
func (t *Text) fieldNames() {
	for i := 0; i < len(t.Tokens); {
		last := i
		for t.isJoined(last) {
			last++
		}
		if k := &t.Tokens[i]; k.place == prose && !k.IsNumber {
			is := prose
			switch {
			case last+1 < len(t.Tokens) && t.between(last, last+1) == "." && t.roleAt(last+1)&roleFile != 0:
				is = trace
			case t.isSetting(i, last), i > 1 && k.gap <= apart && t.isElement(i):
				is = name
			}
			for n := i; n <= last; n++ {
				t.Tokens[n].place = is
			}
		}
		i = last + 1
	}
}

// isSetting reports whether a name stands before a number or a truth value: timeoutMs=30000,
// "retryable":false.
func (t *Text) isSetting(i, last int) bool {
	rest := t.behind(last)
	if !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, `":`) && !strings.HasPrefix(rest, `" :`) {
		return false
	}
	value := strings.TrimLeft(rest[1:], `: "'`)
	return value != "" && kinds[value[0]] == digit && t.roleAt(i)&roleNamed == 0 ||
		strings.HasPrefix(value, "false") || strings.HasPrefix(value, "null")
}

// isElement reports whether a word is the name of an element or a field: elemento ans:x, campo x.
func (t *Text) isElement(i int) bool {
	before := t.roleAt(i - 1)
	isPrefix := before&roleTISS != 0 && t.between(i-1, i) == ":" && strings.EqualFold(t.word(i-1), "ans")
	return before&roleField != 0 || isPrefix
}
