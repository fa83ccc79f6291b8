package redact

import (
	"strings"
	"unicode/utf8"
)

// Text returns s with a mark such as [CPF] in place of each piece of personal data that it recognises; see the package comment.
//
// The result is valid UTF-8 without NUL, as PostgreSQL requires: NUL bytes are dropped, and bytes that are no UTF-8 become
// U+FFFD. If there is nothing to do, Text returns s itself and allocates nothing. A second run changes nothing. The time grows
// linearly with the length of s, so callers bound it by cutting s first.
func Text(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	// Addresses go first: the other searches then see a mark where a name or a number is only part of an address.
	return searchFields(searchAddresses(s))
}

// searchFields walks over the text once. A word may be a field's name, with its value after it. A digit may begin a number that
// is recognised by its form.
func searchFields(s string) string {
	var out output
	prev, in, ahead := ' ', noTag, noName // the character before s[i:], the tag it is in, the name that may come
	for i := 0; i < len(s); {
		if n := markAt(s[i:]); n > 0 {
			ahead = afterMark(s[i : i+n])
			i, prev, in = i+n, ']', noTag
			continue
		}
		r, after := next(s, i)
		start, stop, mark := i, 0, ""
		switch {
		case isDigit(r):
			if stop, mark = number(s, i, prev); mark == "" {
				after = groupEnd(s, i)
			}
			ahead = ahead.afterNumber()
		case r == '(' || r == '+' && !isDigit(prev) && !isLetter(prev): // not the blank of a URL
			if stop = phone(s, i); stop > 0 && (r != '+' || !document(s, after)) {
				mark = markPhone
			}
			ahead = ahead.after(r)
		case isLetter(r):
			var w word
			w, after = readWord(s, i)
			f := w.fields()
			if stop := dottedBirth(s, &w, after); stop > 0 {
				f, after = fieldBirth, stop
			}
			start, stop, mark = fieldValue(s, after, f, in)
			for more := mark != ""; more; { // "nomes": ["Maria", "João"]
				at, last, another := listed(s, stop, f)
				if more = another != ""; more {
					out.mark(s, start, stop, mark)
					start, stop, mark = at, last, another
				}
			}
			if mark == "" && ahead == fullName {
				if stop = fullNameEnd(s, i, &w, f, after); stop > 0 {
					start, mark = i, markName
				}
			}
			if mark == "" {
				if stop = wordCNPJ(s, i, after, prev); stop > 0 {
					start, mark = i, markCNPJ
				}
			}
			ahead = ahead.afterWord(&w, f, in)
		default:
			ahead = ahead.after(r)
		}
		if mark != "" {
			after, r = out.mark(s, start, stop, mark), ']'
			ahead = afterMark(mark)
		}
		i, prev, in = after, r, in.after(r)
	}
	return out.text(s)
}
