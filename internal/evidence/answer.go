package evidence

import (
	"slices"
	"strings"
)

// answer is what an insurer's system has put under one of its names for that: a code, its term, or a message.
type answer struct {
	start, end int32
	code       bool // it begins with a code, and its term may follow
	away       bool // it says that a system is away
}

func (a *answer) has(p *Piece) bool { return p.Start >= a.start && p.End <= a.end }

const (
	maxAnswers = 32      // of a text
	maxAnswer  = 4 << 10 // bytes of one
)

// key reports what an element, a field or a variable is whose name ends with a token: codigoGlosa, CD_MOTIVO_GLOSA,
// mensagemErro and the like. first is the name's first token.
func (t *Text) key(last int) (is role, first int) {
	does := t.role(last)
	if next := last + 1; next < len(t.tokens) && (t.tokens[next].gap == joined || t.between(last, next) == "_") {
		return 0, 0 // codGlosaItem
	}
	if is = does & (roleCodeKey | roleTextKey | roleMessageKey); is != 0 {
		return is, last
	}
	if last == 0 || t.tokens[last].gap != joined && t.between(last-1, last) != "_" {
		return 0, 0
	}
	before := t.role(last - 1)
	switch {
	case does&roleGlosa != 0 && before&(roleCode|roleMotive) != 0:
		return roleCodeKey, last - 1
	case does&roleGlosa != 0 && before&roleDescription != 0:
		return roleTextKey, last - 1
	case does&roleError != 0 && before&(roleMessage|roleCode) != 0, does&roleBusiness != 0 && before&roleFailure != 0, does&roleFaultCode != 0 && before&roleTISS != 0:
		return roleMessageKey, last - 1
	}
	return 0, 0
}

// structure notes the answer whose name ends with a token.
func (t *Text) structure(last int) {
	is, first := t.key(last)
	if is == 0 || len(t.answers) == maxAnswers {
		return
	}
	from, to := t.tokens[first].start, t.tokens[last].end
	name, rest := t.Source[from:to], t.Source[to:min(len(t.Source), int(to)+maxAnswer)]
	if behind := strings.TrimLeft(rest, " "); t.closes(int(from)) || strings.HasPrefix(behind, "/") || // </mensagemErro> and <mensagemErro/>
		behind != "" && ascii[behind[0]] != 0 && !t.opens(int(from)) { // in a sentence: codGlosa 1013 was not checked
		return
	}
	end := strings.Index(rest, name)
	if end < 0 { // no closing tag: a field, a variable, or what was cut off
		if end = strings.IndexByte(rest, '\n'); end < 0 || t.opens(int(from)) {
			end = len(rest)
		}
	}
	a := answer{start: from, end: to + int32(end), code: is == roleCodeKey}
	if n := len(t.answers); is == roleTextKey && n > 0 && t.answers[n-1].end <= a.start && a.start-t.answers[n-1].end < 80 && t.answers[n-1].code {
		t.answers[n-1].end = a.end // the term of the code before it
		return
	}
	t.answers = append(t.answers, a)
}

// opens and closes report whether a name is that of an opening or of a closing tag.
func (t *Text) opens(at int) bool {
	before := t.withoutPrefix(at)
	return strings.HasSuffix(before, "<") || strings.HasSuffix(before, "&lt;")
}

func (t *Text) closes(at int) bool { return strings.HasSuffix(t.withoutPrefix(at), "/") }

// withoutPrefix returns the text before a name, without the prefix of its namespace.
func (t *Text) withoutPrefix(at int) string {
	before := t.Source[:at]
	if strings.HasSuffix(before, ":") {
		before = strings.TrimRightFunc(before[:len(before)-1], func(r rune) bool {
			return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
		})
	}
	return before
}

// settle finds the pieces that stand in an answer, and those of which the same answer says that a system is away.
func (t *Text) settle() {
	t.dropInside()
	for i := range t.answers {
		a := &t.answers[i]
		for j := range t.Pieces {
			if t.Row(&t.Pieces[j]).Class == transient && a.has(&t.Pieces[j]) {
				a.away = true
				break
			}
		}
	}
	if len(t.answers) == 0 {
		return
	}
	for i := range t.Pieces {
		p := &t.Pieces[i]
		var smallest *answer
		for j := range t.answers {
			if a := &t.answers[j]; a.has(p) && (smallest == nil || a.end-a.start < smallest.end-smallest.start) {
				smallest = a
			}
		}
		if smallest != nil {
			p.Answer, p.Away = true, smallest.away
		}
	}
}

// dropInside removes pieces that are a part of another one: of the whole term of a glosa, of a message about a program's own
// mistake, "index out of range", and signs of a passing condition in a sentence that asks for other data, "corrija e tente
// novamente".
func (t *Text) dropInside() {
	isWhole := func(p *Piece) bool {
		if p.Kind == Term || p.Kind == Exception {
			sign := t.Row(p).Sign
			return sign == "correct" || sign == "program"
		}
		return p.Kind == Glosa && p.End-p.Start > 4
	}
	if !slices.ContainsFunc(t.Pieces, func(p Piece) bool { return isWhole(&p) }) {
		return
	}
	// Terms, exceptions and terms of glosas are in the order of the text. Of those that begin before a piece, the one that ends last
	// has the piece in it if any has.
	var end, correctEnd int32
	next := 0
	t.Pieces = slices.DeleteFunc(slices.Clone(t.Pieces), func(p Piece) bool {
		if p.Kind != Term && p.Kind != Exception || isWhole(&p) {
			return false
		}
		for ; next < len(t.Pieces) && t.Pieces[next].Start <= p.Start; next++ {
			switch w := &t.Pieces[next]; {
			case !isWhole(w):
			case w.Kind != Glosa && t.Row(w).Sign == "correct":
				correctEnd = max(correctEnd, w.End)
			default:
				end = max(end, w.End)
			}
		}
		return p.End <= end || p.End <= correctEnd && t.Row(&p).Class == transient
	})
}
