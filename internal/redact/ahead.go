package redact

// ahead says who may be anotherName next though the name does not stand right after its field. What is read after a mark
// depends on the mark alone, not on how it came about, so that a second run reads the same.
type ahead int

const (
	nobody      ahead = iota
	asked             // a person's field had no name: "BENEFICIARIO: 000123 - ANA LIMA", "a beneficiária, Ana Lima,"
	anotherName       // a name has just ended; another one may follow after a comma
	fullName          // a full name may stand here
)

// afterMark returns who may be anotherName after a mark: another person after a name, the number's owner after a number.
func afterMark(mark string) ahead {
	switch mark {
	case markName:
		return anotherName
	case markEmail:
		return nobody
	}
	return fullName
}

// afterNumber returns who may be anotherName after a number that is nobody's or was not recognised.
func (a ahead) afterNumber() ahead {
	if a == asked || a == fullName {
		return fullName
	}
	return nobody
}

// after returns who may be anotherName after a character that is neither a letter nor a digit.
func (a ahead) after(r rune) ahead {
	if a == nobody {
		return nobody
	}
	switch r {
	case ' ', '-', '(', ')', '+', '_':
		return a
	case ',':
		return fullName
	case ';', '/', '&', '|':
		if a != asked {
			return fullName
		}
		return a
	case ':', '=', '#':
		if a != anotherName {
			return a
		}
	case '.':
		if a != anotherName {
			return a
		}
	case '"', '\'', '>', '\u00b0': // "n°"
		if a == asked {
			return a
		}
	}
	return nobody
}

// afterWord returns who may be anotherName after a word that is no name; f is what it announces.
func (a ahead) afterWord(w *word, f field, in tag) ahead {
	switch {
	case in == closingTag:
		return nobody
	case f&fieldPerson == fieldWeakName: // "pai João de Souza"; "pai biológico" is nobody
		return fullName
	case f&fieldPerson != 0:
		return asked
	case a == nobody:
		return nobody
	case a == anotherName:
		if w.n == 1 && w.letters[0]|0x20 == 'e' {
			return fullName
		}
		return nobody
	case f&(fieldLink|fieldNumbers) != 0 || w.numbering():
		return a
	}
	return nobody
}

// numbering reports whether the word stands between a person's field and a number: "Paciente nº 55".
func (w *word) numbering() bool {
	if w.n > maxWord {
		return false
	}
	var buf [maxWord]byte
	switch string(lower(&buf, w.letters[:w.n])) {
	case "nr", "nro", "num", "numero", "n?mero", "carteira", "carteirinha", "matricula", "cod", "codigo", "id", "doc", "documento":
		return true
	}
	return false
}

// fullNameEnd returns where the name that begins with the word w at s[i:] and announces f ends, or 0. Its field is
// further away than usual, so more is asked of it: a common given name, or two words with capitals.
func fullNameEnd(s string, i int, w *word, f field, wordEnd int) int {
	if f != 0 || w.ordinary() {
		return 0
	}
	given := w.givenName()
	if !given && !w.hasUpper() {
		return 0
	}
	if stop := nameEnd(s, i, false); given || stop > wordEnd {
		return stop
	}
	return 0
}
