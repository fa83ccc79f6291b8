package redact

import "strings"

// field says what the value after a word is. A word may be of several kinds, "cpfCnpj" for one.
type field uint16

const (
	fieldName     field = 1 << iota // a person
	fieldWeakName                   // a person where ":" or the like follows; else it may be anybody's role
	fieldTitle                      // "Sra.", "Pac.": a name follows after the full stop
	fieldCPF
	fieldCNS
	fieldCNPJ
	fieldCard
	fieldPhone
	fieldBirth
	fieldLink  // says nothing, but stands between a field's name and its value: "nome SOCIAL DO paciente"
	fieldAside // the same, before numbers only: "CPF INFORMADO"

	fieldNumbers = fieldCPF | fieldCNS | fieldCNPJ | fieldCard | fieldPhone | fieldBirth
	fieldPerson  = fieldName | fieldWeakName | fieldTitle
)

// word is an identifier without accents, its case kept.
type word struct {
	letters [maxWord]byte
	n       int // maxWord+1: longer than any field's name
}

const maxWord = 48

// readWord reads the letters and underscores at s[i:] and returns where they end.
func readWord(s string, i int) (word, int) {
	var w word
	for {
		for ; i < len(s) && s[i] < 0x80 && (isLetter(rune(s[i])) || s[i] == '_'); i++ { // most text, without the detour
			if w.n < maxWord {
				w.letters[w.n] = s[i]
			}
			w.n = min(w.n+1, maxWord+1)
		}
		r, after := next(s, i)
		if !isLetter(r) && r != '_' {
			return w, i
		}
		if w.n < maxWord {
			if r >= 0x80 {
				r = '?' // U+FFFD, where an accented letter was
			}
			w.letters[w.n] = byte(r)
		}
		w.n, i = min(w.n+1, maxWord+1), after
	}
}

// fields says what an identifier such as nome, NOME_SOCIAL, nrCpfBeneficiario or dtNascimento announces. For a person
// every part of it must fit (PACIENTE_ID announces none), for a number one is enough, because the number must fit too.
func (w *word) fields() field {
	if w.n < 2 || w.n > maxWord {
		return w.single()
	}
	var all field
	person := true
	for from := 0; from < w.n; {
		to := w.part(from)
		if to > from {
			f := classify(w.letters[from:to])
			person = person && f&(fieldPerson|fieldLink) != 0
			all |= f
		}
		from = to
		for from < w.n && w.letters[from] == '_' {
			from++
		}
	}
	if all&fieldNumbers != 0 {
		return all & fieldNumbers
	}
	switch {
	case !person:
		return all & fieldAside
	case all&fieldPerson != 0:
		return all & fieldPerson
	}
	return all
}

// single: the articles "o", "a" and "e" stand between a field's name and its value.
func (w *word) single() field {
	if w.n == 1 {
		switch w.letters[0] | 0x20 {
		case 'o', 'a', 'e', 'n', 's':
			return fieldLink
		}
	}
	return 0
}

// part returns the end of the part of the identifier that begins at from: at an underscore, before a capital that
// follows a small letter, and before the last of several capitals that small letters follow (CPFPaciente).
func (w *word) part(from int) int {
	small := func(i int) bool { return i < w.n && 'a' <= w.letters[i] && w.letters[i] <= 'z' }
	big := func(i int) bool { return i < w.n && 'A' <= w.letters[i] && w.letters[i] <= 'Z' }
	i := from
	for ; i < w.n && w.letters[i] != '_'; i++ {
		if i > from && big(i) && (small(i-1) || big(i-1) && small(i+1)) {
			break
		}
	}
	return i
}

// fieldValue looks for the value of the field whose name ends at i and returns where the value begins and ends and its
// mark, or no mark.
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

// listed looks for the next value of a list of quoted ones, after the one that ends at i, and returns what fieldValue
// does.
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

// tag reports whether a word is the name of an XML tag, with or without a prefix (ans:nomeBeneficiario).
type tag int

const (
	noTag tag = iota
	openingTag
	closingTag
)

// after returns what the word after this character is.
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

// tagEnd passes over the attributes of the tag, if they end within a line's length.
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

// numberValue reads the number that a field's name announced: fewer proofs are asked of it than of one that stands
// alone. Up to six words that say nothing may come before it.
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
