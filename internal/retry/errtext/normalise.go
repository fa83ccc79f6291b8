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
	const wrapped = 8 // XML in JSON in XML
	for range wrapped {
		once := decode(html.UnescapeString(text))
		if once == text {
			break
		}
		text = once
	}
	if strings.Contains(text, "?") || strings.Contains(text, "\uFFFD") {
		return known().restore(text)
	}
	return text
}

// decode reads each character of a text as what it stands for, in NFC and narrow.
func decode(text string) string {
	var b strings.Builder
	done, isWide := 0, false
	for at := 0; at < len(text); {
		if c := text[at]; c-1 < utf8.RuneSelf-1 && c != '\\' {
			at++
			continue
		}
		r, size, isOther := character(text[at:])
		if isOther {
			b.WriteString(text[done:at])
			if done = at + size; r != 0 {
				b.WriteRune(r)
			}
		}
		isWide = isWide || r > unicode.MaxLatin1
		at += size
	}
	if done > 0 {
		text = b.String() + text[done:]
	}
	if isWide { // the letters of Latin-1 are narrow and in NFC
		text = width.Fold.String(norm.NFC.String(text))
	}
	return text
}

// character reads what a text begins with, and reports whether that stands for another character: a byte
// that is no UTF-8 for one of Windows-1252, an escape of JSON or a log for its letter, however often it was
// escaped itself, and "Ã§" for "ç", which was UTF-8, and was read as something else. 0 cannot be seen.
func character(text string) (r rune, size int, isOther bool) {
	r, size = utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError && size == 1:
		return charmap.Windows1252.DecodeByte(text[0]), 1, true
	case r == '\\':
		behind := strings.TrimLeft(text, `\`)
		if letter, length := escape(behind); length > 0 {
			return letter, len(text) - len(behind) + length, true
		}
		return r, len(text) - len(behind), false
	case r == 'Ã' || r == 'Â':
		next, more := utf8.DecodeRuneInString(text[size:])
		c, _ := charmap.Windows1252.EncodeRune(next)
		if next <= 0xBF { // Latin-1
			c = byte(next)
		}
		if c >= 0x80 && c <= 0xBF {
			return (r-'À')<<6 | rune(c&0x3F), size + more, true
		}
	case unicode.Is(unicode.Zs, r): // a blank that does not break a line
		return ' ', size, true
	case r == 0, unicode.Is(unicode.Cf, r):
		return 0, size, true
	}
	return r, size, false
}

// escape reads what stands behind a backslash; a size of 0 is no escape.
func escape(rest string) (r rune, size int) {
	if rest == "" {
		return 0, 0
	}
	switch c := rest[0]; c {
	case 'n': // and the tabs behind it: \n\tat a.b.C
		behind := rest[1:]
		for strings.HasPrefix(behind, `\`) {
			next, isTab := strings.CutPrefix(strings.TrimLeft(behind, `\`), "t")
			if !isTab {
				break
			}
			behind = next
		}
		return '\n', len(rest) - len(behind)
	case 'r', 't':
		if len(rest) == 1 || kinds[rest[1]] != lower { // C:\temp
			return ' ', 1
		}
	case '"', '/', '\'':
		return rune(c), 1
	case 'u', 'x':
		size = map[byte]int{'u': 5, 'x': 3}[c]
		n, err := strconv.ParseUint(rest[1:max(1, min(size, len(rest)))], 16, 32)
		if err == nil && len(rest) >= size {
			return rune(n), size
		}
	}
	return 0, 0
}

// restore fills in letters that were lost, "N\uFFFDO" and "BENEFICI?RIO", where a word of the vocabulary
// fits. The letter comes back without its accent.
func (k *knowledge) restore(text string) string {
	const most, short = 200, 5 // words, and letters of one that may be a name: MAR?A
	var b strings.Builder
	done := 0
	for at, n := 0, 0; at < len(text) && n < most; at++ {
		if text[at] != '?' && !strings.HasPrefix(text[at:], "\uFFFD") {
			continue
		}
		n++
		from := at
		for from > done && isLetter(text[from-1]) {
			from--
		}
		for at < len(text) && (isLetter(text[at]) || text[at] == '?') {
			at++
		}
		whole := strings.TrimRight(text[from:at], "?") // what ends in one is a question
		word := strings.ReplaceAll(whole, "\uFFFD", "?")
		fits, is := k.fitting(word)
		if is && (len(word) > short || strings.EqualFold(word, "n?o")) {
			b.WriteString(text[done:from] + fits)
			done = from + len(whole)
		}
	}
	return b.String() + text[done:]
}

// isLetter reports whether a byte belongs to a letter: one of ASCII, or of a longer one.
func isLetter(c byte) bool { return kinds[c] > digit || c >= utf8.RuneSelf }

// fitting returns the word of the vocabulary that fits a word in which "?" are lost letters.
func (k *knowledge) fitting(word string) (string, bool) {
	const most, few = 40, 3 // letters
	before, behind, isLost := strings.Cut(word, "?")
	if !isLost {
		return word, entries.find(hashOf(word)).roles&roleKept != 0
	}
	if len(word) > most || strings.Count(word, "?") > few {
		return "", false
	}
	for letter := range strings.SplitSeq("a c e i o u ", " ") { // none: "servi??o"
		if before != "" && kinds[before[len(before)-1]] == upper {
			letter = strings.ToUpper(letter)
		}
		if fits, is := k.fitting(before + letter + behind); is {
			return fits, true
		}
	}
	return "", false
}
