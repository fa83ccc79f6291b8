package errtext

import "strings"

// stretch is a part of a text, in bytes.
type stretch struct {
	start, end int32
}

func (s *stretch) has(p *Piece) bool { return p.Start >= s.start && p.End <= s.end }

// structure notes the answer that stands under a name of the table answers: codigoGlosa, CD_MOTIVO_GLOSA,
// mensagemErro and the like, of an element, a field or a variable.
func (t *Text) structure(r *Row, first, last int) {
	from, to := t.Tokens[first].Start, t.Tokens[last].End
	name, rest := t.Source[from:to], t.Source[to:]
	before, behind := t.Source[:from], strings.TrimLeft(rest, " ")
	tag := before[max(0, strings.LastIndexAny(before, `<>"= `+"\n")):]
	opens, closes := strings.HasPrefix(tag, "<"), strings.HasPrefix(tag, "</")
	isTold := behind != "" && kinds[behind[0]] != other // in a sentence: codGlosa 1013 was not checked
	if closes || isTold && !opens {
		return
	}
	end := strings.Index(rest, name)
	if end < 0 { // no closing tag: a field, a variable, or what was cut off
		end = len(rest)
	}
	a := stretch{from, to + int32(end)}
	if n := len(t.answers); r.Sign == "text" && n > 0 {
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
