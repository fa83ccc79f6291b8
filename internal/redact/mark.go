package redact

import "strings"

// The marks. They are made of words of the vocabulary, so that a second run leaves them.
const (
	markWord       = "[palavra]"
	markWords      = "[palavras]"
	markNumber     = "[número]"
	markLongNumber = "[número longo]"
	markDate       = "[data]"
	markCode       = "[código]"
)

// longNumber is how many digits a document, a card or a telephone has at least.
const longNumber = 8

// group returns the last of the units that one mark stands for, and the mark: for the words of a name, the groups of a number,
// a date with its time.
func (m *masker) group(first int) (last int, mark string) {
	u := &m.units[first]
	if u.kind == unknownWord {
		for last = first; last+1 < len(m.units) && m.units[last+1].kind == unknownWord && only(m.between(last), inName); {
			last++
		}
		if first == last {
			return last, markWord
		}
		return last, markWords
	}
	if n := dateLength(m.text.Source[u.start:]); n > 0 {
		return m.dateEnd(first, u.start+n), markDate
	}
	digits, letters := u.digits, u.kind == unknownCode
	for last = first; last+1 < len(m.units); last++ {
		next := &m.units[last+1]
		if next.kind == kept || !m.sameNumber(last) {
			break
		}
		digits, letters = digits+next.digits, letters || next.kind != unknownNumber
	}
	switch {
	case letters:
		return last, markCode
	case digits >= longNumber:
		return last, markLongNumber
	default:
		return last, markNumber
	}
}

// sameNumber reports whether the unit behind one may belong to the same number. A word does if nothing like a blank stands
// between the two.
func (m *masker) sameNumber(i int) bool {
	between := m.between(i)
	if m.units[i+1].kind == unknownWord && strings.ContainsAny(between, " ,") {
		return false
	}
	return only(between, betweenNumbers) || between == "–"
}

// dateLength returns the length of the date that a text begins with, 0 for none: 31/01/1980, 1.2.80, 1980-01-31.
func dateLength(text string) int {
	var sizes [3]int
	at := 0
	for i := range sizes {
		from := at
		for at < len(text) && text[at] >= '0' && text[at] <= '9' {
			at++
		}
		sizes[i] = at - from
		if i == len(sizes)-1 {
			break
		}
		if at == len(text) || strings.IndexByte("/.-", text[at]) < 0 {
			return 0
		}
		at++
	}
	if at+1 < len(text) && text[at] == text[at-sizes[2]-1] && text[at+1] >= '0' && text[at+1] <= '9' {
		return 0 // an address: 10.0.15.3
	}
	short := func(n int) bool { return n == 1 || n == 2 }
	dayFirst := short(sizes[0]) && (sizes[2] == 2 || sizes[2] == 4)
	if short(sizes[1]) && (dayFirst || sizes[0] == 4 && short(sizes[2])) {
		return at
	}
	return 0
}

// dateEnd returns the unit in which a date ends, with its time: 2024-11-21T10:30:00-03:00, 21/11/2024 10:30.
func (m *masker) dateEnd(first int, end int) (last int) {
	for last = first; last+1 < len(m.units) && m.units[last].end < end; {
		last++
	}
	for ; last+1 < len(m.units) && m.units[last+1].kind != kept; last++ {
		next := &m.units[last+1]
		time := m.between(last) == " " && next.digits <= 2 && strings.HasPrefix(m.text.Source[next.end:], ":")
		if next.kind == unknownWord || !time && (next.start-m.units[last].end != 1 || strings.IndexByte(":.+-", m.text.Source[m.units[last].end]) < 0) {
			break
		}
	}
	return last
}
