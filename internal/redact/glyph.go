package redact

import (
	"unicode"
	"unicode/utf8"
)

// end stands for "no more text". It is no character.
const end rune = -1

// next returns the character at s[i:] as a person reads it, and where the next one begins. It undoes percent, HTML and JSON
// escapes, full-width forms, other scripts' digits, accents and typographic dashes, and skips invisible characters. It keeps
// the case of letters, because names need it.
func next(s string, i int) (rune, int) {
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf && special[c] == 0 {
			return rune(c), i + 1
		}
		r, n := decode(s[i:])
		i += n
		if r = plain(r); r != 0 {
			return r, i
		}
	}
	return end, i
}

// special marks the ASCII characters that may be more than themselves. Of the control characters only white space can
// be seen.
var special = func() (t [utf8.RuneSelf]byte) {
	for c := range 0x20 {
		t[c] = 1
	}
	t[0x7f], t['%'], t['&'], t['\\'] = 1, 1, 1, 1
	return t
}()

// plain reduces a character to what it is read as: ASCII where there is a likeness, 0 where nothing is to be seen.
func plain(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r' || r == '\v' || r == '\f':
		return ' '
	case r < 0x20 || r == 0x7f:
		return 0
	case r < 0x80:
		return r
	case r == 0xa0 || r == 0x85:
		return ' '
	case r == 0xad:
		return 0 // soft hyphen
	case r < 0xa0:
		return 0
	case r == 0xb7:
		return '.'
	case r == 0xba || r == 0xaa: // "nº", "1ª"
		return 'o'
	case r < 0x180:
		return latin[r-0xa0]
	case 0x1e00 <= r && r < 0x1f00: // further accented Latin letters stay
		return r
	case 0xff01 <= r && r <= 0xff5e:
		return r - 0xff01 + '!'
	}
	switch r {
	case 0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212, 0x2043, 0xfe58, 0xfe63:
		return '-'
	case 0x2024, 0x2022, 0x2027, 0x3002, 0xff61, 0xfe52, 0x22c5:
		return '.'
	case 0x2044, 0x2215, 0x29f8:
		return '/'
	case 0x2018, 0x2019, 0x201b, 0x02bc, 0x2032:
		return '\''
	case 0x201c, 0x201d, 0x201e, 0x00ab, 0x00bb, 0x2033:
		return '"'
	case 0xfe6b:
		return '@'
	case 0x3000:
		return ' '
	}
	switch {
	case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Cc): // zero-width, bidi controls, combining accents
		return 0
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0: // fillers: letters by name, blank on the screen
		return 0
	case unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp):
		return ' '
	case unicode.IsDigit(r):
		return digitOf(r)
	}
	return r
}

// digitOf returns the ASCII digit of another script's digit. Unicode keeps the ten digits of a script together.
func digitOf(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) { //nolint:gosec // Unicode ends at 0x10ffff
			return '0' + (r-rune(t.Lo))%10 //nolint:gosec // the same
		}
	}
	return r
}

// latin holds the letters U+00A0 to U+017F without their accents; what is no letter stands for itself.
var latin = func() (t [0x180 - 0xa0]rune) {
	for i := range t {
		t[i] = rune(0xa0 + i)
	}
	letters := []rune("AAAAAA\u00c6CEEEEIIIIDNOOOOO\u00d7OUUUUYTsaaaaaa\u00e6ceeeeiiiidnooooo\u00f7ouuuuyty" +
		"AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs")
	copy(t[0xc0-0xa0:], letters)
	t[0xab-0xa0], t[0xbb-0xa0], t[0xb4-0xa0] = '"', '"', '\''
	return t
}()

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isLetter reports whether r is a letter. The replacement character is one: it stands for an accented letter of another encoding.
func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return r == utf8.RuneError || unicode.IsLetter(r)
}

func isUpper(r rune) bool {
	if r < utf8.RuneSelf {
		return 'A' <= r && r <= 'Z'
	}
	return unicode.IsUpper(r)
}
