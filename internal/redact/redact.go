package redact

import (
	"strings"
	"unicode/utf8"
)

// The marks that stand in place of what was found.
const (
	markCPF   = "[CPF]"
	markCNS   = "[CNS]"
	markCNPJ  = "[CNPJ]"
	markCard  = "[CARD]"
	markPhone = "[PHONE]"
	markEmail = "[EMAIL]"
	markBirth = "[BIRTHDATE]"
	markName  = "[NAME]"
)

// Text returns s with every piece of personal data that it can recognise replaced by a mark such as [CPF]; the package
// comment says what it recognises. The result is always valid UTF-8 without NUL, which is what PostgreSQL takes: NUL
// bytes are dropped, and bytes that are no UTF-8 become U+FFFD. Where there is nothing to do it returns s itself and
// allocates nothing. Redacting a second time changes nothing. The time it takes grows with the length of s, never
// faster, so a caller bounds it by cutting s first.
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

// output collects the redacted text. The zero value is ready; nothing is allocated before the first mark.
type output struct {
	buf    strings.Builder
	copied int // s[:copied] is in buf, redacted
}

// mark puts the mark in place of s[start:stop] and of what cannot be seen after it, such as a name's last combining
// accent, and returns where the text goes on.
func (o *output) mark(s string, start, stop int, mark string) int {
	if o.buf.Len() == 0 {
		o.buf.Grow(len(s) + 16)
	}
	o.buf.WriteString(s[o.copied:start])
	o.buf.WriteString(mark)
	for stop < len(s) {
		r, n := decode(s[stop:])
		if plain(r) != 0 {
			break
		}
		stop += n
	}
	o.copied = stop
	return stop
}

func (o *output) text(s string) string {
	if o.copied == 0 {
		return s
	}
	o.buf.WriteString(s[o.copied:])
	return o.buf.String()
}

// markAt returns the length of the mark that begins s, or 0. A mark is never searched: its word would otherwise be
// taken for a field's name ("[PHONE] 12345678") on the second run.
func markAt(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	for _, m := range [...]string{markCPF, markCNS, markCNPJ, markCard, markPhone, markEmail, markBirth, markName} {
		if strings.HasPrefix(s, m) {
			return len(m)
		}
	}
	return 0
}

// searchFields walks over the text once. A word may be a field's name, and then what follows it is the field's value;
// a digit may begin a number that gives itself away.
func searchFields(s string) string {
	var out output
	prev, in, ahead := ' ', noTag, nobody // the character before s[i:], the tag it is in, who may be named next
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
