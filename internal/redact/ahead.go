package redact

// ahead is which name may come next, further away from its field. After a mark it depends on the mark alone, not on how the
// mark came about, so that a second run reads the same.
type ahead int

const (
	noName     ahead = iota
	afterField       // a person's field had no name: "BENEFICIARIO: 000123 - ANA LIMA", "a beneficiária, Ana Lima,"
	afterName        // a name has just ended; another one may follow a comma
	fullName         // a full name may stand here
)

// afterMark returns what may come after a mark: another name after a name, the owner's name after a number.
func afterMark(mark string) ahead {
	switch mark {
	case markName:
		return afterName
	case markEmail:
		return noName
	}
	return fullName
}

// afterNumber returns what may come after a number that got no mark.
func (a ahead) afterNumber() ahead {
	if a == afterField || a == fullName {
		return fullName
	}
	return noName
}

// after returns what may come after a character that is neither a letter nor a digit.
func (a ahead) after(r rune) ahead {
	if a == noName {
		return noName
	}
	switch r {
	case ' ', '-', '(', ')', '+', '_':
		return a
	case ',':
		return fullName
	case ';', '/', '&', '|':
		if a != afterField {
			return fullName
		}
		return a
	case ':', '=', '#':
		if a != afterName {
			return a
		}
	case '.':
		if a != afterName {
			return a
		}
	case '"', '\'', '>', '\u00b0': // "n°"
		if a == afterField {
			return a
		}
	}
	return noName
}

// afterWord returns what may come after a word that is no name and announces f.
func (a ahead) afterWord(w *word, f field, in tag) ahead {
	switch {
	case in == closingTag:
		return noName
	case f&fieldPerson == fieldWeakName: // "pai João de Souza"; "pai biológico" names nobody
		return fullName
	case f&fieldPerson != 0:
		return afterField
	case a == noName:
		return noName
	case a == afterName:
		if w.n == 1 && w.letters[0]|0x20 == 'e' {
			return fullName
		}
		return noName
	case f&(fieldLink|fieldNumbers) != 0 || w.is(numbering):
		return a
	}
	return noName
}
