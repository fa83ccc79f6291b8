package redact

import "strings"

// nameValue looks for a person's name after the field's name that ends at i. It returns its start and end, or 0. It skips up to
// six words that only qualify the field ("nome DO PACIENTE").
func nameValue(s string, i int, f field) (int, int) {
	announced := false // by ":" and the like
	for range 7 {
		sep, after := readSeparator(s, i, f)
		if sep.stop {
			return 0, 0
		}
		announced = announced || sep.strong
		w, wordEnd := readWord(s, after)
		if w.n == 0 {
			return 0, 0
		}
		kind := w.fields()
		if r, _ := next(s, wordEnd); r == '\'' && w.n == 1 {
			kind = 0 // O'Brien
		}
		if kind&(fieldPerson|fieldLink) == 0 || sep.bracket != 0 && kind&fieldLink == 0 && !namesField(s, wordEnd) {
			if kind&fieldNumbers != 0 || w.ordinary() || !announced && f&fieldWeakName != 0 {
				return 0, 0
			}
			if sep.bracket != 0 {
				if stop := closed(s, after, sep.bracket); stop > 0 {
					return after, stop
				}
			}
			if !announced && !w.hasUpper() && !w.is(givenName) {
				return 0, 0
			}
			return after, nameEnd(s, after, announced)
		}
		f |= kind
		i = wordEnd
	}
	return 0, 0
}

// namesField reports whether the quoted or tagged word that ends at i is again a field's name ("paciente": {"nome": ...).
func namesField(s string, i int) bool {
	for range 3 {
		r, after := next(s, i)
		switch r {
		case '"', '\'', ' ', '+':
			i = after
			continue
		case ':', '=', '>':
			return true
		}
		return isLetter(r) || markAt(s[i:]) > 0
	}
	return false
}

// separator is the text between a field's name and the next word.
type separator struct {
	stop    bool // there is no value
	strong  bool // it announces a value
	bracket rune // the character that ends the value: a quote, or '<'; 0 for none
}

// readSeparator reads the separator at s[i:], up to a dozen characters, and returns where the word after it begins.
func readSeparator(s string, i int, f field) (separator, int) {
	var sep separator
	start := i
	for range 12 {
		r, after := next(s, i)
		switch {
		case r == ' ' || r == '(' || r == ')' || r == '-' || r == '+' || r == '/' || r == '_':
			if r != ' ' {
				sep.bracket = 0
			}
		case r == '.' && f&fieldTitle != 0:
		case r == ':' || r == '=' || r == '|' || r == '#' || r == '[' && markAt(s[i:]) == 0:
			sep.strong, sep.bracket = true, 0
		case r == '>':
			sep.strong, sep.bracket = true, '<'
		case r == '"' || r == '\'' || r == '`':
			// The quote that closes a JSON key comes first; one that opens a value follows on something.
			if i > start || sep.strong {
				sep.bracket = r
			}
			sep.strong = true
		case r == '<' && strings.HasPrefix(s[i:], "<![CDATA["):
			sep.strong, sep.bracket, after = true, ']', i+len("<![CDATA[")
		case isLetter(r):
			return sep, i
		default:
			sep.stop = true
			return sep, i
		}
		i = after
	}
	sep.stop = true
	return sep, i
}

// closed returns where the quoted or tagged text at s[i:] ends, before its closing character, or 0 if that is more than 120
// characters away. All of it is the name, because the quotes mark its end.
func closed(s string, i int, bracket rune) int {
	for range 120 {
		r, after := next(s, i)
		switch r {
		case end:
			return 0
		case bracket:
			if follows, _ := next(s, after); bracket != '\'' || !isLetter(follows) { // D'Ávila
				return i
			}
		}
		i = after
	}
	return 0
}

// Most names have two to six words. What exceeds maxNameWords is a sentence.
const (
	maxNameWords = 8
	maxTailWords = 3
)

// nameEnd returns where the name that begins at s[i:] ends. It takes capitalised words and the particles between them. It stops
// at punctuation, a digit, an ordinary word ("não", "CPF"), and, if the name began with a capital, at a word in small letters.
// Up to three of those still belong to it if only they stand before the end of the value ("Nome: Maria silva").
func nameEnd(s string, i int, announced bool) int {
	w, stop := readWord(s, i)
	sure, capital, words, tail := stop, w.hasUpper(), 1, 0
	before := i // the end of the name without its last word
	for i = stop; words < maxNameWords; {
		from, more := joint(s, i, w.n)
		if !more {
			break
		}
		var wordEnd int
		w, wordEnd = readWord(s, from)
		if dottedBirth(s, &w, wordEnd) > 0 {
			return sure
		}
		if w.is(particle) {
			i = wordEnd
			continue
		}
		if w.ordinary() || w.fields()&(fieldNumbers|fieldPerson) != 0 {
			return sure
		}
		if capital && !w.hasUpper() {
			if tail++; !announced || tail > maxTailWords {
				return sure
			}
		} else {
			tail = 0
		}
		if tail == 0 {
			before, sure = sure, wordEnd
		}
		i, words = wordEnd, words+1
	}
	if tail > 0 {
		return i
	}
	if words > 1 && isKey(s, sure) {
		return before
	}
	return sure
}

// joint skips the text between two words of a name and reports whether a word follows. after is the length of the word before:
// "A." is an initial.
func joint(s string, i, after int) (int, bool) {
	start := i
	for range 4 {
		r, behind := next(s, i)
		switch {
		case isLetter(r) && i > start:
			return i, true
		case r == ' ' || r == '+' || r == '_':
			if strings.ContainsAny(s[i:behind], "\r\n") {
				return i, false
			}
		case r == '.':
			if follows, _ := next(s, behind); after > 1 && !isLetter(follows) {
				return i, false
			}
		case r == '-' || r == '\'':
			if follows, _ := next(s, behind); i > start || !isLetter(follows) {
				return i, false
			}
		default:
			return i, false
		}
		i = behind
	}
	return i, false
}

// isKey reports whether the word that ends at i is the name of the next field.
func isKey(s string, i int) bool {
	r, after := next(s, i)
	for range 2 {
		if r != ' ' {
			break
		}
		r, after = next(s, after)
	}
	return r == ':' || r == '='
}

// fullNameEnd returns the end of a name that begins with the word w at s[i:], or 0; f is what w announces. The name's field is
// further away than usual, so it must have a common given name, or two words with capitals.
func fullNameEnd(s string, i int, w *word, f field, wordEnd int) int {
	if f != 0 || w.ordinary() {
		return 0
	}
	given := w.is(givenName)
	if !given && !w.hasUpper() {
		return 0
	}
	if stop := nameEnd(s, i, false); given || stop > wordEnd {
		return stop
	}
	return 0
}
