package evidence

import (
	"fmt"
	"math/bits"
	"slices"
)

// lexicon is the words that are known, in a table that is found by a word's hash, and the stems that words begin with.
type lexicon struct {
	slots []slot // a power of two of them, at most three in four taken
	shift int
	// stemsWith: a stem begins with the two characters of a hash.
	stemsWith [classes * classes]bool
	// longest is the length of the longest stem, in characters.
	longest int
	// members are the words of each set, bits those of all of them.
	members [][]wordID
	bits    []wordBits
}

// slot is a word, or a stem, or both; the hash of an empty one is 0.
type slot struct {
	hash hash
	// set is the word, and the stems that it begins with; stems are those stems alone, what a longer word is that is not known.
	set, stems setID
	known      vocabulary
}

// minStem is how many characters a stem has at least.
const minStem = 3

// hash is a word as a number in base [classes], modulo 2^64: words of up to 12 characters have one each. The zero value is that of
// no characters.
type hash uint64

func (h hash) with(class uint8) hash { return h*classes + hash(class) }

// setID is a set of words, 0 the empty one; wordID is a word or a stem, from 1 on.
type (
	setID  uint16
	wordID uint16
)

// vocabulary is what a word is for those who must not know whom a text is about.
type vocabulary uint8

const (
	inVocabulary vocabulary = 1 << iota
	isName                  // people are called that, too
)

// find returns the slot of a word, an empty one for a word that is not known.
func (l *lexicon) find(h hash) *slot {
	const spread = 0x9E3779B97F4A7C15 // 2^64 by the golden ratio
	for at := uint64(h) * spread >> l.shift; ; at++ {
		s := &l.slots[at&uint64(len(l.slots)-1)]
		if s.hash == h || s.hash == 0 {
			return s
		}
	}
}

// has reports whether a set has a word.
func (l *lexicon) has(set setID, word wordID) bool {
	return set != 0 && slices.Contains(l.members[set], word)
}

// lexiconBuilder collects words.
type lexiconBuilder struct {
	words   []builderWord
	by      map[string]int // indexes of words, by their classes
	count   wordID
	longest int

	classes []uint8 // see folded
}

type builderWord struct {
	word, stem wordID
	known      vocabulary
}

func newLexiconBuilder(words int) *lexiconBuilder {
	return &lexiconBuilder{words: make([]builderWord, 0, words), by: make(map[string]int, words)}
}

func (b *lexiconBuilder) at(classes []uint8) *builderWord {
	i, is := b.by[string(classes)]
	if !is {
		i = len(b.words)
		b.by[string(classes)] = i
		b.words = append(b.words, builderWord{})
	}
	return &b.words[i]
}

// folded returns the classes of a word's characters. They are the builder's until it is asked again.
func (b *lexiconBuilder) folded(word string) []uint8 {
	b.classes = b.classes[:0]
	s := scanner{text: word}
	for at := 0; at < len(word); {
		class, size, _ := s.letter(at)
		if size == 0 {
			at++ // a sign of the notation
			continue
		}
		if class != 0 {
			b.classes = append(b.classes, class)
		}
		at += size
	}
	return b.classes
}

// add adds a word, or a stem that words begin with. The classes are its characters.
func (b *lexiconBuilder) add(classes []uint8, stem bool) wordID {
	w := b.at(classes)
	id := &w.word
	if stem {
		id, b.longest = &w.stem, max(b.longest, len(classes))
	}
	if *id == 0 {
		b.count++
		*id = b.count
	}
	return *id
}

// know adds a word to the vocabulary.
func (b *lexiconBuilder) know(classes []uint8, as vocabulary) { b.at(classes).known |= as }

// build makes the lexicon.
func (b *lexiconBuilder) build() *lexicon {
	size := bits.Len(uint(len(b.words) * 4 / 3))
	l := &lexicon{slots: make([]slot, 1<<size), shift: 64 - size, longest: b.longest, members: make([][]wordID, 1)}
	for classes, i := range b.by {
		if b.words[i].stem != 0 && len(classes) >= minStem {
			l.stemsWith[hash(0).with(classes[0]).with(classes[1])] = true
		}
	}
	sets := map[string]setID{}
	setOf := func(words []wordID) setID {
		if len(words) == 0 {
			return 0
		}
		key := fmt.Sprint(words)
		set, is := sets[key]
		if !is {
			set = setID(len(l.members))
			sets[key] = set
			l.members = append(l.members, words)
		}
		return set
	}
	for classes, i := range b.by {
		w := &b.words[i]
		var h hash
		for i := range len(classes) {
			h = h.with(classes[i])
		}
		stems := b.stemsOf(l, classes)
		s := slot{hash: h, stems: setOf(stems), known: w.known}
		if s.set = s.stems; w.word != 0 {
			s.set = setOf(append(slices.Clip(stems), w.word))
		}
		*l.find(h) = s
	}
	l.bits = make([]wordBits, len(l.members))
	for set, members := range l.members {
		for _, word := range members {
			l.bits[set] |= word.bit()
		}
	}
	return l
}

// stemsOf returns the stems that a word begins with.
func (b *lexiconBuilder) stemsOf(l *lexicon, classes string) (stems []wordID) {
	if len(classes) < minStem || !l.stemsWith[hash(0).with(classes[0]).with(classes[1])] {
		return nil
	}
	for end := minStem; end <= min(len(classes), b.longest); end++ {
		if i, is := b.by[classes[:end]]; is && b.words[i].stem != 0 {
			stems = append(stems, b.words[i].stem)
		}
	}
	return stems
}
