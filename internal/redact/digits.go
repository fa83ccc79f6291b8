package redact

import (
	"slices"
	"unicode/utf8"
)

// maxDigits is one more than the longest number that is looked for, a card's 19 digits, so that a longer one shows.
const maxDigits = 20

// digits is a number as it is written: groups of digits with separators between them.
type digits struct {
	value  [maxDigits]byte // '0' to '9'
	groups int
	upto   [maxDigits]int  // digits up to the end of each group
	before [maxDigits]rune // the separator before each group; of "- " the dash
	stop   [maxDigits]int  // where each group ends in the text
}

// readDigits reads the number at s[i:], at most maxDigits-1 digits of it. A group that reaches beyond that is left out,
// and what comes after it too: every group counted is whole. separators names the characters allowed between groups, up
// to three of them in a row.
func readDigits(s string, i int, separators func(rune) bool) digits {
	var d digits
	n := 0
	for {
		r, after := next(s, i)
		if !isDigit(r) {
			return d
		}
		for isDigit(r) {
			if n == maxDigits-1 {
				return d
			}
			d.value[n] = byte(r) //nolint:gosec // an ASCII digit
			n++
			i = after
			r, after = next(s, i)
		}
		d.upto[d.groups], d.stop[d.groups] = n, i
		d.groups++
		separator := rune(0)
		for range 3 {
			if !separators(r) {
				break
			}
			if r == '+' {
				r = ' ' // as in URLs
			}
			if r != ' ' || separator == 0 {
				separator = r
			}
			i = after
			r, after = next(s, i)
		}
		if separator == 0 {
			return d
		}
		d.before[d.groups] = separator
	}
}

// groupEnd returns where the run of digits at s[i:] ends.
func groupEnd(s string, i int) int {
	for {
		r, after := next(s, i)
		if !isDigit(r) {
			return i
		}
		i = after
	}
}

// between are the separators inside documents' and cards' numbers.
func between(r rune) bool {
	switch r {
	case '.', '-', '/', ' ', '+', '_', utf8.RuneError:
		return true
	}
	return false
}

// breaks returns the set of positions at which the first groups of the number are separated, as bits.
func (d *digits) breaks(groups int) uint32 {
	var set uint32
	for _, n := range d.upto[:groups-1] {
		set |= 1 << n
	}
	return set
}

// at makes a set of positions for comparison with breaks.
func at(positions ...int) uint32 {
	var set uint32
	for _, p := range positions {
		set |= 1 << p
	}
	return set
}

var (
	cpfBreaks  = at(3, 6, 9)
	cnpjBreaks = at(2, 5, 8, 12)
	cnsBreaks  = [...]uint32{at(3, 7, 11), at(3, 6, 9, 12), at(4, 8, 12), at(5, 10)}
	cardBreaks = at(4, 8, 12, 16)
	amexBreaks = at(4, 10) // Diners has the same
	eachAlone  = func(n int) uint32 { return 1<<n - 2 }
)

// number recognises the document, card or telephone number at s[i:] by itself, without a field's name; prev is the
// character before it. It returns where it ends and its mark, or no mark.
func number(s string, i int, prev rune) (int, string) {
	d := readDigits(s, i, between)
	for groups := d.groups; groups > 0; groups-- {
		n, breaks := d.upto[groups-1], d.breaks(groups)
		value := d.value[:n]
		each := n > 1 && breaks == eachAlone(n)
		mark := ""
		switch {
		case n == 11 && (breaks&^cpfBreaks == 0 && (breaks != at(3) && breaks != at(6) || d.before[1] == '.') || each) && (d.unmistakableCPF(breaks) || validCPF(value)):
			mark = markCPF
		case n == 14 && (breaks&^cnpjBreaks == 0 || each) && (d.unmistakableCNPJ(breaks) || validCNPJ(value)):
			mark = markCNPJ
		case n == 15 && (breaks == 0 || slices.Contains(cnsBreaks[:], breaks) || each) && validCNS(value):
			mark = markCNS
		case n >= 13 && (breaks&^cardBreaks == 0 || breaks&^amexBreaks == 0 || each) && validCard(value):
			if groups > 1 || !looksLikeKey(value) {
				mark = markCard
			}
		}
		if mark != "" {
			return d.stop[groups-1], mark
		}
	}
	if stop, valid := commaCPF(s, i, &d); valid {
		return stop, markCPF
	}
	if stop := d.phone(prev); stop > 0 {
		return stop, markPhone
	}
	if stop := letteredCNPJ(s, i, prev); stop > 0 {
		return stop, markCNPJ
	}
	return 0, ""
}

// document reports whether s[i:] is a number other than a telephone's: in a URL a blank before one looks like the + of a
// country.
func document(s string, i int) bool {
	_, mark := number(s, i, ' ')
	return mark != "" && mark != markPhone
}

// commaCPF recognises 999,999,999-99, d being what was read of it up to a comma, and returns where it ends, or 0, and
// whether its check digits are right: a list of codes has that form too.
func commaCPF(s string, i int, d *digits) (int, bool) {
	if d.groups > 3 || d.upto[0] != 3 {
		return 0, false
	}
	if r, _ := next(s, d.stop[d.groups-1]); r != ',' {
		return 0, false
	}
	c := readDigits(s, i, func(r rune) bool { return r == ',' || between(r) })
	if c.groups < 4 || c.breaks(4) != cpfBreaks {
		return 0, false
	}
	return c.stop[3], validCPF(c.value[:11])
}

// unmistakableCPF reports whether the form alone shows a CPF: 999.999.999-99 is a person's even with a typing error. With equal
// separators it might be an IP address or a list of codes; then the check digits decide.
func (d *digits) unmistakableCPF(breaks uint32) bool {
	last := d.before[3]
	return breaks == cpfBreaks && (last == '-' || last == '/' || last == ' ' || last == '_') &&
		(d.before[1] != last || d.before[2] != last)
}

func (d *digits) unmistakableCNPJ(breaks uint32) bool {
	return breaks == cnpjBreaks && d.before[3] == '/'
}

// wordCNPJ is letteredCNPJ for a number that begins with the letters up to after. It rejects most words quickly: a blank follows.
func wordCNPJ(s string, i, after int, prev rune) int {
	if r, _ := next(s, after); !isDigit(r) && r != '.' {
		return 0
	}
	return letteredCNPJ(s, i, prev)
}

// letteredCNPJ recognises the CNPJ with letters at s[i:], 12.ABC.345/01DE-35, and returns where it ends, or 0. Without
// its punctuation it has to be in capitals, with a digit among its letters and right check digits.
func letteredCNPJ(s string, i int, prev rune) int {
	if isDigit(prev) || isLetter(prev) || prev == '_' {
		return 0
	}
	var d [14]byte
	n, letters, figures, small, punctuation := 0, 0, 0, false, 0
	for n < len(d) {
		r, after := next(s, i)
		if n > 0 && punctuation < 4 && r == rune("./-"[min(max(punctuation-1, 0), 2)]) && cnpjBreaks&(1<<n) != 0 {
			punctuation++
			r, after = next(s, after)
		}
		switch {
		case isDigit(r):
			if n < 12 {
				figures++
			}
		case r < 0x80 && isLetter(r) && n < 12:
			small = small || !isUpper(r)
			r &^= 0x20
			letters++
		default:
			return 0
		}
		d[n] = byte(r) //nolint:gosec // an ASCII letter or digit
		n, i = n+1, after
	}
	if r, _ := next(s, i); isDigit(r) || isLetter(r) || r == '_' || letters == 0 {
		return 0
	}
	if punctuation == 4 || punctuation == 0 && !small && figures > 0 && validCNPJ(d[:]) {
		return i
	}
	return 0
}
