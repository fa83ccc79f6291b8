package errtext

import (
	"math/bits"
	"strings"
)

// knowledge is the tables, made for looking up: words, and phrases as edges from node to node.
type knowledge struct {
	nodes [len(entries.slots)]node // each has an entry
	last  int32
	// stems are the lengths that stems have, a bit for each, by their first three letters.
	stems [1 << 13]uint64
	// codes are the first rows of codes, by kind.
	codes [SOAPFault + 1]map[string]*Row
	// ownWords are the words of a glosa's term that say something, as stems.
	ownWords map[*Row][]int32
	// times are the rows of the table times, by their letters.
	times map[uint64]Row
}

// entry is what is known of a word, or of all words with a beginning: its id, which is also the node where
// phrases with it begin, 0 for a word of none. Of an edge it is the node where that ends.
type entry struct {
	id    int32
	roles role
}

// edge is the way from a node by a word. The negative of a word may stand a few words further on.
func edge(from, word int32) uint64 { return uint64(from)<<32 | uint64(uint32(word)) }

// node is a place in the phrases: the words before it have been found.
type node struct {
	row *Row // whose phrase ends here, and by [Row.same] further ones
	// next are the words that may follow, later those that may a few words further on, by their bits.
	next, later uint32
}

// bit is that of a word, which it shares with others: most words that may not follow are told by it.
func bit(word int32) uint32 { return 1 << (word & 31) }

// anyNumber is the id of each number.
const anyNumber = 1

const (
	maxBetween = 4 // words where a phrase has ..
	minStem    = 3 // letters
	few        = 2 // words: a term with no more says too little without its code
)

// add adds a row with its phrases.
func (k *knowledge) add(r *Row) {
	if r.Kind <= SOAPFault && k.codes[r.Kind][strings.ToUpper(r.Code)] == nil {
		k.codes[r.Kind][strings.ToUpper(r.Code)] = r
	}
	switch r.Kind {
	case Glosa:
		if count := k.noteWords(r); count > few {
			k.phrase(r.Term, r)
		}
	case SMTP, Enhanced, SOAPFault:
	case HTTP, Exception, Term, noun, mark, key:
		k.phrase(r.Term, r)
	}
}

// noteWords notes the words of a glosa's term that say something, by their beginnings, and returns how many
// words it has.
func (k *knowledge) noteWords(r *Row) (count int) {
	const short, stem = 4, 6 // letters
	var w letters
	for last := 0; ; count++ {
		start, end, _ := next(r.Term, last, &w)
		if start == end {
			return count
		}
		if last = end; w.n >= short {
			w.n = min(w.n, stem)
			k.ownWords[r] = append(k.ownWords[r], k.id(&w, true))
		}
	}
}

// phrase adds a phrase that ends in a row: * ends the beginning of a word, .. is a gap, # any number. Words
// that a sign sets apart may have others between them, too.
func (k *knowledge) phrase(phrase string, r *Row) {
	var w letters
	for at, last := int32(0), 0; ; {
		start, end, between := next(phrase, last, &w)
		if at != 0 && strings.Contains(phrase[last:start], "#") {
			at = k.follow(at, anyNumber, false)
		}
		if start == end {
			if other := k.nodes[at].row; other != r {
				r.same, k.nodes[at].row = other, r
			}
			return
		}
		id := k.id(&w, strings.HasPrefix(phrase[end:], "*"))
		if last = end; at == 0 {
			at = id
		} else {
			at = k.follow(at, id, between >= apart)
		}
	}
}

// id returns the id of a word, or of a stem.
func (k *knowledge) id(w *letters, isStem bool) int32 {
	key := w.hash()
	if isStem {
		key = stemOf(key)
		k.stems[stemKey(w)] |= 1 << w.n
	}
	return k.made(&entries.add(key).id)
}

// stemOf returns the key of all words with a beginning.
func stemOf(hash uint64) uint64 { return ^hash }

// made returns a node, which it makes if there is none.
func (k *knowledge) made(n *int32) int32 {
	if *n == 0 {
		k.last++
		*n = k.last
	}
	return *n
}

// follow returns the node behind a word, which it makes if there is none.
func (k *knowledge) follow(at, id int32, gap bool) int32 {
	way := edge(at, id)
	if gap {
		way = edge(at, -id)
		k.nodes[at].later |= bit(id)
	} else {
		k.nodes[at].next |= bit(id)
	}
	return k.made(&entries.add(way).id)
}

func stemKey(w *letters) uint64 { return w.of[minStem] * spread >> 51 }

// lookUp notes what is known of a word and of its beginnings.
func (t *Text) lookUp(k *Token, of *letters) {
	k.ids = int32(len(t.ids))
	e := entries.find(of.hash())
	t.note(k, e.id)
	k.roles = e.roles
	k.IsKept = k.roles&roleKept != 0 && !k.IsNumber
	if of.n >= minStem {
		shorter := uint64(2)<<of.n - 1
		for lengths := t.known.stems[stemKey(of)] & shorter; lengths != 0; lengths &= lengths - 1 {
			t.note(k, entries.find(stemOf(of.of[bits.TrailingZeros64(lengths)])).id)
		}
	}
	if k.IsNumber {
		t.note(k, anyNumber)
	}
}

// note notes that a token is a word, or begins with one, that phrases have; 0 is none.
func (t *Text) note(k *Token, id int32) {
	if id != 0 {
		t.ids = append(t.ids, id)
		k.idCount++
		k.words |= bit(id)
	}
}

// walk adds the phrases that go on behind a token. first is where they begin.
func (t *Text) walk(at int32, first, last int) {
	n := &t.known.nodes[at]
	for r := n.row; r != nil; r = r.same {
		t.found(r, first, last)
	}
	for next := last + 1; next < len(t.Tokens) && next <= last+1+maxBetween; next++ {
		k := &t.Tokens[next]
		if k.gap <= near && next == last+1 && k.words&n.next != 0 {
			t.step(at, 1, first, next)
		}
		if k.gap > apart || n.later == 0 {
			return
		}
		if k.words&n.later != 0 && t.step(at, -1, first, next) {
			return
		}
	}
}

// step goes on with each word that a token is, of those that may follow.
func (t *Text) step(at, sign int32, first, next int) (is bool) {
	for _, id := range t.idsOf(next) {
		if to := entries.find(edge(at, sign*id)).id; to != 0 {
			t.walk(to, first, next)
			is = true
		}
	}
	return is
}

// idsOf returns the ids of a token: of its word, and of those that it begins with.
func (t *Text) idsOf(i int) []int32 {
	k := &t.Tokens[i]
	return t.ids[k.ids : k.ids+int32(k.idCount)]
}
