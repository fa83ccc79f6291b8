package errtext

import (
	"slices"
	"strings"
	"sync"
)

// Text is an error text with what stands in it, made by [Read]. It is not safe for concurrent use.
type Text struct {
	// Source is the normalised text; see [Normalise].
	Source string
	// Pieces is the evidence, in the order of the text.
	Pieces []Piece
	// Tokens are the words and numbers of the text.
	Tokens []Token
	// IsCut: it was longer than [MaxBytes], and only its beginning is there.
	IsCut bool

	known   *knowledge
	ids     []int32 // of the tokens
	nouns   []span
	marks   []span // and reasons of statuses
	answers []stretch
	line    stretch // the one that was last asked whether it has a stack trace, which begins at trace
	trace   int32
	// upper is Source in upper case, once it was asked for.
	upper string
}

// span is a phrase in a text, from its first token to its last.
type span struct {
	first, last int32
	row         *Row
}

// Piece is a piece of evidence.
type Piece struct {
	span
	// Start and End are its place in the text, in bytes.
	Start, End int32
	// Counts: it weighs enough to decide.
	Counts bool
	// sign is that of its row, or own where it is said of the hospital's own access.
	sign sign
	// answer is the insurer's structured answer that it stands in, nil for none.
	answer *stretch
	// unsure: a status behind a word that says little. ownTerm: a code of Tabela 38 beside words of its term.
	unsure, ownTerm bool
	// weight is what it counts, why is why it counts no more; subject is what it is said of.
	weight  weight
	why     string
	subject *span
}

var texts = sync.Pool{New: func() any { return &Text{known: known()} }}

// Read reads a text, finds the evidence in it and weighs it. The Text is the caller's until it calls
// [Text.Free].
func Read(text string) *Text {
	t := Words(text)
	if len(t.Pieces) > 0 || len(t.marks) > 0 && len(t.nouns) > 0 {
		t.dropParts()
		t.inAnswers()
		t.divide()
		t.weigh()
	}
	return t
}

// Words reads a text and finds the evidence in it, but does not weigh it: its words and numbers, and which
// are known.
func Words(text string) *Text {
	t := texts.Get().(*Text)
	t.Source, t.IsCut = Normalise(text), len(text) > MaxBytes
	t.cut()
	for i := range t.Tokens {
		for _, id := range t.idsOf(i) {
			t.walk(id, i, i)
		}
	}
	for i := range t.Tokens {
		switch k := &t.Tokens[i]; {
		case k.IsNumber:
			t.number(i)
		case k.roles&roleFaultWord != 0:
			t.fault(i)
		}
	}
	return t
}

// Free gives the text's memory back. Neither it nor its Pieces may be used afterwards.
func (t *Text) Free() {
	*t = Text{
		known:   t.known,
		Pieces:  t.Pieces[:0],
		Tokens:  t.Tokens[:0],
		ids:     t.ids[:0],
		nouns:   t.nouns[:0],
		marks:   t.marks[:0],
		answers: t.answers[:0],
	}
	texts.Put(t)
}

// What a text says stands in its first pieces; a page of signs must not take long.
const most = 256 // pieces, nouns, marks, answers

// found adds what a phrase stands for.
func (t *Text) found(r *Row, first, last int) {
	s := span{int32(first), int32(last), r}
	switch {
	case r.Kind == noun && len(t.nouns) < most:
		t.noun(s)
	case r.Kind == key && len(t.answers) < most:
		t.structure(r, first, last)
	case (r.Kind == mark || r.Kind == HTTP) && len(t.marks) < most:
		t.marks = append(t.marks, s)
	case r.Kind < noun && r.Kind != HTTP:
		t.add(r, first, last)
	}
}

// noun adds a noun, of which the text's first tokens come first. One that is a part of another goes: "rede
// credenciada" is no network.
func (t *Text) noun(n span) {
	last := len(t.nouns) - 1
	switch {
	case last < 0 || n.last > t.nouns[last].last && n.first > t.nouns[last].first:
		t.nouns = append(t.nouns, n)
	case n.last > t.nouns[last].last:
		t.nouns[last] = n
	}
}

// add adds a piece where it stands in the text, and returns it. Beyond the limit the last one makes room.
func (t *Text) add(r *Row, first, last int) *Piece {
	p := Piece{
		span:  span{int32(first), int32(last), r},
		Start: t.Tokens[first].Start,
		End:   t.Tokens[last].End,
		sign:  r.sign,
	}
	// Between the words of a term may stand a name. The vocabulary has what is to be kept of it.
	if isTerm := r.Kind == Term || r.Kind == Glosa && last > first; !isTerm {
		for i := first; i <= last; i++ {
			t.Tokens[i].IsKept = true
		}
	}
	t.Pieces = t.Pieces[:min(len(t.Pieces), most-1)]
	at := len(t.Pieces)
	for at > 0 && t.Pieces[at-1].Start > p.Start {
		at--
	}
	t.Pieces = slices.Insert(t.Pieces, at, p)
	return &t.Pieces[at]
}

// dropParts removes pieces that are a part of another one: of the whole term of a glosa, or of a phrase that
// says something else ("index out of range"), or asks for other data ("corrija e tente novamente"). Marks in
// it go with it: an undefined index is nothing of the hospital's that is missing.
func (t *Text) dropParts() {
	var wholes []span
	for i := range t.Pieces {
		if p := &t.Pieces[i]; p.sign == whole || p.row.Kind == Glosa && p.last > p.first {
			wholes = append(wholes, p.span)
		}
	}
	if wholes == nil {
		return
	}
	t.Pieces = slices.DeleteFunc(t.Pieces, func(p Piece) bool {
		isPhrase := (p.row.Kind == Term || p.row.Kind == Exception) && p.sign != whole
		return isPhrase && slices.ContainsFunc(wholes, func(s span) bool {
			return s.first <= p.first && p.last <= s.last
		})
	})
	t.marks = slices.DeleteFunc(t.marks, func(m span) bool {
		return slices.ContainsFunc(wholes, func(s span) bool {
			isPart := s.first <= m.first && m.last <= s.last && s.last-s.first > m.last-m.first
			return isPart && m.row.Kind == mark && s.row.Kind == Term
		})
	})
}

// Row returns the piece's row.
func (p *Piece) Row() *Row { return p.row }

// Upper returns the text in upper case.
func (t *Text) Upper() string {
	if t.upper == "" {
		t.upper = strings.ToUpper(t.Source)
	}
	return t.upper
}
