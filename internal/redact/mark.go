package redact

import "strings"

// The marks. They are made of words of the vocabulary, so that a second run leaves them.
const (
	markWord       = "[palavra]"
	markWords      = "[palavras]"     // next to each other: most names
	markNumber     = "[número]"       // less than eight digits
	markLongNumber = "[número longo]" // also in groups: CPF, CNS, cards, telephones
	markDate       = "[data]"         // with its time
	markCode       = "[código]"       // letters and digits: UUIDs, base64, CNPJ with letters
)

// group returns the last of the units that one mark stands for, and the mark: for the words of a name, the
// groups of a number, a date with its time.
func (m *masker) group(first int) (last int, mark string) {
	if last, is := m.dateEnd(first); is {
		return last, markDate
	}
	const long = 8 // digits of a document, a card or a telephone
	digits, letters := 0, false
	for last = first; ; last++ {
		digits += m.units[last].digits
		letters = letters || m.units[last].kind != unknownNumber
		if last+1 == len(m.units) || !m.isSame(last, digits == 0) {
			break
		}
	}
	switch {
	case digits == 0 && first == last:
		return last, markWord
	case digits == 0:
		return last, markWords
	case letters:
		return last, markCode
	case digits >= long:
		return last, markLongNumber
	default:
		return last, markNumber
	}
}

// isSame reports whether the unit behind one may belong to the same name or number. A word belongs to a
// number if nothing like a blank stands between the two.
func (m *masker) isSame(i int, isName bool) bool {
	between, next := m.between(i), m.units[i+1].kind
	switch {
	case isName:
		return next == unknownWord && only(between, " .-'")
	case next == kept, next == unknownWord && strings.ContainsAny(between, " ,"):
		return false
	}
	return only(between, " .,-/:()") || between == "–"
}

// dateEnd returns the unit in which a date ends that begins with one.
func (m *masker) dateEnd(first int) (last int, is bool) {
	start := m.units[first].start
	length := dateLength(m.source[start:])
	last = first
	for last+1 < len(m.units) && m.units[last+1].start < start+length && m.units[last+1].kind != kept {
		last++
	}
	return last, length > 0
}

const digits = "0123456789"

// dateLength returns the length of the date with its time that a text begins with, 0 for none: 31/01/1980,
// 1.2.80, 2024-11-21T10:30:00-03:00, 21/11/2024 10:30, and no address such as 10.0.15.3.
func dateLength(text string) int {
	const separators = "/.-"
	date := text[:len(text)-len(strings.TrimLeft(text, digits+separators))]
	date = strings.TrimRight(date, separators)
	parts := strings.FieldsFunc(date, func(r rune) bool { return strings.ContainsRune(separators, r) })
	if len(parts) != 3 {
		return 0
	}
	first, month, last := len(parts[0]), len(parts[1]), len(parts[2])
	endsInYear := first <= 2 && (last == 2 || last == 4)
	if month > 2 || !endsInYear && (first != 4 || last > 2) {
		return 0
	}
	rest := text[len(date):]
	time := strings.TrimLeft(rest, " T")
	hour, _, isTime := strings.Cut(time, ":")
	if isTime && len(rest)-len(time) == 1 && strings.Trim(hour, digits) == "" {
		rest = strings.TrimLeft(time, digits+":.,+-Z")
	}
	return len(text) - len(rest)
}
