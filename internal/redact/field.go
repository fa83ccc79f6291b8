package redact

import "strings"

// field is the kind of the value that a word announces. A word such as cpfCnpj has several kinds.
type field uint16

const (
	fieldName     field = 1 << iota // a person
	fieldWeakName                   // a person if ":" or the like follows, else perhaps only a role
	fieldTitle                      // "Sra.", "Pac.": a name follows after the full stop
	fieldCPF
	fieldCNS
	fieldCNPJ
	fieldCard
	fieldPhone
	fieldBirth
	fieldLink  // announces nothing, but stands between a field's name and its value: "nome SOCIAL DO paciente"
	fieldAside // the same, before numbers only: "CPF INFORMADO"

	fieldNumbers = fieldCPF | fieldCNS | fieldCNPJ | fieldCard | fieldPhone | fieldBirth
	fieldPerson  = fieldName | fieldWeakName | fieldTitle
)

// fieldValue looks for the value of the field whose name ends at i. It returns its start, its end and its mark, or no mark.
func fieldValue(s string, i int, f field, in tag) (int, int, string) {
	if f&(fieldNumbers|fieldPerson) == 0 || in == closingTag {
		return 0, 0, ""
	}
	if in == openingTag {
		i = tagEnd(s, i)
	}
	if f&fieldNumbers != 0 {
		return numberValue(s, i, f)
	}
	if from, to := nameValue(s, i, f); to > from {
		return from, to, markName
	}
	return 0, 0, ""
}

// listed looks for the next value of a list of quoted values, after the one that ends at i. It returns what fieldValue returns.
func listed(s string, i int, f field) (int, int, string) {
	quote, i := next(s, i)
	if quote != '"' && quote != '\'' {
		return 0, 0, ""
	}
	comma := false
	for range 4 {
		r, after := next(s, i)
		i = after
		switch {
		case r == ',' && !comma:
			comma = true
		case r == quote && comma:
			stop := closed(s, i, quote)
			if stop == 0 || markAt(s[i:]) > 0 {
				return 0, 0, ""
			}
			if _, behind := next(s, stop); isKey(s, behind) {
				return 0, 0, ""
			}
			if f&fieldNumbers != 0 {
				return numberValue(s, i, f)
			}
			return i, stop, markName
		case r != ' ':
			return 0, 0, ""
		}
	}
	return 0, 0, ""
}

// tag is the XML tag that a word is the name of, with or without a prefix (ans:nomeBeneficiario).
type tag int

const (
	noTag tag = iota
	openingTag
	closingTag
)

// after returns the tag of a word after the character r.
func (t tag) after(r rune) tag {
	switch {
	case r == '<':
		return openingTag
	case r == '/' && t == openingTag:
		return closingTag
	case r == ':' || r == '-' || r == '_' || isLetter(r) || isDigit(r):
		return t
	}
	return noTag
}

// tagEnd skips the attributes of a tag, if they end within 120 characters.
func tagEnd(s string, i int) int {
	r, j := next(s, i)
	if r != ' ' && r != '+' {
		return i
	}
	for range 120 {
		start := j
		if r, j = next(s, j); r == '>' {
			return start
		}
	}
	return i
}

// numberValue reads the number that a field's name announced. It needs less proof than a number that stands alone. Up to six
// words that announce nothing may come before it.
func numberValue(s string, i int, f field) (int, int, string) {
	for range 6 {
		i = gap(s, i)
		r, after := next(s, i)
		switch {
		case isDigit(r):
			if g := groupEnd(s, i); f&fieldBirth == 0 && g <= i+2 { // telefone1: ..., CPF 2 = ...
				if r, _ := next(s, g); r == ':' || r == '=' || r == '"' || r == '>' {
					i = g
					continue
				}
			}
			stop, mark := announced(s, i, f)
			return i, stop, mark
		case f&fieldPhone != 0 && (r == '(' || r == '+' && (i == 0 || strings.IndexByte(" \"'>=", s[i-1]) >= 0)):
			if stop := phone(s, i); stop > 0 {
				return i, stop, markPhone
			}
			i = after
		case r == '+': // a blank, as in URLs
			i = after
		case isLetter(r):
			if f&fieldBirth != 0 {
				if stop := date(s, i); stop > 0 {
					return i, stop, markBirth
				}
			}
			w, after := readWord(s, i)
			if w.fields() == 0 {
				return 0, 0, ""
			}
			i = after
		default:
			return 0, 0, ""
		}
	}
	return 0, 0, ""
}

// gap passes over what stands between a field's name and its value, up to a dozen characters of it.
func gap(s string, i int) int {
	for range 12 {
		if markAt(s[i:]) > 0 {
			return i
		}
		r, after := next(s, i)
		switch r {
		case ' ', ':', '=', '"', '\'', '>', '-', '.', '#', '|', '*', '`', '{', '[', '/', ')', ',':
			i = after
		case '(', '+':
			if d, _ := next(s, after); isDigit(d) {
				return i // an area code, a country code
			}
			i = after
		default:
			return i
		}
	}
	return i
}

// announced reads the number at s[i:] as the value of a field of kind f.
func announced(s string, i int, f field) (int, string) {
	if f&fieldBirth != 0 {
		if stop := date(s, i); stop > 0 {
			return stop, markBirth
		}
	}
	if stop, mark := number(s, i, ' '); mark != "" {
		return stop, mark
	}
	d := readDigits(s, i, between)
	for groups := d.groups; groups > 0; groups-- {
		n := d.upto[groups-1]
		switch {
		case f&fieldCPF != 0 && (n == 11 || groups == 1 && 9 <= n && n < 11): // a number loses its leading zeros
			return d.stop[groups-1], markCPF
		case f&fieldCNS != 0 && n == 15:
			return d.stop[groups-1], markCNS
		case f&fieldCNPJ != 0 && (n == 14 || groups == 1 && n == 13):
			return d.stop[groups-1], markCNPJ
		case f&fieldCard != 0 && 13 <= n && n <= 19:
			return d.stop[groups-1], markCard
		}
	}
	if f&fieldCPF != 0 {
		if stop, _ := commaCPF(s, i, &d); stop > 0 {
			return stop, markCPF
		}
	}
	if f&fieldPhone != 0 {
		d := readDigits(s, i, inPhone)
		if stop := d.announcedPhone(); stop > 0 {
			return stop, markPhone
		}
	}
	return 0, ""
}

// dottedBirth returns where "D.N." or "D. N." ends, w being the word before i, or 0.
func dottedBirth(s string, w *word, i int) int {
	if w.n != 1 || w.letters[0]|0x20 != 'd' {
		return 0
	}
	r, i := next(s, i)
	if r != '.' {
		return 0
	}
	if r, after := next(s, i); r == ' ' || r == '+' {
		i = after
	}
	n, i := readWord(s, i)
	if n.n != 1 || n.letters[0]|0x20 != 'n' {
		return 0
	}
	return i
}
