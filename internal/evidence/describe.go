package evidence

import (
	"slices"
	"strings"
)

// Words returns what the text has of some kinds, of all where none is given, each piece once and in the words
// of its table: "glosa 1011, IDENTIFICAÇÃO DO BENEFICIÁRIO NÃO CONSISTENTE", "HTTP 503, Service Unavailable".
// None of it is a piece of the text.
func (t *Text) Words(kinds ...Kind) (words []string) {
	seen := map[string]bool{}
	for i := range t.Pieces {
		w := t.pieceWords(&t.Pieces[i])
		if (kinds == nil || slices.Contains(kinds, t.Pieces[i].Kind)) && !seen[w] && !t.isPart(i) {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

// isPart reports whether a term or an exception is a part of another one with the same sign, or stands there
// again.
func (t *Text) isPart(i int) bool {
	p := &t.Pieces[i]
	for j := range t.Pieces {
		q := &t.Pieces[j]
		if (q.Kind == Term || q.Kind == Exception) && q.Kind == p.Kind && q.Start <= p.Start && q.End >= p.End && t.Row(q).Sign == t.Row(p).Sign &&
			(j < i || q.End-q.Start > p.End-p.Start) {
			return true
		}
	}
	return false
}

var kindNames = [...]string{Glosa: "glosa ", HTTP: "HTTP ", SMTP: "SMTP ", Enhanced: "SMTP ", SOAPFault: "SOAP fault ", Exception: "exception ", Term: ""}

func (t *Text) pieceWords(p *Piece) string {
	found := t.describe(p)
	var w strings.Builder
	if p.Kind == Term {
		w.WriteString(`"` + found.Code + `"`)
	} else {
		w.WriteString(kindNames[p.Kind] + found.Code)
	}
	if found.Means != "" {
		w.WriteString(", " + found.Means)
	}
	if p.Kind == Term {
		w.WriteString(" (" + t.Row(p).Sign + ")")
	}
	switch {
	case p.Answer && p.Away:
		w.WriteString(", in an answer that says that a system is away")
	case p.Answer:
		w.WriteString(", in the insurer's answer")
	}
	return w.String()
}

// describe returns what a piece is, in the words of its table.
func (t *Text) describe(p *Piece) Found {
	row := t.Row(p)
	switch {
	case row.Code != "":
		return Found{Code: row.Code, Means: row.Term}
	case p.Kind == Exception:
		return Found{Code: strings.Join(nameParts(row.Term), ".")}
	default:
		return Found{Code: row.Term}
	}
}
