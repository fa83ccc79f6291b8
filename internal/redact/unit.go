package redact

import (
	"strings"
	"unicode/utf8"
)

// unit is a name, a number or a word: the tokens that nothing stands between.
type unit struct {
	start, end int
	digits     int
	kind       kind
	name       bool // people are called that, too
	letter     bool // a single one
}

type kind uint8

const (
	kept kind = iota
	unknownWord
	unknownNumber
	unknownCode // of letters and digits
)

// readUnits cuts the text into units.
func (m *masker) readUnits() {
	m.units = m.units[:0]
	tokens := m.text.Tokens()
	for i := range tokens {
		token := &tokens[i]
		start, end, is, digits := token.Start(), token.End(), kept, 0
		switch {
		case token.IsNumber():
			digits = utf8.RuneCountInString(m.text.Source[start:end])
			if !token.IsKept() && !m.isPort(start, digits) {
				is = unknownNumber
			}
		case !token.IsKept():
			is = unknownWord
		}
		if n := len(m.units); token.IsJoined() && n > 0 {
			m.units[n-1].join(&unit{end: end, digits: digits, kind: is, name: token.IsName()})
			continue
		}
		m.units = append(m.units, unit{}) // and filled in its place: a copy takes longer than all else here
		u := &m.units[len(m.units)-1]
		u.start, u.end, u.digits, u.kind, u.name = start, end, digits, is, token.IsName()
		u.letter = is == kept && digits == 0 && end-start == 1
	}
}

// join adds a part to a unit.
func (u *unit) join(part *unit) {
	switch {
	case u.kind == kept && part.kind == kept:
		if u.name && part.name { // CamposDias
			u.kind = unknownWord
		}
	case u.digits+part.digits == 0:
		u.kind = unknownWord
	case u.kind != unknownNumber || part.kind != unknownNumber:
		u.kind = unknownCode
	}
	u.end, u.digits = part.end, u.digits+part.digits
	u.name, u.letter = false, false
}

// isPort reports whether a number is the port of a host that is masked, in whole or in part: [palavra]:443, ws.[palavra].br:443.
func (m *masker) isPort(start, digits int) bool {
	const longest = 5
	n := len(m.units)
	if digits > longest || n == 0 || m.text.Source[start-1] != ':' {
		return false
	}
	last := &m.units[n-1]
	switch m.text.Source[last.end:start] {
	case "]:":
		return m.isMark(last)
	case ":":
		return n > 1 && m.between(n-2) == "]." && m.isMark(&m.units[n-2])
	}
	return false
}

// isMark reports whether a unit is a mark for a part of a host.
func (m *masker) isMark(u *unit) bool {
	if u.start == 0 {
		return false
	}
	switch m.text.Source[u.start-1 : u.end+1] {
	case markWord, markWords, markCode:
		return true
	}
	return false
}

// widen masks what is known and yet may be about a person: words that people are called next to an unknown one, next to another
// such word, or behind "paciente" and the like; digits that a number goes on with; single letters in a row.
func (m *masker) widen() {
	names, letters := false, 0
	for i := range m.units {
		u := &m.units[i]
		switch {
		case u.name:
			m.widenName(i)
			names = true
		case u.kind == unknownCode && m.isTechnical(u):
			u.kind = kept
		case u.kind == kept && u.digits > 0 && (i > 0 && m.goesOn(i-1) || i+1 < len(m.units) && m.goesOn(i)):
			u.kind = unknownNumber
		}
		switch {
		case !u.letter:
			letters = 0
		case letters > 0 && m.near(i-1):
			letters++
			m.spelled(i, letters)
		default:
			letters = 1
		}
	}
	for i := len(m.units) - 1; names && i >= 0; i-- {
		if m.units[i].name {
			m.widenName(i)
		}
	}
}

// spelled masks letters that may spell a name: the last one, and those before it.
func (m *masker) spelled(last, letters int) {
	const least = 3
	if letters == least {
		m.units[last-1].kind, m.units[last-2].kind = unknownWord, unknownWord
	}
	if letters >= least {
		m.units[last].kind = unknownWord
	}
}

func (m *masker) widenName(i int) {
	u := &m.units[i]
	if u.kind == kept && (m.person(i, i-1) || m.person(i, i+1) || m.hasRole(i)) {
		u.kind = unknownWord
	}
}

// person reports whether a word that people are called and a neighbour may be two names of one person.
func (m *masker) person(i, next int) bool {
	if next < 0 || next >= len(m.units) || !m.near(min(i, next)) {
		return false
	}
	u := &m.units[next]
	if further := 2*next - i; m.capital(i) && further >= 0 && further < len(m.units) && m.isParticle(u) && m.near(min(next, further)) {
		return m.units[further].kind == unknownWord // Rita de Campos
	}
	return u.kind == unknownWord || u.name && m.capital(i) && m.capital(next)
}

// near reports whether only what stands between the words of a name stands behind a unit.
func (m *masker) near(i int) bool {
	seen := output{source: m.between(i)} // without what clean removes
	seen.signs(0, len(seen.source))
	return only(seen.take(), betweenNames)
}

// goesOn reports whether a number that is not known is joined to a unit, or to the one behind it: 123.456, 10:22.
func (m *masker) goesOn(i int) bool {
	left, right := &m.units[i], &m.units[i+1]
	return (left.kind == unknownNumber || right.kind == unknownNumber) && right.start-left.end == 1 && only(m.between(i), inNumber)
}

// between returns what stands between a unit and the next one.
func (m *masker) between(i int) string { return m.text.Source[m.units[i].end:m.units[i+1].start] }

// signSet is a set of ASCII signs, by what they may stand between.
type signSet uint8

const (
	betweenNames   signSet = 1 << iota // Lima, Ana
	inName                             // Sant'Ana, one mark
	betweenNumbers                     // 123 456, one mark
	inNumber                           // 123.456
)

var signSets = func() (of [256]signSet) {
	for _, set := range []struct {
		signs string
		is    signSet
	}{{" ,.-'\n\t", betweenNames}, {" .-'", inName}, {" .,-/:()", betweenNumbers}, {".-/,:", inNumber}} {
		for i := range len(set.signs) {
			of[set.signs[i]] |= set.is
		}
	}
	return of
}()

// only reports whether a text between two units is short and made of signs of a set.
func only(between string, set signSet) bool {
	const longest = 3
	if len(between) > longest {
		return false
	}
	for i := range len(between) {
		if signSets[between[i]]&set == 0 {
			return false
		}
	}
	return true
}

// isTechnical reports whether a unit of letters and digits is a word of programs.
func (m *masker) isTechnical(u *unit) bool {
	const shortest, longest = len("md5"), len("iso8859")
	if length := u.end - u.start; length < shortest || length > longest {
		return false
	}
	return anyFold(m.text.Source[u.start:u.end], "x509", "utf8", "base64", "sha1", "sha256", "md5", "ipv4", "ipv6", "http2", "oauth2", "iso8859", "log4j")
}

func (m *masker) capital(i int) bool {
	c := m.text.Source[m.units[i].start]
	return c >= 'A' && c <= 'Z'
}

func (m *masker) isParticle(u *unit) bool {
	switch word := m.text.Source[u.start:u.end]; len(word) {
	case 1:
		return word == "e" || word == "E"
	case 2, 3:
		return anyFold(word, "da", "de", "do", "das", "dos")
	}
	return false
}

// hasRole reports whether a unit stands behind a word for a person, at most with short words or another name between them:
// "Paciente Dias", <nomeCompleto>DIAS, "Beneficiário(a): Dias", "Paciente: Dia Campos".
func (m *masker) hasRole(i int) bool {
	const longest, furthest = 5, 3
	for k := i - 1; k >= max(0, i-furthest) && m.units[k+1].start-m.units[k].end <= longest; k-- {
		u := &m.units[k]
		word := m.text.Source[u.start:u.end]
		if isRole(word) {
			return true
		}
		skipped := len(word) <= len("sra") || m.capital(k) && m.capital(i)
		if u.digits > 0 || !skipped {
			return false
		}
	}
	return false
}

// isRole reports whether a word, or a part of it in camel case, is one for a person: nomeBeneficiario, nomeCompleto.
func isRole(word string) bool {
	for _, role := range roles {
		if n := len(word) - len(role); n >= 0 && (strings.EqualFold(word[n:], role) || strings.EqualFold(word[:len(role)], role)) {
			return true
		}
	}
	return false
}

// roles are words that a name stands behind.
//
//nolint:misspell // Portuguese
var roles = [...]string{
	"paciente", "pacientes", "beneficiario", "beneficiário", "beneficiaria", "beneficiária", "nome", "name", "mae", "mãe", "pai", "titular",
	"dependente", "segurado", "segurada", "filho", "filha", "conjuge", "cônjuge", "responsavel", "responsável", "benef", "patient",
}

func anyFold(word string, of ...string) bool {
	for _, w := range of {
		if len(word) == len(w) && strings.EqualFold(word, w) {
			return true
		}
	}
	return false
}
