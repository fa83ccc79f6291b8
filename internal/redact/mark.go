package redact

import (
	"regexp"
	"strings"
)

// The marks. They are made of words of the vocabulary, so that a second run leaves them.
const (
	markWord       = "[palavra]"
	markWords      = "[palavras]"
	markNumber     = "[número]"
	markLongNumber = "[número longo]"
	markDate       = "[data]"
	markCode       = "[código]"
)

// group returns the last of the units that one mark stands for, and the mark: for the words of a name, the
// groups of a number, a date with its time.
func (m *masker) group(first int) (last int, mark string) {
	if m.units[first].kind == unknownWord {
		return m.groupWords(first)
	}
	if last, is := m.dateEnd(first); is {
		return last, markDate
	}
	const long = 8 // digits of a document, a card or a telephone
	digits, letters := 0, false
	for last = first; ; last++ {
		digits += m.units[last].digits
		letters = letters || m.units[last].kind != unknownNumber
		if last+1 == len(m.units) || m.units[last+1].kind == kept || !m.isSameNumber(last) {
			break
		}
	}
	switch {
	case letters:
		return last, markCode
	case digits >= long:
		return last, markLongNumber
	default:
		return last, markNumber
	}
}

func (m *masker) groupWords(first int) (last int, mark string) {
	last = first
	for last+1 < len(m.units) && m.units[last+1].kind == unknownWord && only(m.between(last), " .-'") {
		last++
	}
	if first == last {
		return last, markWord
	}
	return last, markWords
}

// isSameNumber reports whether the unit behind one may belong to the same number. A word does if nothing like
// a blank stands between the two.
func (m *masker) isSameNumber(i int) bool {
	between := m.between(i)
	if m.units[i+1].kind == unknownWord && strings.ContainsAny(between, " ,") {
		return false
	}
	return only(between, " .,-/:()") || between == "–"
}

// date is a date with its time, and no address such as 10.0.15.3.
var date = regexp.MustCompile(`^((?:\d\d?[/.-]\d\d?[/.-](?:\d{4}|\d\d)|\d{4}[/.-]\d\d?[/.-]\d\d?)` +
	`(?:[ T]\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?)` +
	`(?:$|[^\w/.-]|[/.-](?:$|\D))`)

// dateEnd returns the unit in which a date ends that begins with one: 31/01/1980, 1.2.80,
// 2024-11-21T10:30:00-03:00, 21/11/2024 10:30.
func (m *masker) dateEnd(first int) (last int, is bool) {
	const longest = 48
	start := m.units[first].start
	found := date.FindStringSubmatchIndex(m.source[start:min(len(m.source), start+longest)])
	if found == nil {
		return 0, false
	}
	last = first
	for last+1 < len(m.units) && m.units[last+1].start < start+found[3] && m.units[last+1].kind != kept {
		last++
	}
	return last, true
}
