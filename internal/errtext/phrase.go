package errtext

import (
	"slices"
	"strings"
)

// knowledge is the tables, made for looking up: words by their letters, and phrases as edges from node to
// node.
type knowledge struct {
	tables  []*Table
	rows    []*Row           // by id; the first is none
	words   map[uint64]int32 // places in entries, by their letters
	entries []entry          // the first is of no word
	edges   map[edge]int32
	nodes   []node
	// stems are the lengths that stems have, a bit for each, by their first three letters.
	stems [1 << 13]uint64
	// codes are the first rows of codes, by kind.
	codes [SOAPFault + 1]map[string]*Row
	// reason is the row of a reason that names a system in words that are not known.
	reason *Row
	count  int32 // of words
}

// entry is what is known of a word: id and node are of the phrases with it, stem and stemNode of those with
// all words that begin with it.
type entry struct {
	id, node, stem, stemNode int32
	roles                    role
	// isKept: it says nothing about whom a text is about. isName: people are called that, too.
	isKept, isName bool
}

// edge leads from a node to another by a word. The negative of a word may stand a few words further on.
type edge struct{ from, word int32 }

// node is a place in the phrases: the words before it have been found. next and further have a bit for each
// word that goes on, modulo 64: most words are none of them.
type node struct {
	row           int32 // whose phrase ends here, and by [Row.same] further ones
	number        int32 // the node behind a number
	next, further uint64
}

const (
	maxBetween = 4 // words where a phrase has ..
	minStem    = 3
)

func newKnowledge() *knowledge {
	const words, edges = 24_000, 14_000 // to begin with
	k := &knowledge{
		words:   make(map[uint64]int32, words),
		entries: make([]entry, 1, words),
		edges:   make(map[edge]int32, edges),
		nodes:   make([]node, 1, edges),
		rows:    make([]*Row, 1, edges),
	}
	for kind := range k.codes {
		k.codes[kind] = map[string]*Row{}
	}
	return k
}

// entry returns what is known of a word, to be changed. It holds until the next word comes in.
func (k *knowledge) entry(word string) *entry {
	hash := hashOf(word)
	at, is := k.words[hash]
	if !is {
		at = int32(len(k.entries))
		k.words[hash] = at
		k.entries = append(k.entries, entry{})
	}
	return &k.entries[at]
}

// find returns what is known of a word.
func (k *knowledge) find(hash uint64) *entry { return &k.entries[k.words[hash]] }

// codeless has the codes of kinds without a table: the fault codes of SOAP 1.1 and 1.2, the classes of
// enhanced status codes, and a reason in words that are not known.
var codeless = &Table{Rows: []Row{
	{Kind: SOAPFault, Code: "Client", Class: permanent},
	{Kind: SOAPFault, Code: "Sender", Class: permanent},
	{Kind: SOAPFault, Code: "VersionMismatch", Class: permanent},
	{Kind: SOAPFault, Code: "MustUnderstand", Class: permanent},
	{Kind: SOAPFault, Code: "Server", Class: transient},
	{Kind: SOAPFault, Code: "Receiver", Class: transient},
	{Kind: Enhanced, Code: "4.x.x", Class: transient},
	{Kind: Enhanced, Code: "5.x.x"},
	{Kind: Term, Term: "because of a system", Sign: "away"},
}}

// add adds a row with its phrases.
func (k *knowledge) add(r *Row) {
	class := ""
	r.id = int32(len(k.rows))
	r.sign, class = signOf(r.Sign)
	k.rows = append(k.rows, r)
	if r.Kind <= SOAPFault && k.codes[r.Kind][strings.ToUpper(r.Code)] == nil {
		k.codes[r.Kind][strings.ToUpper(r.Code)] = r
	}
	switch r.Kind {
	case Glosa:
		words := elements(strings.ToLower(r.Term))
		const short, stem, few = 4, 6, 2 // what has few words says too little without its code
		for _, e := range words {
			if n := len(e.word); n >= short {
				r.words = append(r.words, k.id(element{word: e.word[:min(n, stem)], isStem: true}))
			}
		}
		if len(words) > few {
			k.phrase(words, r)
		}
	case Exception:
		parts := nameParts(r.Term)
		k.phrase(elements(strings.Join(parts, " ")), r)
		if len(parts) == 1 { // texts in one case
			one := *r
			one.id = int32(len(k.rows))
			k.rows = append(k.rows, &one)
			k.phrase([]element{{word: strings.ToLower(parts[0])}}, &one)
		}
	case SMTP:
		r.Class = "" // a reply is not weighed: the SMTP policies are about nothing else
	case Enhanced, SOAPFault:
	case HTTP:
		k.phrase(elements(r.Term), r)
	case Term:
		r.Class = class
		if r.Term == codeless.Rows[len(codeless.Rows)-1].Term {
			k.reason = r
			return
		}
		k.phrase(elements(r.Term), r)
	case noun, mark:
		k.phrase(elements(r.Term), r)
	}
}

// nameParts returns the parts of a qualified name that a text must have: the last, and the one before it
// where that says little.
func nameParts(name string) []string {
	parts := strings.Split(name, ".")
	last := parts[len(parts)-1]
	if len(parts) == 1 || strings.HasSuffix(last, "Exception") || strings.HasSuffix(last, "Error") {
		return parts[len(parts)-1:]
	}
	return parts[len(parts)-2:]
}

// element is a word of a phrase.
type element struct {
	word                   string
	isStem, gap, anyNumber bool
}

// elements returns the words of a phrase: * ends the beginning of a word, .. is a gap, # any number. Words
// that a sign sets apart may have others between them, too.
func elements(phrase string) (all []element) {
	gap := false
	for part := range strings.SplitAfterSeq(phrase, " ") {
		part = strings.TrimSuffix(part, " ")
		switch part {
		case "..":
			gap = true
			continue
		case "#":
			all = append(all, element{anyNumber: true})
			continue
		}
		word, isStem := strings.CutSuffix(part, "*")
		s := Text{Source: word}
		s.cut()
		for i := range s.Tokens {
			isLast, behindSign := i == len(s.Tokens)-1, i > 0 && s.Tokens[i].gap >= apart
			all = append(all, element{s.word(i), isStem && isLast, gap || behindSign, false})
			gap = false
		}
		if n := len(s.Tokens); n > 0 {
			gap = strings.ContainsAny(word[s.Tokens[n-1].End:], ",:()")
		}
	}
	return all
}

// phrase adds a phrase that ends in a row.
func (k *knowledge) phrase(words []element, r *Row) {
	k.id(words[0])
	first := k.entry(words[0].word)
	start := &first.node
	if words[0].isStem {
		start = &first.stemNode
	}
	if *start == 0 {
		*start = k.newNode()
	}
	at := *start
	for _, e := range words[1:] {
		at = k.follow(at, e)
	}
	if end := k.nodes[at].row; end != r.id {
		r.same, k.nodes[at].row = end, r.id
	}
}

func (k *knowledge) newNode() int32 {
	k.nodes = append(k.nodes, node{})
	return int32(len(k.nodes) - 1)
}

// id returns the id of a word, or of a stem.
func (k *knowledge) id(e element) int32 {
	known := k.entry(e.word)
	id := &known.id
	if e.isStem {
		id = &known.stem
		if of := lettersOf(e.word); of.n >= minStem {
			k.stems[stemKey(&of)] |= 1 << of.n
		}
	}
	if *id == 0 {
		k.count++
		*id = k.count
	}
	return *id
}

func stemKey(w *letters) uint64 { return w.of[minStem] * spread >> 51 }

// follow returns the node behind an element, which it makes if there is none.
func (k *knowledge) follow(at int32, e element) int32 {
	if e.anyNumber {
		if k.nodes[at].number == 0 {
			to := k.newNode()
			k.nodes[at].number = to
		}
		return k.nodes[at].number
	}
	id := k.id(e)
	way := edge{at, id}
	if e.gap {
		way.word = -id
		k.nodes[at].further |= 1 << (id % 64)
	} else {
		k.nodes[at].next |= 1 << (id % 64)
	}
	to, is := k.edges[way]
	if !is {
		to = k.newNode()
		k.edges[way] = to
	}
	return to
}

// begun is a phrase that begins with a token.
type begun struct{ node, token int32 }

// lookUp notes what is known of a word, and the phrases that it begins.
func (t *Text) lookUp(k *Token, of *letters) {
	if t.known == nil || of.n == 0 {
		return
	}
	w := t.known.find(of.hash())
	k.word, k.roles, k.stems = w.id, w.roles, int32(len(t.stems))
	k.IsKept, k.IsName = w.isKept && !k.IsNumber, w.isName
	if w.node != 0 {
		t.begun = append(t.begun, begun{w.node, int32(len(t.Tokens))})
	}
	if of.n < minStem {
		return
	}
	lengths := t.known.stems[stemKey(of)]
	for n := minStem; lengths>>n != 0 && n <= of.n; n++ {
		if lengths>>n&1 == 0 {
			continue
		}
		s := t.known.find(of.of[n])
		if s.stem != 0 {
			t.stems = append(t.stems, s.stem)
			k.stemCount++
		}
		if s.stemNode != 0 {
			t.begun = append(t.begun, begun{s.stemNode, int32(len(t.Tokens))})
		}
	}
}

// walk adds the phrases that go on behind a token. first is where they begin.
func (t *Text) walk(at int32, first, last int) {
	n := &t.known.nodes[at]
	for row := n.row; row != 0; row = t.known.rows[row].same {
		t.found(t.known.rows[row], first, last)
	}
	next := last + 1
	if next == len(t.Tokens) {
		return
	}
	k := &t.Tokens[next]
	if n.next != 0 && k.gap <= near {
		t.step(at, n.next, 1, first, next)
	}
	if n.number != 0 && k.IsNumber && strings.Trim(t.between(last, next), " ") == "" {
		t.walk(n.number, first, next)
	}
	if n.further == 0 {
		return
	}
	for ; next < len(t.Tokens) && next <= last+1+maxBetween && t.Tokens[next].gap <= apart; next++ {
		if t.step(at, n.further, -1, first, next) {
			return
		}
	}
}

// step goes on with each word that a token is.
func (t *Text) step(at int32, bits uint64, sign int32, first, next int) (is bool) {
	try := func(id int32) {
		if id == 0 || bits>>(id%64)&1 == 0 {
			return
		}
		if to, has := t.known.edges[edge{at, sign * id}]; has {
			t.walk(to, first, next)
			is = true
		}
	}
	try(t.Tokens[next].word)
	for _, stem := range t.stemsOf(next) {
		try(stem)
	}
	return is
}

func (t *Text) stemsOf(i int) []int32 {
	k := &t.Tokens[i]
	return t.stems[k.stems : k.stems+int32(k.stemCount)]
}

// isWord reports whether a token is a word, or begins with a stem.
func (t *Text) isWord(i int, id int32) bool {
	return t.Tokens[i].word == id || slices.Contains(t.stemsOf(i), id)
}
