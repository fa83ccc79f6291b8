package redact

import "strings"

// searchAddresses replaces e-mail addresses. An address begins where the run of its characters begins, so one walk
// finds them all, however long the run is.
func searchAddresses(s string) string {
	// An @ can be itself, escaped, or U+FF20 and U+FE6B, whose first byte in UTF-8 is 0xef.
	if strings.IndexByte(s, '@') < 0 && strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '&') < 0 &&
		strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, 0xef) < 0 {
		return s
	}
	var out output
	start := -1                // of the local part that may end at the next @
	quote, afterQuote := -1, 0 // the last one, and what follows it
	quoted := false            // start is that of a local part in quotes, which has just ended
	for i := 0; i < len(s); {
		r, after := next(s, i)
		if quoted && r != '@' {
			start = -1
		}
		quoted = false
		switch {
		case r == '"':
			start = -1
			if quote >= 0 && i-quote <= maxQuoted {
				if first, _ := next(s, afterQuote); isLetter(first) || isDigit(first) {
					start, quoted = quote, true
				}
			}
			quote, afterQuote = i, after
		case r == '@' && start >= 0:
			if stop := domain(s, after); stop > 0 {
				after = out.mark(s, start, stop, markEmail)
			}
			start = -1
		case !isLocal(r):
			start = -1
		case start < 0:
			start = i
		}
		i = after
	}
	return out.text(s)
}

// maxQuoted is the length of the longest local part, 64 characters, with room for escapes.
const maxQuoted = 200

// isLocal reports whether r is in unquoted local parts in practice. The other characters that RFC 5322 allows (= / ? {) stand
// around addresses far more often than in them.
func isLocal(r rune) bool {
	switch r {
	case '.', '_', '-', '+', '%', '\'', '~':
		return true
	}
	return isLetter(r) || isDigit(r)
}

// domain returns the end of the domain at s[i:], or 0. One dot is the least: analyze-retry@host is a worker's name.
func domain(s string, i int) int {
	stop, dots, label := 0, 0, 0
	for {
		r, after := next(s, i)
		switch {
		case isLetter(r) || isDigit(r):
			label++
			if dots > 0 && label >= 2 {
				stop = after
			}
		case r == '-' && label > 0:
			label++
		case r == '.' && label > 0:
			dots, label = dots+1, 0
		default:
			return stop
		}
		i = after
	}
}
