package redact

import (
	"strings"
	"unicode/utf8"
)

// decode reads one character and undoes its escapes: percent signs around backslashes around HTML entities, the order in which
// programs add them. It returns the number of bytes read, at least 1 of a text that is not empty. An invalid escape is read as
// its first character.
func decode(s string) (rune, int) {
	r, n := unslashed(s)
	if r == '&' {
		if e, taken := entity(s[n:]); taken > 0 {
			return e, n + taken
		}
	}
	return r, n
}

// unslashed reads one character and undoes percent and backslash escapes.
func unslashed(s string) (rune, int) {
	r, n := unpercent(s)
	if r == '\\' {
		if e, taken := backslash(s[n:]); taken > 0 {
			return e, n + taken
		}
	}
	return r, n
}

// unpercent reads one character and undoes percent escapes.
func unpercent(s string) (rune, int) {
	if s == "" {
		return end, 0
	}
	if s[0] < utf8.RuneSelf {
		if s[0] == '%' {
			if r, n := percent(s); n > 0 {
				return r, n
			}
		}
		return rune(s[0]), 1
	}
	return utf8.DecodeRuneInString(s)
}

// maxLayers bounds how often one escape may itself have been escaped.
const maxLayers = 4

// percent undoes "%C3%A3", and "%25C3%25A3", which is that escaped once more. The bytes make up one UTF-8 character; a
// byte that does not begin one is taken for Latin-1.
func percent(s string) (rune, int) {
	var raw [utf8.UTFMax]byte
	first, n := percentByte(s)
	if n == 0 {
		return 0, 0
	}
	raw[0] = first
	if first < utf8.RuneSelf {
		return rune(first), n
	}
	taken := n
	for have := 1; have < len(raw) && !utf8.FullRune(raw[:have]); have++ {
		b, n := percentByte(s[taken:])
		if n == 0 || b&0xc0 != 0x80 {
			break
		}
		raw[have], taken = b, taken+n
		if r, size := utf8.DecodeRune(raw[:have+1]); size == have+1 && r != utf8.RuneError {
			return r, taken
		}
	}
	return rune(first), n
}

func percentByte(s string) (byte, int) {
	if s == "" || s[0] != '%' {
		return 0, 0
	}
	i := 1
	for range maxLayers {
		if !strings.HasPrefix(s[i:], "25") || len(s) < i+4 || hex(s[i+2]) < 0 || hex(s[i+3]) < 0 {
			break
		}
		i += 2
	}
	if len(s) < i+2 || hex(s[i]) < 0 || hex(s[i+1]) < 0 {
		return 0, 0
	}
	return byte(hex(s[i])<<4 | hex(s[i+1])), i + 2 //nolint:gosec // two hexadecimal digits are one byte
}

// hex returns the value of a hexadecimal digit, -1 of anything else.
func hex[C byte | rune](c C) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// backslash undoes what JSON and program source write after their first backslash: \u0031, \u{31}, \x31, \n, \" and
// \/, with a few more backslashes if it was written by a program that quotes what another one has quoted.
func backslash(s string) (rune, int) {
	r, i := unpercent(s)
	for more := 1; r == '\\' && more < 1<<maxLayers; more++ {
		var n int
		r, n = unpercent(s[i:])
		i += n
	}
	switch r {
	case 'n', 'r', 't':
		return ' ', i
	case '"', '\'', '/':
		return r, i
	case 'x':
		return hexRune(s, i, 2)
	case 'u':
		if i < len(s) && s[i] == '{' {
			if j := strings.IndexByte(s[i:min(len(s), i+9)], '}'); j > 1 {
				r, n := hexRune(s, i+1, j-1)
				return r, n + min(n, 1)
			}
		}
		return hexRune(s, i, 4)
	}
	return 0, 0
}

// hexRune reads that many hexadecimal digits at s[i:].
func hexRune(s string, i, digits int) (rune, int) {
	var r rune
	for ; digits > 0; digits-- {
		c, n := unpercent(s[i:])
		h := hex(c)
		if h < 0 {
			return 0, 0
		}
		r = r<<4 | rune(h) //nolint:gosec // 0 to 15
		i += n
	}
	return r, i
}

// entity undoes what follows the & of "&#49;", "&#x31;", "&atilde;" and the like, with "amp;" in front for each time it
// was escaped again. The semicolon after a number may be missing, as browsers allow.
func entity(s string) (rune, int) {
	var name [maxEntity]byte
	layers := 0
	for i, n := 0, 0; ; {
		r, taken := unslashed(s[i:])
		i += taken
		switch {
		case r == '#' && n == 0:
			return numbered(s, i)
		case r == ';' && n == 3 && string(name[:n]) == "amp" && layers < maxLayers:
			n = 0
			layers++
			if r, taken := unslashed(s[i:]); !isLetter(r) && r != '#' || taken == 0 {
				return '&', i
			}
		case r == ';':
			if r := named(string(name[:n])); r != 0 {
				return r, i
			}
			return 0, 0
		case n < maxEntity && 'a' <= r|0x20 && r|0x20 <= 'z':
			name[n] = byte(r) //nolint:gosec // an ASCII letter
			n++
		default:
			return 0, 0
		}
	}
}

// numbered reads "49;" or "x31;" at s[i:].
func numbered(s string, i int) (rune, int) {
	c, n := unslashed(s[i:])
	base := 10
	if c|0x20 == 'x' {
		i, base = i+n, 16
		c, n = unslashed(s[i:])
	}
	var r rune
	figures := 0
	for ; figures < 10; figures++ {
		h := hex(c)
		if h < 0 || h >= base {
			break
		}
		if r = r*rune(base) + rune(h); r > utf8.MaxRune { //nolint:gosec // 10 or 16, and 0 to 15
			return 0, 0
		}
		i += n
		c, n = unslashed(s[i:])
	}
	if figures == 0 {
		return 0, 0
	}
	if c == ';' {
		i += n
	}
	return r, i
}

// maxEntity is the length of the longest name in entities.
const maxEntity = len("nonbreakingspace")

// entities are the named characters that stand in numbers, addresses and markup.
var entities = map[string]rune{
	"nbsp": ' ', "ensp": ' ', "emsp": ' ', "thinsp": ' ', "Tab": ' ', "NewLine": ' ', "nonbreakingspace": ' ',
	"period": '.', "middot": '.', "dash": '-', "hyphen": '-', "ndash": '-', "mdash": '-', "minus": '-', "lowbar": '_',
	"sol": '/', "commat": '@', "colon": ':', "equals": '=', "plus": '+', "lpar": '(', "rpar": ')', "lt": '<', "gt": '>',
	"quot": '"', "ldquo": '"', "rdquo": '"', "apos": '\'', "lsquo": '\'', "rsquo": '\'', "ordm": 'o', "ordf": 'o',
	"zwj": 0x200b, "zwnj": 0x200b, "shy": 0x200b, "ZeroWidthSpace": 0x200b, "NoBreak": 0x200b, "lrm": 0x200b, "rlm": 0x200b,
}

// named returns the character of a named entity, of an accented letter without its accent; 0 if it does not know the name.
func named(name string) rune {
	if len(name) > 1 && isLetter(rune(name[0])) {
		switch name[1:] {
		case "acute", "grave", "circ", "tilde", "uml", "cedil", "ring", "slash":
			return rune(name[0])
		}
	}
	return entities[name]
}
