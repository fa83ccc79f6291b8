package evidence

import (
	"slices"
	"strings"
	"sync"
)

// MaxBytes is how much of an error text is read. What an insurer's system says about the error stands at the beginning; a
// stack trace behind it must not cost unbounded time.
const MaxBytes = 64 << 10

// Kind is a kind of evidence.
type Kind uint8

// The kinds of evidence.
const (
	Glosa     Kind = iota // a code of Tabela 38
	HTTP                  // a status code
	SMTP                  // a reply code
	Enhanced              // an enhanced status code of SMTP: 4.x.x or 5.x.x
	SOAPFault             // a fault code: Client, Sender, Server, Receiver, VersionMismatch, MustUnderstand
	Exception             // a class of exceptions
	Term                  // a phrase of the table terms
	kinds                 // how many there are
)

// Piece is a piece of evidence.
type Piece struct {
	// Start and End are its place in the text, in bytes.
	Start, End int32
	// row is that of its kind; see rowsOf.
	row  int16
	Kind Kind
	// Answer: it stands in an insurer's structured answer (codigoGlosa, descricaoGlosa, mensagemErro, falhaNegocio).
	Answer bool
	// Away: the same answer says that a system is away, so that the piece is no refusal.
	Away bool
}

// Text is an error text with what stands in it, made by [Read]. It is not safe for concurrent use.
type Text struct {
	// Source is the beginning of the text, at most [MaxBytes].
	Source string
	// Pieces is the evidence: terms and exceptions in the order of the text, then codes in theirs.
	Pieces []Piece

	known   *knowledge
	tokens  []Token
	answers []answer
	// upper is Source in upper case, once it was asked for, and upperBytes its bytes.
	upper      string
	upperBytes uint64
}

var texts = sync.Pool{New: func() any { return &Text{known: known()} }}

// Read reads a text and finds the evidence in it. The Text is the caller's until it calls [Text.Free].
func Read(text string) *Text {
	t := tokens(text, false)
	numbers := false
	for i := range t.tokens {
		token := &t.tokens[i]
		numbers = numbers || token.kind == number
		if goesOn := t.known.goesOn[token.set]; goesOn == anyWord || goesOn != 0 && i+1 < len(t.tokens) && goesOn&t.known.words.bits[t.tokens[i+1].set] != 0 {
			t.look(i)
		}
	}
	if numbers {
		for i := range t.tokens {
			if t.tokens[i].kind == number {
				t.number(i)
			}
		}
	}
	t.settle()
	return t
}

// Words reads a text without looking for evidence in it: no number is kept.
func Words(text string) *Text { return tokens(text, true) }

func tokens(text string, wordsOnly bool) *Text {
	t := texts.Get().(*Text)
	t.Source = text[:min(len(text), MaxBytes)]
	t.tokens = slices.Grow(t.tokens, len(t.Source)/6) // most words are longer
	s := scanner{text: t.Source, words: t.known.words, wordsOnly: wordsOnly}
	for more := true; more; {
		t.tokens = append(t.tokens, Token{})
		more = s.next(&t.tokens[len(t.tokens)-1])
	}
	t.tokens = t.tokens[:len(t.tokens)-1]
	return t
}

// Free gives the text's memory back. Neither it nor its Pieces may be used afterwards.
func (t *Text) Free() {
	t.Source, t.upper, t.Pieces, t.tokens, t.answers = "", "", t.Pieces[:0], t.tokens[:0], t.answers[:0]
	texts.Put(t)
}

// look adds the phrases that begin with a token, and what a name for an answer or a fault stands for.
func (t *Text) look(i int) {
	set := t.tokens[i].set
	for _, start := range t.known.starts[set] {
		t.walk(start, i, i)
	}
	does := t.known.roles[set]
	if does&roleFaultWord != 0 {
		t.fault(i)
	}
	if does&(roleAnswer|roleFaultCode) != 0 {
		t.structure(i)
	}
}

// found adds what a phrase stands for.
func (t *Text) found(p rowOf, first, last int) {
	kind := Term
	switch t.known.tables[p.table].Name {
	case TableGlosas:
		kind = Glosa
	case TableExceptions:
		kind = Exception
	case TableHTTP:
		return // the reason of a status says nothing without its number
	}
	t.add(Piece{Kind: kind, row: p.row, Start: t.tokens[first].start, End: t.tokens[last].end})
}

const transient = "TRANSIENT"

func (t *Text) add(p Piece) {
	t.Pieces = append(t.Pieces, p)
}

// rowsOf returns the rows of a kind: those of its table.
func (k *knowledge) rowsOf(kind Kind) []Row {
	if kind == SOAPFault {
		return faultCodes
	}
	if kind == Enhanced {
		return enhancedCodes
	}
	i := slices.IndexFunc(k.tables, func(t *Table) bool { return t.Name == tableNames[kind] })
	return k.tables[i].Rows
}

var (
	tableNames = [...]string{Glosa: TableGlosas, HTTP: TableHTTP, SMTP: TableSMTP, Exception: TableExceptions, Term: TableTerms}
	// The codes of kinds without a table: of SOAP 1.1 and 1.2, and the classes of enhanced status codes.
	faultCodes = []Row{
		{Code: "Client"}, {Code: "Sender"}, {Code: "Server"}, {Code: "Receiver"}, {Code: "VersionMismatch"}, {Code: "MustUnderstand"},
	}
	enhancedCodes = []Row{{Code: "4.x.x"}, {Code: "5.x.x"}}
)

// Row returns the piece's row.
func (t *Text) Row(p *Piece) *Row { return &t.known.rowsOf(p.Kind)[p.row] }

// In returns the piece as it stands in the text.
func (t *Text) In(p *Piece) string { return t.Source[p.Start:p.End] }

// Upper returns the text in upper case.
func (t *Text) Upper() string {
	if t.upper == "" {
		t.upper = strings.ToUpper(t.Source)
		t.upperBytes = bytesOf(t.upper)
	}
	return t.upper
}

// HasRetryAfter reports whether the text names Retry-After.
func (t *Text) HasRetryAfter() bool { return t.hasSign("retry-after") }

// HasWindow reports whether the text names the days on which submissions are taken, as insurers do beside 3091 and 3161.
func (t *Text) HasWindow() bool {
	for i := range t.tokens {
		if k := &t.tokens[i]; k.kind == number && k.end-k.start == 4 {
			if code := t.Source[k.start:k.end]; (code == "3091" || code == "3161") && t.alone(i) {
				return t.hasSign("window")
			}
		}
	}
	return false
}

func (t *Text) hasSign(sign string) bool {
	for i := range t.Pieces {
		if p := &t.Pieces[i]; p.Kind == Term && t.Row(p).Sign == sign {
			return true
		}
	}
	return false
}

// Tokens returns the words and numbers of the text. They are the Text's.
func (t *Text) Tokens() []Token { return t.tokens }

// Start is where the token begins in the text, in bytes.
func (k *Token) Start() int { return int(k.start) }

// End is where the token ends.
func (k *Token) End() int { return int(k.end) }

// IsNumber reports whether a token is made of digits.
func (k *Token) IsNumber() bool { return k.kind == number }

// IsKept reports whether a token is a word of the vocabulary, or a number that is evidence or a measure.
func (k *Token) IsKept() bool {
	if k.kind == number {
		return k.kept
	}
	return k.known&inVocabulary != 0
}

// IsName reports whether people are called that, too.
func (k *Token) IsName() bool { return k.known&isName != 0 }

// IsJoined reports whether nothing stands between a token and the one before.
func (k *Token) IsJoined() bool { return k.gap == joined }
