package errtext

import (
	"cmp"
	"slices"
)

// Evidence is a piece of evidence in the words of the tables: none of it is a piece of the text.
type Evidence struct {
	// Found is what was found: `glosa 1011, IDENTIFICAÇÃO DO BENEFICIÁRIO NÃO CONSISTENTE`, `"fora do ar"
	// (away)`.
	Found string `json:"found"`
	// SaidOf is what it is said of, in the words of the table nouns; empty where that is not known or decides
	// nothing.
	SaidOf string `json:"saidOf,omitempty"`
	// PassedOver is why it does not count; empty where it counts.
	PassedOver string `json:"passedOver,omitempty"`
}

// Evidence returns what stands in the text of the kinds that are asked for, each piece once, and what was
// passed over: where the claim is stopped, and a refusal in the text counts, also what passes by itself.
func (t *Text) Evidence(asked func(Kind) bool, stopped bool) []Evidence {
	all := []Evidence{}
	refuses := func(p Piece) bool { return p.Counts && p.row.Class == permanent }
	stopped = stopped && slices.ContainsFunc(t.Pieces, refuses)
	for i := range t.Pieces {
		p := &t.Pieces[i]
		if !asked(p.row.Kind) || t.isPart(p) {
			continue
		}
		e := Evidence{Found: p.words()}
		if p.subject != nil {
			e.SaidOf = p.subject.row.Term
		}
		switch {
		case !p.Counts:
			e.PassedOver = cmp.Or(p.why, "weighs no more than what passes by itself")
		case stopped && p.row.Class == transient:
			e.PassedOver = cmp.Or(p.why, "weighs less than what refuses")
		}
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

// isPart reports whether a phrase is a part of another one with the same sign.
func (t *Text) isPart(p *Piece) bool {
	return slices.ContainsFunc(t.Pieces, func(q Piece) bool {
		return p.row.Kind == Term && q.sign == p.sign && q.Counts == p.Counts &&
			q.first <= p.first && q.last >= p.last && q.last-q.first > p.last-p.first
	})
}

var kindNames = [noun]string{
	Glosa:     "glosa ",
	HTTP:      "HTTP ",
	SMTP:      "SMTP ",
	Enhanced:  "SMTP ",
	SOAPFault: "SOAP fault ",
	Exception: "exception ",
}

func (p *Piece) words() string {
	f := p.found()
	if p.row.Kind == Term {
		return `"` + f.Code + `" (` + p.row.Sign + ")"
	}
	words := kindNames[p.row.Kind] + f.Code
	if f.Means != "" {
		words += ", " + f.Means
	}
	if p.answer != nil {
		words += ", in the insurer's answer"
	}
	return words
}

// found returns what a piece is, in the words of its table.
func (p *Piece) found() Found {
	switch r := p.row; {
	case r == ownFault, r == awaySystem: // in words that are no phrase
		return Found{Code: p.subject.row.Term}
	case r.Code != "":
		return Found{Code: r.Code, Means: r.Term}
	default:
		return Found{Code: r.Term}
	}
}

// Meaning returns a code with its term, such as "HTTP 503, Service Unavailable"; the code alone where no
// table has it. The kind is one that has codes.
func Meaning(kind Kind, code string) string {
	r := known().codes[kind][code]
	if r == nil {
		return code
	}
	return kindNames[r.Kind] + code + ", " + r.Term
}
