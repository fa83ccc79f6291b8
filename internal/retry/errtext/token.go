package errtext

import "unicode/utf8"

// Token is a word or a number of a text. A word in camel case is one token for each of its parts.
type Token struct {
	// Start and End are its place in the text, in bytes.
	Start, End int32
	// words are the bits of its ids, which are those of its word, and of its beginnings, that phrases have: a
	// part of the text's list.
	words   uint32
	ids     int32
	idCount int8
	gap     gap
	// IsNumber: it is made of digits. IsKept: it is a word of the vocabulary, or a number that is evidence or
	// a measure.
	IsNumber, IsKept bool
	roles            role
	// clause and sentence are the numbers of those that it stands in.
	clause, sentence int16
}

// IsJoined reports whether nothing stands between a token and the one before.
func (k *Token) IsJoined() bool { return k.gap == joined }

// IsName reports whether people are called that, too.
func (k *Token) IsName() bool { return k.roles&roleName != 0 }

// gap is what stands between a token and the one before.
type gap uint8

const (
	joined      gap = iota // nothing, as in SocketTimeout and HTTP2
	near                   // a blank, an underscore, a dash, or another sign alone
	apart                  // a comma, a colon, parentheses, a dash between blanks
	sentenceEnd            // an end of a sentence, a line or an element
)

// The kinds of bytes. Those of letters are above digit.
const (
	other uint8 = iota
	digit
	lower
	upper
)

// lowerCase is the bit that a letter of ASCII has in lower case. Digits have it, too.
const lowerCase = 0x20

// kinds are the kinds of bytes, distances are how far apart a sign sets two tokens.
var kinds, distances = characters()

func characters() (kinds [256]byte, distances [256]gap) {
	for c := range 256 {
		distances[c] = near
		switch {
		case c >= '0' && c <= '9':
			kinds[c] = digit
		case c >= 'a' && c <= 'z':
			kinds[c] = lower
		case c >= 'A' && c <= 'Z':
			kinds[c] = upper
		}
	}
	for _, c := range ",:([]{}|" {
		distances[c] = apart
	}
	for _, c := range "!?;\n\r<>" {
		distances[c] = sentenceEnd
	}
	return kinds, distances
}

// latin are the letters from U+00C0 on without their accents; a blank is no letter.
const latin = "aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty"

// noLetter is a letter that no known word has.
const noLetter = 0x7F

// plainLetter returns the letter of ASCII that a character beyond it stands for; 0 is a sign.
func plainLetter(r rune) byte {
	switch {
	case r >= 0xC0 && r <= 0xFF:
		if c := latin[r-0xC0]; c != ' ' {
			return c
		}
	case r == utf8.RuneError, r > 0xFF && r < 0x2000, r > 0x3000 && r < 0xE000:
		return noLetter
	}
	return 0
}

// cut cuts the text into tokens and looks each of them up. A token is written where it stays: to copy what
// was written a moment ago costs more than to write it.
func (t *Text) cut() {
	var w letters
	for last := 0; ; {
		start, end, between := next(t.Source, last, &w)
		if start == end {
			return
		}
		t.Tokens = append(t.Tokens, Token{})
		k := &t.Tokens[len(t.Tokens)-1]
		k.Start, k.End, k.gap = int32(start), int32(end), between
		k.IsNumber = kinds[t.Source[start]] == digit
		t.lookUp(k, &w)
		last = end
	}
}

// next returns where the token behind another one stands, of which it is told the end, and how far apart the
// two are; w becomes its letters. It is empty where there is none.
func next(text string, last int, w *letters) (start, end int, between gap) {
	if last == 0 {
		between = sentenceEnd
	}
	for start = last; start < len(text); {
		if isWord(text[start]) {
			if end = tokenEnd(text, start, w); end > start {
				return start, end, between
			}
		}
		between = max(between, separator(text, start))
		size := 1
		if text[start] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(text[start:])
		}
		start += size
	}
	return start, start, between
}

// tokenEnd reads the letters of a word or a number and returns where it ends. It keeps their number at hand:
// to load what was stored for the letter before takes longer than all else.
func tokenEnd(text string, start int, w *letters) (at int) {
	isNumber, last, capitals := kinds[text[start]] == digit, other, 0
	n, hash := 0, uint64(0)
	for at = start; at < len(text) && n < maxWord && kinds[text[at]] == lower; at++ { // as most are
		n++
		hash = hash*spread + uint64(text[at])
		w.of[n] = hash
		last = lower
	}
reading:
	for ; at < len(text); at++ {
		c := text[at]
		kind, letter := kinds[c], c|lowerCase
		switch {
		case kind == lower && last == lower: // as most are
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[at:])
			if letter = plainLetter(r); letter == 0 || isNumber {
				break reading
			}
			at += size - 1
			kind = last
		case kind == other, (kind == digit) != isNumber, kind == upper && last == lower:
			break reading
		case kind == lower && last == upper && capitals > 1 && !isPlural(text[at:]): // HTTPError: HTTP, Error
			n--
			at--
			break reading
		case kind == upper:
			capitals++
		}
		last = kind
		if n < maxWord {
			n++
			hash = hash*spread + uint64(letter)
			w.of[n] = hash
		}
	}
	w.n = n
	return at
}

// isPlural reports whether nothing but an s is left of a word in capitals: CPFs.
func isPlural(rest string) bool { return rest[0] == 's' && (len(rest) == 1 || kinds[rest[1]] == other) }

// separator returns how far a sign sets two tokens apart.
func separator(text string, at int) gap {
	switch text[at] {
	case '.':
		if at == 0 || at+1 == len(text) || !isWord(text[at-1]) || !isWord(text[at+1]) {
			return sentenceEnd
		}
	case '-':
		if at > 0 && text[at-1] == ' ' {
			return apart
		}
	}
	return distances[text[at]]
}

// isWord reports whether a byte belongs to a word or a number.
func isWord(c byte) bool { return kinds[c] != other || c >= utf8.RuneSelf }

// letters is a word as a number made of its letters without case and accents. of has that of each of its
// beginnings, by their length.
type letters struct {
	n  int
	of [maxWord + 1]uint64
}

// spread is 2^64 by the golden ratio.
const spread = 0x9E3779B97F4A7C15

// maxWord is how many letters of a word are looked at.
const maxWord = 40

func (w *letters) hash() uint64 { return w.of[w.n] }

// hashOf returns the number of a word, of which signs are left out.
func hashOf(word string) (hash uint64) {
	for _, r := range word {
		c := plainLetter(r)
		if r < utf8.RuneSelf && kinds[r] != other {
			c = byte(r) | lowerCase
		}
		if c != 0 {
			hash = hash*spread + uint64(c)
		}
	}
	return hash
}

func (t *Text) word(i int) string { return t.Source[t.Tokens[i].Start:t.Tokens[i].End] }

// between returns the text between two tokens.
func (t *Text) between(i, next int) string { return t.Source[t.Tokens[i].End:t.Tokens[next].Start] }

func (t *Text) before(i int) string { return t.Source[:t.Tokens[i].Start] }

func (t *Text) behind(i int) string { return t.Source[t.Tokens[i].End:] }

// roleAt returns what a token does; nothing where there is none.
func (t *Text) roleAt(i int) role {
	if i < 0 || i >= len(t.Tokens) {
		return 0
	}
	return t.Tokens[i].roles
}
