package errtext

import (
	"cmp"
	"strings"
)

// nounRole is a role of nouns: what something is said of. A set of them is some of their bits.
type nounRole uint16

const (
	ofSystem      nounRole = 1 << iota // an insurer's or a program's: system, connection, lock
	ofProcess                          // what systems do: query, load, transmission
	ofMaybe                            // a service, a network, a session: of a system, but for a plan's
	ofScope                            // a plan, a contract, a list of procedures
	ofClaim                            // patient, card, plan, guide, procedure, material, deadline
	ofMessage                          // what was sent: file, element, field, lot
	ofOwn                              // the hospital's access and systems: login, hash, proxy, billing
	ofCertificate                      // the hospital's certificate, keys, contracts, and what holds them
	ofEither                           // the hospital's, but the insurer has one, too: certificate, user, URL
	ofAside                            // what decides no claim: a telephone, a printer, an app of patients
	ofUnknown                          // something is named that no table knows

	// ofHospital are the roles of what belongs to the hospital.
	ofHospital = ofOwn | ofCertificate | ofEither
)

// nounRoles are the names of the roles in the table, in their order.
var nounRoles = strings.Fields("system process maybe scope claim message own certificate either aside")

// subject returns what a piece is said of; empty where nothing is named.
//
// A passing condition is said of what decides no claim where that is next to it, else of a noun in it, of one
// that "de" joins to it from behind ("indisponibilidade do portal"), or of those in front of it, of which a
// system goes before others ("serviço de verificação de guias fora do ar"). A refusal is said of the nearest
// noun, but of what is the hospital's before others. Where its own clause names nothing, the clause before it
// says of what.
func (t *Text) subject(p *Piece) (role nounRole, n *span) {
	clause := t.Tokens[p.first].clause
	role, n = t.inFront(p, clause)
	if p.row.Class == transient && role != ofAside {
		if in := cmp.Or(t.inside(p), t.nounBehind(p, roleOf)); in != nil {
			return t.roleOf(p, in), in
		}
	}
	if n == nil {
		if n = t.nounBehind(p, roleOf|roleIn); n != nil {
			return t.roleOf(p, n), n
		}
		if t.namesUnknown(p.first) {
			return ofUnknown, nil
		}
		role, n = t.inFront(p, clause-1)
	}
	return role, n
}

// inside returns the noun in a phrase, a system's before others; nil for none.
func (t *Text) inside(p *Piece) (in *span) {
	for i := range t.nouns {
		n := &t.nouns[i]
		overlaps := n.first <= p.last && n.last >= p.first && (p.last > p.first || n.last > n.first)
		if overlaps && (in == nil || n.row.role == ofSystem) {
			in = n
		}
	}
	return in
}

// inFront returns the noun of a clause in front of a piece, in the same sentence. What decides no claim is
// one only next to a piece that passes, or joined to what is: "impressora de rede", but not "SAC e sistema".
func (t *Text) inFront(p *Piece, clause int16) (role nounRole, n *span) {
	passes, isNext := p.row.Class == transient, true
	for i := len(t.nouns) - 1; i >= 0; i-- {
		m := &t.nouns[i]
		k := &t.Tokens[m.first]
		is := t.roleOf(p, m)
		switch {
		case k.clause != clause || m.first > p.first || k.sentence != t.Tokens[p.first].sentence:
			continue
		case m.last >= p.first, is == ofAside && (!passes || !isNext):
		case is == ofAside:
			return is, m
		case n == nil, !passes && is&ofHospital != 0, passes && is&(ofSystem|ofProcess) != 0:
			role, n = is, m
		}
		isNext = isNext && m.first > 0 && t.Tokens[m.first-1].roles&roleOf != 0
	}
	return role, n
}

// roleOf returns the role of a noun. A service, a network or a session is what a claim is about if a plan or
// the like stands behind: "serviço indisponível neste plano".
func (t *Text) roleOf(p *Piece, n *span) nounRole {
	if n.row.role != ofMaybe {
		return n.row.role
	}
	for i := range t.nouns {
		m := &t.nouns[i]
		if m.row.role == ofScope && m.first > p.first && t.Tokens[m.first].clause == t.Tokens[p.last].clause {
			return ofClaim
		}
	}
	return ofSystem
}

// nounBehind returns the noun that a preposition joins to a piece from behind.
func (t *Text) nounBehind(p *Piece, prepositions role) *span {
	next := p.last + 1
	if int(next) >= len(t.Tokens) || t.Tokens[next].gap > near || t.Tokens[next].roles&prepositions == 0 {
		return nil
	}
	for i := range t.nouns {
		n := &t.nouns[i]
		if n.first >= next && n.first <= next+2 {
			return n
		}
	}
	return nil
}

// namesUnknown reports whether a word that no table knows stands in front of a token, in its clause.
func (t *Text) namesUnknown(i int32) bool {
	const nearby, short = 4, 2
	for k := i - 1; k >= max(0, i-nearby) && t.Tokens[k].clause == t.Tokens[i].clause; k-- {
		word := &t.Tokens[k]
		if word.idCount == 0 && word.roles&roleStop == 0 && word.End-word.Start > short {
			return true
		}
	}
	return false
}
