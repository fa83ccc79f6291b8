package redact

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// output is a text of which parts are replaced. Nothing is copied before the first of them.
type output struct {
	source string
	b      strings.Builder
	copied int // source[:copied] is in b
	// cleaned: symbols were removed.
	cleaned bool
}

func (o *output) changed() bool { return o.copied > 0 }

// take returns the text and forgets it.
func (o *output) take() (text string) {
	if text = o.source; o.changed() {
		o.b.WriteString(o.source[o.copied:])
		text = o.b.String()
	}
	*o = output{}
	return text
}

// replace puts a text in the place of a part, which stands behind those replaced before.
func (o *output) replace(from, to int, by string) {
	if !o.changed() {
		o.b.Grow(len(o.source) + len(o.source)/4)
	}
	o.b.WriteString(o.source[o.copied:from])
	o.b.WriteString(by)
	o.copied = to
}

// plain are the ASCII signs that stay. The ampersand and the backslash may begin an escape.
var plain = func() (is [256]bool) {
	for c := ' '; c < 0x7F; c++ {
		is[c] = c != '&' && c != '\\'
	}
	is['\t'], is['\n'], is['\r'] = true, true, true
	return is
}()

// signs leaves the signs between two units, which mostly are plain.
func (o *output) signs(from, to int) {
	for from < to && plain[o.source[from]] {
		from++
	}
	if from < to {
		o.clean(from, to)
	}
}

// clean removes what says something without being a word: symbols such as circled letters, raised digits, and characters that
// cannot be seen.
func (o *output) clean(from, to int) {
	const nowhere = -1
	gone := nowhere // where a symbol stood before
	for at := from; at < to; {
		if plain[o.source[at]] {
			at++
			continue
		}
		size, by, stays := sign(o.source[at:to])
		if !stays {
			if at == gone {
				by = "" // a blank stands for all of them
			}
			o.replace(at, at+size, by)
			gone, o.cleaned = at+size, true
		}
		at += size
	}
}

// others are the signs that stay and are not ASCII.
const others = "\u00a0§ª«°º»–—‘’“”•…→€"

// sign returns the length of the sign that a text begins with, and whether it stays; if not, what stands for it.
func sign(text string) (size int, by string, stays bool) {
	r, size := utf8.DecodeRuneInString(text)
	if r == '&' || r == '\\' {
		if size, r = escape(text); size == 0 {
			return 1, "", true
		}
	}
	switch {
	case r < utf8.RuneSelf && (r >= ' ' && r != 0x7F || r == '\t' || r == '\n' || r == '\r') || strings.ContainsRune(others, r):
		return size, "", true
	case unicode.In(r, unicode.Mn, unicode.Cf):
		return size, "", false
	default:
		return size, " ", false
	}
}

// escape reads an escape with a number, &#64; or \u003c; a size of 0 for none. Others stand for signs that stay.
func escape(text string) (size int, r rune) {
	const longest = len("&#x10FFFF;")
	text = text[:min(len(text), longest)]
	digits, base := "", 10
	switch {
	case strings.HasPrefix(text, "&#"):
		end := strings.IndexByte(text, ';')
		if end < 0 {
			return 0, 0
		}
		if size, digits = end+1, text[2:end]; digits != "" && digits[0]|0x20 == 'x' {
			digits, base = digits[1:], 16
		}
	case strings.HasPrefix(text, `\u`) && len(text) >= 6:
		size, digits, base = 6, text[2:6], 16
	default:
		return 0, 0
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > unicode.MaxRune {
		return 0, 0
	}
	return size, rune(n)
}
