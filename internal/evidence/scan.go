package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Token is a word or a number of a text. A word in camel case is one token for each of its parts.
type Token struct {
	start, end int32
	set        setID // the known words that it is, or begins with
	kind       tokenKind
	gap        gap // what stands between it and the token before
	known      vocabulary
	kept       bool // a number that is evidence
}

type tokenKind uint8

const (
	word tokenKind = iota
	number
)

// gap is how far apart two tokens are.
type gap uint8

const (
	joined   gap = iota // nothing stands between them, as in SocketTimeout and HTTP2
	near                // a blank, an underscore, a dash, or another sign alone
	apart               // a comma, a colon, parentheses, a dash between blanks
	sentence            // an end of a sentence, a line or an element
)

// The classes of the characters that known words are made of; 0 is any other.
const (
	classDigit = 27 // A to Z are 1 to 26
	classOther = classDigit + 10
	classes    = classOther + 1
	maxEntity  = 10
)

// ascii is the class of each letter and digit, and 0 of every other byte.
var ascii = func() (class [256]uint8) {
	for c := range uint8(26) {
		class['A'+c], class['a'+c] = 1+c, 1+c
	}
	for c := range uint8(10) {
		class['0'+c] = classDigit + c
	}
	return class
}()

// letter is the class of an ASCII letter or a digit, and its case.
type letter uint8

func (l letter) class() uint8       { return uint8(l & (1<<letterClass - 1)) }
func (l letter) inCase() letterCase { return letterCase(l >> letterClass) }

const letterClass = 6 // bits

// letters are those letters and digits, and 0 for every other byte.
var letters = func() (of [256]letter) {
	for c := range of {
		switch class := letter(ascii[c]); {
		case class == 0:
		case class >= classDigit:
			of[c] = class | letter(digit)<<letterClass
		case c >= 'a':
			of[c] = class | letter(lower)<<letterClass
		default:
			of[c] = class | letter(upper)<<letterClass
		}
	}
	return of
}()

// signs are how far each ASCII sign sets two tokens apart; joined stands for a letter, a digit and what is looked at closer.
var signs = func() (gaps [256]gap) {
	for c := range utf8.RuneSelf {
		gaps[c] = near
	}
	for _, c := range ",:()[]{}|" {
		gaps[c] = apart
	}
	for _, c := range "!?;\n\r<>" {
		gaps[c] = sentence
	}
	for c := range ascii {
		if ascii[c] != 0 || c >= utf8.RuneSelf || strings.IndexByte("_.-&\\", byte(c)) >= 0 {
			gaps[c] = joined
		}
	}
	return gaps
}()

// latin are the letters without their accents from U+00C0 on; a blank is no letter.
const latin = "AAAAAAACEEEEIIIIDNOOOOO OUUUUYTSAAAAAAACEEEEIIIIDNOOOOO OUUUUYTY"

// scanner cuts a text into tokens. It reads entities, JSON escapes, wide letters, letters of Latin-1 and those that were read
// in the wrong one of the two encodings as the letters that they stand for, and passes over what cannot be seen.
type scanner struct {
	text  string
	words *lexicon
	at    int
	// wordsOnly: numbers, and what longer words begin with, are not looked up.
	wordsOnly bool
}

// next reads the next token, and reports whether there is one.
func (s *scanner) next(t *Token) bool {
	between, at, text := joined, s.at, s.text
	if at == 0 {
		between = sentence
	}
	for {
		for at < len(text) {
			sign := signs[text[at]]
			if sign == joined {
				break
			}
			between = max(between, sign)
			at++
		}
		if at == len(text) {
			s.at = at
			return false
		}
		if ascii[text[at]] != 0 {
			break
		}
		class, size, inWord := s.character(at)
		if class != 0 {
			break
		}
		if !inWord {
			between = max(between, s.separator(at, size))
		}
		at += size
	}
	t.gap, s.at = between, at
	s.read(t)
	return true
}

// separator returns how far a sign sets two tokens apart, which is none of those that always do the same.
func (s *scanner) separator(at, size int) gap {
	switch c := s.text[at]; {
	case c == '.':
		if at == 0 || at+1 == len(s.text) || ascii[s.text[at+1]] == 0 || ascii[s.text[at-1]] == 0 {
			return sentence
		}
	case c == '-':
		if at > 0 && s.text[at-1] == ' ' {
			return apart
		}
	case size > 1 && (c == '\\' || c == '&' && (s.text[at+1] == 'l' || s.text[at+1] == 'g')): // \n, &lt; and &gt;
		return sentence
	}
	return near
}

// The kinds of characters that a word in camel case is cut by. A letter with an accent is of either case: programs that raise
// or lower the others often leave it as it was.
type letterCase uint8

const (
	anyCase letterCase = iota
	lower
	upper
	digit
)

// read reads the token at the place.
func (s *scanner) read(t *Token) {
	start, at, h, of, capitals := s.at, s.at, hash(0), anyCase, 0
	text := s.text
	for at < len(text) {
		in := letters[text[at]].inCase()
		if in == anyCase {
			if c := text[at]; c < utf8.RuneSelf && c != '&' && c != '\\' {
				break
			}
			class, size, in := s.letter(at)
			if size == 0 || at > start && class != 0 && (in == digit) != (of == digit) {
				break
			}
			if class != 0 {
				h = h.with(class)
				if in == digit {
					of = digit
				}
			}
			at += size
			continue
		}
		if at > start && in != of {
			if (in == digit) != (of == digit) || of == lower && in == upper {
				break
			}
			if of == upper && in == lower && capitals > 1 { // HTTP, Error: the last capital begins the next word
				if letters[text[at-1]].inCase() == upper { // and not a letter with an accent, or what is not seen
					at--
					h = s.hash(start, at)
				}
				break
			}
		}
		of = in
		first := at
		for ; at < len(text); at++ {
			l := letters[text[at]]
			if l.inCase() != in {
				break
			}
			h = h.with(l.class())
		}
		if in == upper {
			capitals += at - first
		}
	}
	s.at = at
	t.start, t.end = int32(start), int32(at)
	if of == digit {
		if t.kind = number; s.wordsOnly {
			return
		}
	}
	w := s.words.find(h)
	t.set, t.known = w.set, w.known
	if w.hash == 0 && !s.wordsOnly {
		t.set = s.stems(start, at)
	}
}

// hash returns the hash of a part of the text.
func (s *scanner) hash(from, to int) (h hash) {
	for from < to {
		class, size, _ := s.letter(from)
		if class != 0 {
			h = h.with(class)
		}
		from += size
	}
	return h
}

// stems returns the stems that a word begins with.
func (s *scanner) stems(from, to int) (set setID) {
	var h hash
	for length := 0; from < to && length < s.words.longest; {
		class, size, _ := s.letter(from)
		if class != 0 {
			h = h.with(class)
			switch length++; {
			case length >= minStem:
				if w := s.words.find(h); w.stems != 0 {
					set = w.stems
				}
			case length == minStem-1 && !s.words.stemsWith[h]:
				return 0
			}
		}
		from += size
	}
	return set
}

// letter returns the class of a letter or a digit, its length and its case; a length of 0 for any other character.
func (s *scanner) letter(at int) (class uint8, size int, in letterCase) {
	if class = ascii[s.text[at]]; class != 0 {
		return class, 1, letters[s.text[at]].inCase()
	}
	class, size, inWord := s.character(at)
	switch {
	case !inWord:
		return 0, 0, anyCase
	case class >= classDigit && class < classOther:
		return class, size, digit
	default:
		return class, size, anyCase
	}
}

// character returns what stands at a place that is no ASCII letter or digit: its class, its length, and whether it belongs to
// a word that it stands in. A letter that no word has is classOther; a class of 0 in a word is a character that is not seen.
func (s *scanner) character(at int) (class uint8, size int, inWord bool) {
	c := s.text[at]
	switch {
	case c == '&':
		class, size, inWord = s.entity(at)
	case c == '\\':
		class, size, inWord = s.escape(at)
	case c < utf8.RuneSelf:
		return 0, 1, false
	case c == 0xC3 && at+1 < len(s.text) && s.text[at+1] >= 0x80 && s.text[at+1] <= 0xBF && s.text[at+1] != 0x83: // most accents
		class = ascii[latin[s.text[at+1]-0x80]]
		return class, 2, class != 0
	}
	if size > 0 {
		return class, size, inWord
	}
	r, size := utf8.DecodeRuneInString(s.text[at:])
	if r == utf8.RuneError && size == 1 { // Latin-1
		r = rune(c)
	} else if r == 0xC3 && at+size < len(s.text) { // UTF-8 that was read as Latin-1
		if next, more := utf8.DecodeRuneInString(s.text[at+size:]); next >= 0x80 && next <= 0xBF {
			r, size = 0xC0+next-0x80, size+more
		}
	}
	class, inWord = runeClass(r)
	return class, size, inWord
}

func runeClass(r rune) (class uint8, inWord bool) {
	switch {
	case r < utf8.RuneSelf:
		class = ascii[r]
		return class, class != 0
	case r >= 0xC0 && r <= 0xFF:
		if c := latin[r-0xC0]; c != ' ' {
			return ascii[c], true
		}
		return 0, false
	case r >= 0xFF01 && r <= 0xFF5E: // wide
		return runeClass(r - 0xFEE0)
	case r == 0xAD || r == 0xAA || r == 0xBA: // soft hyphen, and the ordinals of 1ª and nº
		return 0, r == 0xAD
	case unicode.Is(unicode.Cf, r): // a short list
		return 0, true
	case unicode.IsLetter(r) || unicode.IsDigit(r) || r == utf8.RuneError:
		return classOther, true
	case unicode.Is(unicode.Mn, r):
		return 0, true
	default:
		return 0, false
	}
}

// entity reads &ccedil; and &#231; as their letter, and any other as a sign.
func (s *scanner) entity(at int) (class uint8, size int, inWord bool) {
	rest := s.text[at:min(len(s.text), at+maxEntity)]
	end := strings.IndexByte(rest, ';')
	if end < 3 {
		return 0, 1, false
	}
	name := rest[1:end]
	if name[0] == '#' {
		if r, ok := codePoint(name[1:]); ok {
			class, inWord = runeClass(r)
			return class, end + 1, inWord
		}
		return 0, 1, false
	}
	switch name[1:] {
	case "acute", "grave", "circ", "tilde", "cedil", "uml":
		return ascii[name[0]], end + 1, true
	}
	switch name {
	case "lt", "gt", "amp", "quot", "apos", "nbsp", "ordm", "ordf":
		return 0, end + 1, false
	}
	return 0, 1, false
}

func codePoint(digits string) (r rune, ok bool) {
	base := rune(10)
	if digits != "" && (digits[0] == 'x' || digits[0] == 'X') {
		base, digits = 16, digits[1:]
	}
	for i := range len(digits) {
		d := hexDigit(digits[i])
		if d < 0 || d >= base {
			return 0, false
		}
		r = r*base + d
	}
	return r, digits != "" && r <= unicode.MaxRune
}

func hexDigit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	default:
		return -1
	}
}

// escape reads \u00e7 as its letter, and \n, \r and \t as signs.
func (s *scanner) escape(at int) (class uint8, size int, inWord bool) {
	rest := s.text[at:]
	switch {
	case len(rest) >= 6 && rest[1] == 'u':
		if r, ok := codePoint("x" + rest[2:6]); ok {
			class, inWord = runeClass(r)
			return class, 6, inWord
		}
	case len(rest) >= 2 && (rest[1] == 'n' || rest[1] == 'r' || rest[1] == 't'):
		return 0, 2, false
	}
	return 0, 1, false
}
