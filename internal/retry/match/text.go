package match

import "strings"

// MaxBytes is how much of an error text is read. What an insurer's system says about the
// error stands at the beginning; a stack trace behind it must not cost unbounded time.
const MaxBytes = 64 << 10

// Text is an error text as conditions read it. [Text.Read] fills it. It is not safe for concurrent use.
//
// A policy looks for some hundred words in every text and finds one of them, or none. So the text notes once which
// triples of bytes it has, and a word whose triples are not among them is not searched for.
type Text struct {
	// Upper is the beginning of the text, at most [MaxBytes], in upper case.
	Upper   string
	triples [tripleBits / 64]uint64
	// found is what the patterns with the mark have found, of which there are known; see [Text.find].
	found [8]foundBy
	known int
}

// tripleBits is how many bits note the triples: enough that a text of a line sets few of them.
const tripleBits = 1 << 13

// Read prepares an error text for the search.
func (t *Text) Read(errorText string) {
	t.Upper = strings.ToUpper(errorText[:min(len(errorText), MaxBytes)])
	for i := 2; i < len(t.Upper); i++ {
		bit := triple(t.Upper[i-2], t.Upper[i-1], t.Upper[i])
		t.triples[bit/64] |= 1 << (bit % 64)
	}
}

// triple returns the bit of three bytes. Other triples may share it, which costs a needless search.
func triple(a, b, c byte) uint16 {
	const spread = 0x9E3779B1 // the golden ratio: it sends neighbours far apart
	return uint16((uint32(a) | uint32(b)<<8 | uint32(c)<<16) * spread >> (32 - 13))
}

// word is a word to search for, with the triples at its beginning and its end.
type word struct {
	text        string
	first, last uint16
}

func makeWords(texts []string) []word {
	words := make([]word, len(texts))
	for i, t := range texts {
		words[i].text = t
		if n := len(t); n >= 3 {
			words[i].first, words[i].last = triple(t[0], t[1], t[2]), triple(t[n-3], t[n-2], t[n-1])
		}
	}
	return words
}

// search returns the first of the words that the text contains, -1 for none.
func (t *Text) search(words []word) int {
	for i := range words {
		if w := &words[i]; t.may(w) && strings.Contains(t.Upper, w.text) {
			return i
		}
	}
	return -1
}

// searchAlone returns the first of the codes that [StandsAlone] in the text, -1 for none.
func (t *Text) searchAlone(codes []word) int {
	for i := range codes {
		if c := &codes[i]; t.may(c) && StandsAlone(t.Upper, c.text) {
			return i
		}
	}
	return -1
}

// foundBy is what a pattern has found.
type foundBy struct {
	pattern *placed
	codes   [][]string
}

// find returns what a pattern with the mark matches in the text. It searches once for all rules with the pattern.
func (t *Text) find(p *placed) [][]string {
	for i := range t.known {
		if t.found[i].pattern == p {
			return t.found[i].codes
		}
	}
	codes := p.find(t)
	if t.known < len(t.found) { // a policy with more such patterns reads for each rule
		t.found[t.known] = foundBy{p, codes}
		t.known++
	}
	return codes
}

// may reports whether the text can contain the word.
func (t *Text) may(w *word) bool {
	return len(w.text) < 3 ||
		t.triples[w.first/64]&(1<<(w.first%64)) != 0 && t.triples[w.last/64]&(1<<(w.last%64)) != 0
}
