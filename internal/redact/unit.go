package redact

import (
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// unit is a name, a number or a word: the tokens that nothing stands between.
type unit struct {
	start, end int
	digits     int
	kind       kind
	isName     bool // people are called that, too
	isLetter   bool // a single one
}

type kind uint8

const (
	kept kind = iota
	unknownWord
	unknownNumber
	unknownCode // of letters and digits
)

// unitsOf puts tokens together.
func unitsOf(tokens []errtext.Token) []unit {
	units := make([]unit, 0, len(tokens))
	for i := range tokens {
		k := &tokens[i]
		u := unit{start: int(k.Start), end: int(k.End), isName: k.IsName()}
		if k.IsNumber {
			u.digits = u.end - u.start
		}
		switch {
		case k.IsKept:
			u.isLetter = u.digits == 0 && u.end-u.start == 1
		case k.IsNumber:
			u.kind = unknownNumber
		default:
			u.kind = unknownWord
		}
		if k.IsJoined() && len(units) > 0 {
			units[len(units)-1].join(&u)
		} else {
			units = append(units, u)
		}
	}
	return units
}

// join adds a part to a unit.
func (u *unit) join(part *unit) {
	switch {
	case u.kind == kept && part.kind == kept:
		if u.isName && part.isName { // CamposDias
			u.kind = unknownWord
		}
	case u.digits+part.digits == 0:
		u.kind = unknownWord
	case u.kind != unknownNumber || part.kind != unknownNumber:
		u.kind = unknownCode
	}
	u.end, u.digits = part.end, u.digits+part.digits
	u.isName, u.isLetter = false, false
}

// technical are units of letters and digits that are words of programs.
var technical = []string{
	"x509", "utf8", "base64", "sha1", "sha256", "md5", "ipv4", "ipv6", "http2", "oauth2", "iso8859", "log4j",
}

// widen masks what is known and yet may be about a person: digits that a number goes on with, single letters
// in a row, and names.
func (m *masker) widen() {
	for i := range m.units {
		u := &m.units[i]
		switch {
		case u.kind == unknownCode && slices.Contains(technical, strings.ToLower(m.word(i))):
			u.kind = kept
		case u.kind == kept && u.digits > 0 && (m.goesOn(i-1) || m.goesOn(i)):
			u.kind = unknownNumber
		case u.isLetter && m.isSpelled(i):
			for k := i - 2; k <= i; k++ {
				m.units[k].kind = unknownWord
			}
		case u.isName:
			m.widenName(i)
		}
	}
	for i, u := range slices.Backward(m.units) {
		if u.isName {
			m.widenName(i)
		}
	}
}

// word returns a unit's text.
func (m *masker) word(i int) string { return m.source[m.units[i].start:m.units[i].end] }

// between returns what stands between a unit and the next one.
func (m *masker) between(i int) string { return m.source[m.units[i].end:m.units[i+1].start] }

// only reports whether a text between two units is short and made of some signs.
func only(between, signs string) bool {
	const longest = 3
	return len(between) <= longest && strings.Trim(between, signs) == ""
}

// isNear reports whether only what stands between the words of a name stands behind a unit: Lima, Ana.
func (m *masker) isNear(i int) bool { return only(m.between(i), " ,.-'\n\t") }

// isSpelled reports whether a letter and the two before it may spell a name: J O S E.
func (m *masker) isSpelled(i int) bool {
	return i > 1 && m.units[i-1].isLetter && m.units[i-2].isLetter && m.isNear(i-1) && m.isNear(i-2)
}

// goesOn reports whether a number that is not known is joined to a unit, or to the one behind it: 123.456,
// 10:22.
func (m *masker) goesOn(i int) bool {
	if i < 0 || i+1 == len(m.units) {
		return false
	}
	isNumber := m.units[i].kind == unknownNumber || m.units[i+1].kind == unknownNumber
	return isNumber && m.units[i+1].start-m.units[i].end == 1 && only(m.between(i), ".-/,:")
}

// widenName masks a word that people are called next to an unknown word or, if both begin with a capital, to
// another such word; and behind a word for a person. Short words and names may stand between: "o titular é
// Dias", <nomeCompleto>DIAS, "Paciente: Dia Campos"; before an unknown word only if the name has a capital:
// Rita de Campos.
func (m *masker) widenName(i int) {
	const furthest, short, widest = 3, len("sra"), 5
	for _, step := range []int{-1, 1} {
		near := true
		for k := i + step; k >= max(0, i-furthest) && k <= min(i+furthest, len(m.units)-1); k += step {
			if len(m.between(min(k, k-step))) > widest {
				break
			}
			u, capital := &m.units[k], m.isCapital(i)
			isSkipped := u.end-u.start <= short || capital && m.isCapital(k)
			near = near && m.isNear(min(k, k-step)) && (capital || k == i+step)
			isPerson := near && (u.kind == unknownWord || u.isName && capital && m.isCapital(k))
			if isPerson || step < 0 && isRole(m.word(k)) {
				m.units[i].kind = unknownWord
			}
			if u.digits > 0 || !isSkipped {
				break
			}
		}
	}
}

func (m *masker) isCapital(i int) bool {
	c := m.source[m.units[i].start]
	return c >= 'A' && c <= 'Z'
}

// roles are words that a name stands behind.
//
//nolint:misspell // Portuguese
var roles = []string{
	"paciente", "pacientes", "beneficiario", "beneficiário", "beneficiaria", "beneficiária", "nome", "name",
	"mae", "mãe", "pai", "titular", "dependente", "segurado", "segurada", "filho", "filha", "conjuge",
	"cônjuge", "responsavel", "responsável", "benef", "patient",
}

// isRole reports whether a word, or a part of it in camel case, is one for a person: nomeBeneficiario,
// nomeCompleto.
func isRole(word string) bool {
	word = strings.ToLower(word)
	return slices.ContainsFunc(roles, func(role string) bool {
		return strings.HasPrefix(word, role) || strings.HasSuffix(word, role)
	})
}
