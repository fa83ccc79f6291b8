package errtext

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// MaxBytes is how much of an error text is read. What an insurer's system says about the error stands at the
// beginning; a stack trace behind it must not cost unbounded time.
const MaxBytes = 64 << 10

// Normalise returns the beginning of a text as a person would read it: valid UTF-8 in NFC, entities and
// escapes as their letters, narrow letters, without what cannot be seen, and with letters that were lost on
// the way where one known word alone fits. Plain ASCII without entities and escapes stays as it is.
func Normalise(text string) string {
	text = text[:min(len(text), MaxBytes)]
	if isPlain(text) {
		return text
	}
	if !utf8.ValidString(text) {
		text = readBytes(text)
	}
	const wrapped = 8 // XML in JSON in XML
	for range wrapped {
		once := text
		if strings.Contains(once, "&") {
			once = html.UnescapeString(once)
		}
		if strings.Contains(once, `\`) {
			once = unescape(once)
		}
		if strings.Contains(once, "Ã") || strings.Contains(once, "Â") {
			once = misread(once)
		}
		if !isLatin(once) {
			once = visible(once)
		}
		if once == text {
			break
		}
		text = once
	}
	if strings.Contains(text, "?") || strings.Contains(text, "\uFFFD") {
		text = known().restore(text)
	}
	return text
}

// isLatin reports whether a text has no other letters than those of Latin-1, which are narrow and in NFC.
func isLatin(text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == 0, c >= utf8.RuneSelf && c != 0xC3 && (c != 0xC2 || text[i+1] == 0xAD):
			return false
		case c >= utf8.RuneSelf:
			i++
		}
	}
	return true
}

// visible returns a text in NFC, its letters narrow, without what cannot be seen.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == 0 || r == '\u00AD' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, width.Fold.String(norm.NFC.String(text)))
}

// isPlain reports whether a text is ASCII and has nothing that stands for something else.
func isPlain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= utf8.RuneSelf, c == 0, c == '&', c == '\\':
			return false
		case c == '?' && i > 0 && i+1 < len(text) && kinds[text[i-1]] > digit && text[i+1] != ' ':
			return false
		}
	}
	return true
}

// readBytes reads the bytes that are no UTF-8 as Windows-1252.
func readBytes(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			r = charmap.Windows1252.DecodeByte(text[0])
		}
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String()
}

// misread reads what was UTF-8, and was read as Latin-1 or Windows-1252, as what it was: "Ã§" is "ç".
func misread(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == 'Ã' || r == 'Â' {
			next, more := utf8.DecodeRuneInString(text[size:])
			c, is := charmap.Windows1252.EncodeRune(next)
			if next >= 0x80 && next <= 0xBF {
				c, is = byte(next), true
			}
			if is && c >= 0x80 && c <= 0xBF {
				r, size = (r-0xC0)<<6|rune(c&0x3F), size+more
			}
		}
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String()
}

// unescape reads the escapes of JSON and of logs, however often they were escaped themselves.
func unescape(text string) string {
	var b strings.Builder
	for {
		before, rest, is := strings.Cut(text, `\`)
		b.WriteString(before)
		if !is {
			return b.String()
		}
		behind := strings.TrimLeft(rest, `\`)
		size, r := escape(behind)
		if size == 0 {
			b.WriteString(text[len(before) : len(text)-len(behind)])
		} else {
			b.WriteRune(r)
		}
		text = behind[size:]
	}
}

// escape reads what stands behind a backslash; a size of 0 is no escape.
func escape(rest string) (size int, r rune) {
	if rest == "" {
		return 0, 0
	}
	switch c := rest[0]; c {
	case 'n':
		return 1, '\n'
	case 'r', 't':
		if len(rest) > 1 && kinds[rest[1]] == lower { // C:\temp
			return 0, 0
		}
		return 1, ' '
	case '"', '/', '\'':
		return 1, rune(c)
	case 'u', 'x':
		size = map[byte]int{'u': 5, 'x': 3}[c]
		n, err := strconv.ParseUint(rest[1:max(1, min(size, len(rest)))], 16, 32)
		if err == nil && len(rest) >= size {
			return size, rune(n)
		}
	}
	return 0, 0
}

// restore fills in letters that were lost, "N\uFFFDO" and "BENEFICI?RIO", where a word of the vocabulary
// fits. The letter comes back without its accent.
func (k *knowledge) restore(text string) string {
	const most = 200 // words
	var b strings.Builder
	done := 0
	for at, n := 0, 0; n < most; n++ {
		lost := strings.IndexAny(text[at:], "\uFFFD?")
		if lost < 0 {
			break
		}
		from, to := at+lost, at+lost
		for from > done && isLetter(text[from-1]) {
			from--
		}
		for to < len(text) && (isLetter(text[to]) || text[to] == '?') {
			to++
		}
		at = to
		whole := strings.TrimRight(text[from:to], "?") // what ends in one is a question
		if word, is := k.fitting(whole); is && !mayBeName(whole) && !strings.HasPrefix(whole, "?") {
			b.WriteString(text[done:from] + word)
			done = from + len(whole)
		}
	}
	return b.String() + text[done:]
}

// mayBeName reports whether a word with lost letters is too short to know that it is none: MAR?A.
func mayBeName(word string) bool {
	const short = 5 // letters
	plain := strings.ReplaceAll(word, "\uFFFD", "?")
	return len(plain) <= short && !strings.EqualFold(plain, "n?o")
}

// isLetter reports whether a byte belongs to a letter: one of ASCII, or of a longer one.
func isLetter(c byte) bool { return kinds[c] > digit || c >= utf8.RuneSelf }

// fitting returns the word of the vocabulary that fits a word with lost letters.
func (k *knowledge) fitting(word string) (string, bool) {
	const most, few = 40, 3 // letters
	word = strings.ReplaceAll(word, "\uFFFD", "?")
	lost := strings.IndexByte(word, '?')
	switch {
	case len(word) > most:
	case lost < 0:
		return word, len(word) > 1 && k.find(hashOf(word)).isKept
	case strings.Count(word, "?") <= few:
		for _, letter := range []string{"a", "c", "e", "i", "o", "u", ""} {
			tried := letter
			if lost > 0 && kinds[word[lost-1]] == upper {
				tried = strings.ToUpper(letter)
			}
			if fits, is := k.fitting(word[:lost] + tried + word[lost+1:]); is {
				return fits, true
			}
		}
	}
	return "", false
}
