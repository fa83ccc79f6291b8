package errtext

import "strings"

// answer is what an insurer's system has put under one of its names for that: a code, its term, or a message.
type answer struct {
	start, end int32
}

func (a *answer) has(p *Piece) bool { return p.Start >= a.start && p.End <= a.end }

const maxAnswers = 32 // of a text

// key reports what an element, a field or a variable is whose name ends with a token: codigoGlosa,
// CD_MOTIVO_GLOSA, mensagemErro and the like. first is the name's first token.
func (t *Text) key(last int) (is role, first int) {
	does := t.roleAt(last)
	if is = does & (roleCodeKey | roleTextKey | roleMessageKey); is != 0 || !t.isJoined(last-1) {
		return is, last
	}
	switch does |= t.roleAt(last - 1); {
	case does.says(roleGlosa|roleCode, roleGlosa|roleMotive):
		return roleCodeKey, last - 1
	case does.says(roleGlosa | roleDescription):
		return roleTextKey, last - 1
	case does.says(roleError|roleMessage, roleBusiness|roleFailure, roleTISS|roleFaultCode):
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
	name, rest := t.Source[from:to], t.Source[to:]
	before, behind := t.Source[:from], strings.TrimLeft(rest, " ")
	tag := before[max(0, strings.LastIndexAny(before, `<>"= `+"\n")):]
	opens := strings.HasPrefix(tag, "<")
	switch {
	case strings.HasPrefix(tag, "</"): // </mensagemErro>
		return
	case behind != "" && kinds[behind[0]] != other && !opens: // in a sentence: codGlosa 1013 was not checked
		return
	}
	end := strings.Index(rest, name)
	if end < 0 { // no closing tag: a field, a variable, or what was cut off
		if end = strings.IndexByte(rest, '\n'); end < 0 {
			end = len(rest)
		}
	}
	a := answer{from, to + int32(end)}
	if n := len(t.answers); is == roleTextKey && n > 0 {
		t.answers[n-1].end = a.end // the term of its code
		return
	}
	t.answers = append(t.answers, a)
}

// inAnswers notes for each piece the innermost answer that it stands in.
func (t *Text) inAnswers() {
	for i := range t.Pieces {
		for j := range t.answers {
			if p := &t.Pieces[i]; t.answers[j].has(p) {
				p.answer = &t.answers[j]
			}
		}
	}
}
