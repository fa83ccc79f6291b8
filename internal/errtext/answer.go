package errtext

import "strings"

// answer is what an insurer's system has put under one of its names for that: a code, its term, or a message.
type answer struct {
	start, end int32
	isCode     bool // it begins with a code, and its term may follow
}

func (a *answer) has(p *Piece) bool { return p.Start >= a.start && p.End <= a.end }

const (
	maxAnswers = 32      // of a text
	maxAnswer  = 4 << 10 // bytes of one
)

// key reports what an element, a field or a variable is whose name ends with a token: codigoGlosa,
// CD_MOTIVO_GLOSA, mensagemErro and the like. first is the name's first token.
func (t *Text) key(last int) (is role, first int) {
	if t.isJoined(last) {
		return 0, 0 // codGlosaItem
	}
	does := t.roleAt(last)
	if is = does & (roleCodeKey | roleTextKey | roleMessageKey); is != 0 {
		return is, last
	}
	if !t.isJoined(last - 1) {
		return 0, 0
	}
	before := t.roleAt(last - 1)
	switch {
	case does&roleGlosa != 0 && before&(roleCode|roleMotive) != 0:
		return roleCodeKey, last - 1
	case does&roleGlosa != 0 && before&roleDescription != 0:
		return roleTextKey, last - 1
	case does&roleError != 0 && before&(roleMessage|roleCode) != 0,
		does&roleBusiness != 0 && before&roleFailure != 0,
		does&roleFaultCode != 0 && before&roleTISS != 0:
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
	from, to := t.Tokens[first].Start, t.Tokens[last].End
	name, rest := t.Source[from:to], t.Source[to:min(len(t.Source), int(to)+maxAnswer)]
	before := withoutPrefix(t.Source[:from])
	opens, behind := strings.HasSuffix(before, "<"), strings.TrimLeft(rest, " ")
	switch {
	case strings.HasSuffix(before, "/"), strings.HasPrefix(behind, "/"): // </mensagemErro>, <mensagemErro/>
		return
	case behind != "" && kinds[behind[0]] != other && !opens: // in a sentence: codGlosa 1013 was not checked
		return
	}
	end := strings.Index(rest, name)
	if end < 0 { // no closing tag: a field, a variable, or what was cut off
		if end = strings.IndexByte(rest, '\n'); end < 0 || opens {
			end = len(rest)
		}
	}
	a := answer{from, to + int32(end), is == roleCodeKey}
	if n := len(t.answers); is == roleTextKey && n > 0 {
		const near = 80 // characters
		code := &t.answers[n-1]
		if distance := a.start - code.end; code.isCode && distance >= 0 && distance < near {
			code.end = a.end // its term
			return
		}
	}
	t.answers = append(t.answers, a)
}

// withoutPrefix returns the text before a name without the prefix of its namespace.
func withoutPrefix(before string) string {
	if !strings.HasSuffix(before, ":") {
		return before
	}
	return strings.TrimRightFunc(before[:len(before)-1], func(r rune) bool {
		return r < 0x80 && kinds[r] != other || r == '-' || r == '_'
	})
}

// inAnswers notes for each piece the smallest answer that it stands in.
func (t *Text) inAnswers() {
	for i := range t.Pieces {
		p := &t.Pieces[i]
		for j := range t.answers {
			a := &t.answers[j]
			if a.has(p) && (p.answer == nil || a.end-a.start < p.answer.end-p.answer.start) {
				p.answer = a
			}
		}
	}
}
