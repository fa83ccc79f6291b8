package evidence

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// knowledge is the tables, and what finds their words.
type knowledge struct {
	tables []*Table
	words  *lexicon
	// steps are the phrases as a tree of their words; those that begin with a word of a set are at the step of the set.
	steps  []step
	starts []([]int32)
	// goesOn are the words that may follow where evidence begins with a word of the set, 0 where none does.
	goesOn []wordBits
	// roles are what the words of a set do around a number.
	roles []role
	// glosaWords are the words of the term of each row of Tabela 38.
	glosas, http, smtp codes
	glosaWords         [][]wordID
}

// step is a place in the tree of phrases: the words before it have been found.
type step struct {
	// ends are the rows whose phrase ends here.
	ends []rowOf
	// next are the steps behind one more word, which stands next; further those where a few other words may stand between.
	next, further stepList
	// number is the step behind a number, 0 for none.
	number int32
}

// stepList is steps, sorted by word. has has a bit for each word, modulo its bits: most words are none of the list.
type stepList struct {
	steps []nextStep
	has   wordBits
}

type wordBits uint64

const anyWord = ^wordBits(0) // or none

func (w wordID) bit() wordBits { return 1 << (w % 64) }

type nextStep struct {
	word wordID
	to   int32
}

// rowOf is a row of a table, by their indexes.
type rowOf struct {
	table uint8
	row   int16
}

// element is a word of a phrase; with gap, a few other words may stand before it. any stands for a number.
type element struct {
	word wordID
	gap  bool
	any  bool
}

// maxBetween is how many words may stand where a phrase has a gap.
const maxBetween = 4

// build makes the words and phrases of the tables and of the vocabulary. The indexes of tables are those of the list.
func (k *knowledge) build(vocabulary, names iter.Seq[string]) {
	const words = 20_000 // to begin with
	b := newLexiconBuilder(words)
	first := map[wordID]int32{}
	k.steps = make([]step, 1, k.phrases()*2)
	k.glosas, k.http, k.smtp = newCodes(9999), newCodes(999), newCodes(999)
	for number, t := range k.tables {
		for row := range t.Rows {
			r, at := &t.Rows[row], rowOf{uint8(number), int16(row)}
			switch t.Name {
			case TableGlosas:
				*k.glosas.at(r.Code) = int16(row)
				k.glosaWords = append(k.glosaWords, termWords(b, r.Term))
				if words := elements(b, r.Term); len(words) > 2 { // shorter ones say too little without the code
					k.add(first, words, at)
				}
			case TableSMTP:
				*k.smtp.at(r.Code) = int16(row)
			case TableHTTP:
				if first := k.http.at(r.Code); *first < 0 {
					*first = int16(row)
				}
				k.add(first, compile(b, r.Term), at)
			case TableExceptions:
				for _, words := range compileName(b, r.Term) {
					k.add(first, words, at)
				}
			default:
				k.add(first, compile(b, r.Term), at)
			}
		}
	}
	roles := map[wordID]role{}
	for word, does := range roleWords {
		roles[b.add(b.folded(word), false)] |= does
	}
	for word := range vocabulary {
		b.know(b.folded(word), inVocabulary)
	}
	for word := range names {
		b.know(b.folded(word), isName)
	}
	for i := range k.steps {
		for _, list := range []*stepList{&k.steps[i].next, &k.steps[i].further} {
			slices.SortFunc(list.steps, func(a, b nextStep) int { return cmp.Compare(a.word, b.word) })
			for _, n := range list.steps {
				list.has |= n.word.bit()
			}
		}
	}
	k.words = b.build()
	k.starts, k.roles = make([][]int32, len(k.words.members)), make([]role, len(k.words.members))
	for set, members := range k.words.members {
		for _, word := range members {
			if start := first[word]; start != 0 {
				k.starts[set] = append(k.starts[set], start)
			}
			k.roles[set] |= roles[word]
		}
	}
	k.goesOn = make([]wordBits, len(k.words.members))
	for set := range k.goesOn {
		if k.roles[set]&(roleFaultWord|roleAnswer|roleFaultCode) != 0 {
			k.goesOn[set] = anyWord
		}
		for _, start := range k.starts[set] {
			s := &k.steps[start]
			if k.goesOn[set] |= s.next.has; len(s.ends) > 0 || s.further.has != 0 || s.number != 0 {
				k.goesOn[set] = anyWord
			}
		}
	}
}

// codes are the rows of a table by code; that of no code is -1.
type codes []int16

func newCodes(highest int) codes {
	rows := make(codes, highest+2)
	for i := range rows {
		rows[i] = -1
	}
	return rows
}

// at returns the place of a code's row, that of no code for other digits than those of ASCII.
func (c codes) at(code string) *int16 {
	n := 0
	for i := range len(code) {
		if code[i] < '0' || code[i] > '9' {
			return &c[len(c)-1]
		}
		n = 10*n + int(code[i]-'0')
	}
	return &c[n]
}

// phrases returns how many phrases the tables have.
func (k *knowledge) phrases() (n int) {
	for _, t := range k.tables {
		n += len(t.Rows)
	}
	return n
}

// add adds a phrase to the tree. first are the steps behind a first word.
func (k *knowledge) add(first map[wordID]int32, words []element, row rowOf) {
	at := first[words[0].word]
	if at == 0 {
		at = k.newStep()
		first[words[0].word] = at
	}
	for _, e := range words[1:] {
		at = k.follow(at, e)
	}
	if s := &k.steps[at]; !slices.Contains(s.ends, row) {
		s.ends = append(s.ends, row)
	}
}

// follow returns the step behind an element, which it makes if there is none.
func (k *knowledge) follow(at int32, e element) int32 {
	if e.any {
		if k.steps[at].number == 0 {
			to := k.newStep()
			k.steps[at].number = to
		}
		return k.steps[at].number
	}
	list := &k.steps[at].next
	if e.gap {
		list = &k.steps[at].further
	}
	for _, n := range list.steps {
		if n.word == e.word {
			return n.to
		}
	}
	to := int32(len(k.steps))
	list.steps = append(list.steps, nextStep{e.word, to})
	return k.newStep()
}

func (k *knowledge) newStep() int32 {
	k.steps = append(k.steps, step{})
	return int32(len(k.steps) - 1)
}

// compile returns the words that a term stands for. In a term * ends the beginning of a word, .. is a gap, and # any number.
func compile(b *lexiconBuilder, term string) (words []element) {
	gap := false
	for field := range strings.FieldsSeq(term) {
		if field == ".." {
			gap = true
			continue
		}
		parts := elements(b, field)
		parts[0].gap = gap
		words, gap = append(words, parts...), false
	}
	return words
}

// elements returns the tokens of a word of a term: more than one for proxy-connect.
func elements(b *lexiconBuilder, text string) (all []element) {
	if text == "#" {
		return []element{{any: true}}
	}
	stem := strings.HasSuffix(text, "*")
	s := scanner{text: strings.TrimSuffix(text, "*"), words: emptyLexicon}
	type part struct {
		text string
		gap  gap
	}
	var parts []part
	for t := (Token{}); s.next(&t); t = (Token{}) {
		parts = append(parts, part{s.text[t.start:t.end], t.gap})
	}
	for i, part := range parts {
		all = append(all, element{word: b.add(b.folded(part.text), stem && i == len(parts)-1), gap: i > 0 && part.gap >= apart})
	}
	return all
}

var emptyLexicon = newLexiconBuilder(0).build()

// compileName returns the phrases of a qualified name: its last part, with the one before it where that says little. A name is
// taken apart as a text is; it is also one word, for texts in one case.
func compileName(b *lexiconBuilder, name string) [][]element {
	simple := nameParts(name)
	var apart []element
	for _, part := range simple {
		apart = append(apart, elements(b, part)...)
	}
	phrases := [][]element{apart}
	if len(simple) == 1 && len(apart) > 1 {
		phrases = append(phrases, []element{{word: b.add(b.folded(simple[0]), false)}})
	}
	return phrases
}

// nameParts returns the parts of a qualified name that a text must have.
func nameParts(name string) []string {
	parts := strings.Split(name, ".")
	if last := parts[len(parts)-1]; len(parts) == 1 || strings.HasSuffix(last, "Exception") || strings.HasSuffix(last, "Error") {
		return parts[len(parts)-1:]
	}
	return parts[len(parts)-2:]
}

// termWords returns the words of a term that say something, as stems.
func termWords(b *lexiconBuilder, term string) (words []wordID) {
	const short, stem = 4, 6
	s := scanner{text: term, words: emptyLexicon}
	for t := (Token{}); s.next(&t); t = (Token{}) {
		if classes := b.folded(term[t.start:t.end]); len(classes) >= short {
			if id := b.add(classes[:min(len(classes), stem)], true); !slices.Contains(words, id) {
				words = append(words, id)
			}
		}
	}
	return words
}

// walk adds what stands for the phrases that go on behind a token. first is where they begin.
func (t *Text) walk(at int32, first, token int) {
	s := &t.known.steps[at]
	for _, row := range s.ends {
		t.found(row, first, token)
	}
	next := token + 1
	if next == len(t.tokens) {
		return
	}
	k := &t.tokens[next]
	if k.gap <= near {
		t.walkWords(&s.next, first, next)
	}
	if s.number != 0 && k.kind == number && strings.TrimSpace(t.between(token, next)) == "" {
		t.walk(s.number, first, next)
	}
	if s.further.has == 0 {
		return
	}
	for ; next < len(t.tokens) && next <= token+1+maxBetween && t.tokens[next].gap <= apart; next++ {
		if t.walkWords(&s.further, first, next) {
			return
		}
	}
}

// walkWords goes on with each word that a token is, and reports whether it is one.
func (t *Text) walkWords(list *stepList, first, token int) (is bool) {
	set := t.tokens[token].set
	if list.has&t.known.words.bits[set] == 0 {
		return false
	}
	for _, word := range t.known.words.members[set] {
		if to := list.behind(word); to != 0 {
			t.walk(to, first, token)
			is = true
		}
	}
	return is
}

// behind returns the step behind a word, 0 for none.
func (l *stepList) behind(word wordID) int32 {
	if i, is := slices.BinarySearchFunc(l.steps, word, func(n nextStep, w wordID) int { return cmp.Compare(n.word, w) }); is {
		return l.steps[i].to
	}
	return 0
}
