package errtext

import (
	"cmp"
	"slices"
	"strings"
)

// weight is how much a piece counts. What refuses counts only if it weighs more than all that passes by
// itself: a doubt is retried.
type weight int8

const (
	nothing weight = iota // passes: said of a card or a plan, in a stack trace, the name of a setting, denied
	bare                  // passes: a page, a server's fault without a word, said of what decides no claim
	plain                 // refuses: does not say what, or only that access or a message was refused
	soft                  // passes: a habit, an announcement, a condition, an earlier try, an HTTP 500
	denial                // refuses: a claim, a guide or a login was refused, and no reason is given
	weak                  // passes: mere advice, or what lies in the past
	reason                // refuses: with a reason that a lookup may have failed to find
	strong                // passes: said of a system, a connection, a session, a lock
	fact                  // refuses: with what no system that is away would say
)

// The parts of a text.
const (
	clause = iota
	sentence
	wholeText
)

// weigh gives each piece what it counts: first to what passes by itself, which refusals are compared with.
func (t *Text) weigh() {
	refuses := t.addOwn()
	for i := range t.Pieces {
		switch p := &t.Pieces[i]; p.row.Class {
		case transient:
			t.passes(p)
		case permanent:
			refuses = true
		default:
			p.weight, p.Counts = strong, true
		}
	}
	if refuses {
		t.addReasons()
	}
	var passing weight
	t.anyPassing(bare, func(p *Piece) bool {
		p.Counts, passing = true, max(passing, p.weight)
		return false
	})
	for i := range t.Pieces {
		if p := &t.Pieces[i]; p.row.Class == permanent {
			if p.row != ownFault {
				t.refuses(p)
			}
			t.settle(p)
			p.Counts = p.weight > passing
		}
	}
}

// anyPassing reports whether something holds of a piece that passes by itself, of a weight or more.
func (t *Text) anyPassing(least weight, holds func(*Piece) bool) bool {
	for i := range t.Pieces {
		if p := &t.Pieces[i]; p.row.Class == transient && p.weight >= least && holds(p) {
			return true
		}
	}
	return false
}

// lower lowers the weight of a piece.
func (p *Piece) lower(to weight, why string) {
	if p.weight > to {
		p.weight, p.why = to, why
	}
}

// passes weighs a sign of a passing condition.
func (t *Text) passes(p *Piece) {
	p.weight = strong
	switch {
	case t.inTrace(p.Start):
		p.lower(nothing, "in a line of a stack trace")
	case t.inFieldName(int(p.first)):
		p.lower(nothing, "the name of a field")
	case p.row.Code == "407", p.sign == tls && t.near(p, wholeText, ofCertificate) != nil,
		p.sign == tls && t.near(p, sentence, ofOwn) != nil,
		p.sign == proxy && t.near(p, sentence, ofOwn|ofEither) != nil:
		p.lower(soft, "may be the hospital's own fault")
	case p.row.Code == "500", p.row.Code == "520":
		p.lower(soft, "says only that the program there failed")
	case p.unsure:
		p.lower(weak, "may be a number of the insurer's own")
	case p.row.Kind == SOAPFault, p.sign == page, t.isHeading(p):
		p.lower(bare, "says nothing of why")
	case p.row.Kind == Term:
		t.passesOf(p)
		t.passesHow(p)
	}
}

// passesOf weighs a phrase by what it is said of.
func (t *Text) passesOf(p *Piece) {
	role, n := t.subject(p)
	isInside := n != nil && n.last >= p.first && n.first <= p.last
	needsSubject := p.sign == away || p.sign == busy || p.row.Needs != "" || isInside
	switch {
	case p.sign == advice:
		p.lower(weak, "is advice")
	case p.row.Needs == "system" && role != ofSystem && (role != ofProcess || p.sign == vague):
		p.lower(nothing, "said of no system")
	case p.sign == vague:
		p.subject = n
		p.lower(weak, "says little")
	case needsSubject:
		p.subject = n
		switch {
		case role&(ofClaim|ofScope) != 0:
			p.lower(nothing, "said of no system")
		case role&(ofOwn|ofCertificate) != 0 && p.sign&(tls|token) == 0:
			p.lower(weak, "said of the hospital's own")
		}
	}
	if role == ofAside {
		p.subject = n
		p.lower(bare, "said of what decides no claim")
	}
}

// passesHow lowers what is said to be over, not yet so, possible, denied, or a setting.
func (t *Text) passesHow(p *Piece) {
	if t.isLimit(p) {
		p.lower(nothing, "a limit that was set")
	}
	of := &t.Tokens[p.first]
	for i := range t.marks {
		m := &t.marks[i]
		k, sign := &t.Tokens[m.first], m.row.Sign
		inClause, isBefore := k.clause == of.clause, m.first <= p.first
		near := func(tokens int32) bool { return m.last < p.first && p.first-m.last <= tokens }
		switch {
		case sign == "no" && near(1) && of.gap < apart:
			p.lower(nothing, "denied")
		case sign == "if" && inClause && isBefore:
			p.lower(soft, "only if it happens")
		case sign == "habit" && inClause:
			p.lower(soft, "announced, or a habit")
		case sign == "earlier" && (inClause || near(3)):
			p.lower(soft, "of an earlier try")
		case sign == "ended" && inClause:
			p.lower(soft, "is over")
		case sign == "after" && inClause && isBefore:
			p.lower(weak, "lies before it")
		}
	}
}

// isHeading reports whether a piece is the heading of each page of IIS: <h1>Server Error</h1>.
func (t *Text) isHeading(p *Piece) bool {
	before := t.Source[max(0, p.Start-int32(len("<h1>"))):p.Start]
	return p.row.Term == "server error" && strings.EqualFold(before, "<h1>")
}

// isLimit reports whether a word for a time names a limit that was set: (timeout 60000 ms).
func (t *Text) isLimit(p *Piece) bool {
	before := strings.TrimRight(t.Source[:p.Start], " ")
	value := strings.TrimLeft(t.Source[p.End:], " =:")
	return p.sign == timeout && value != "" && kinds[value[0]] == digit && before != "" &&
		strings.IndexByte("({;,|", before[len(before)-1]) >= 0
}

// refuses weighs a sign of a refusal.
func (t *Text) refuses(p *Piece) {
	p.weight = plain
	switch isGlosa := p.row.Kind == Glosa; {
	case isGlosa && p.ownTerm && p.sign == factSign:
		p.weight = fact
	case isGlosa:
		p.weight = reason
	case p.row.Kind == Term:
		t.refusesOf(p)
	}
	k := &t.Tokens[p.first]
	isDefault := func(m span) bool {
		return m.row.Sign == "default" && t.Tokens[m.first].sentence == k.sentence
	}
	switch {
	case t.inTrace(p.Start):
		p.lower(nothing, "in a line of a stack trace")
	case t.isAsked(p):
		p.lower(nothing, "asked, not said")
	case slices.ContainsFunc(t.marks, isDefault):
		p.lower(nothing, "what is answered where nothing is known")
	}
}

// refusesOf weighs a phrase by what it is said of.
func (t *Text) refusesOf(p *Piece) {
	role, n := t.subject(p)
	p.subject = n
	within := t.inside(p)
	ofAClaim := role&(ofClaim|ofProcess|ofScope) != 0
	switch {
	case p.row.Needs == "system" && !ofAClaim && role != ofMessage,
		p.row.Needs == "claim" && role != ofClaim && role != ofScope:
		p.lower(nothing, "said of no claim")
	case p.sign == parse, p.sign == duplicate, p.sign == tissFault, p.sign == fault:
		p.weight = reason
	case t.isPartOfPassing(p):
		p.lower(nothing, "a part of what passes by itself")
	case p.sign == setup, p.sign == schema:
		p.weight = fact
	case p.sign == own, t.ownOf(p, role, n) != nil:
		p.weight, p.sign = denial, own
	case p.sign == factSign && role != ofSystem:
		p.weight = fact
		if p.first == p.last && !ofAClaim { // one word, and not said of what
			p.weight = reason
		}
	case p.sign == access:
	case p.sign == deniedSign && ofAClaim:
		p.weight = denial
	case ofAClaim, within != nil && within.row.role == ofClaim:
		p.weight = reason
	default:
		p.sign = unsaid
	}
}

// ownOf returns what of the hospital's own a piece is said of, nil for nothing: its subject, or what its
// sentence names, or its clause where a message or a system stands in front.
func (t *Text) ownOf(p *Piece, role nounRole, n *span) *span {
	switch {
	case role&ofHospital != 0:
		return n
	case role&(ofClaim|ofProcess|ofScope) != 0:
		return nil
	case role&(ofMessage|ofSystem) != 0:
		return t.near(p, clause, ofHospital)
	default:
		return t.near(p, sentence, ofHospital)
	}
}

// near returns a noun of one of the roles in the same part of the text as a piece, nil for none.
func (t *Text) near(p *Piece, part int, roles nounRole) *span {
	for i := range t.nouns {
		n := &t.nouns[i]
		k, of := &t.Tokens[p.first], &t.Tokens[n.first]
		if n.row.role&roles != 0 &&
			(part == wholeText || of.sentence == k.sentence && (part == sentence || of.clause == k.clause)) {
			return n
		}
	}
	return nil
}

// isPartOfPassing reports whether a refusal has words of a longer phrase that passes: "tempo limite
// excedido".
func (t *Text) isPartOfPassing(p *Piece) bool {
	return t.anyPassing(strong, func(q *Piece) bool {
		return q.row.Kind == Term && q.first <= p.last && q.last >= p.first && q.last-q.first > p.last-p.first
	})
}

// isAsked reports whether the sentence with a piece ends in a question mark.
func (t *Text) isAsked(p *Piece) bool {
	i := int(p.last)
	for i+1 < len(t.Tokens) && t.Tokens[i+1].sentence == t.Tokens[p.last].sentence {
		i++
	}
	rest := strings.TrimLeft(t.behind(i), "?")
	return len(rest) < len(t.behind(i)) && (rest == "" || rest[0] == ' ')
}

// settle compares a refusal with what stands around it. What an insurer's answer says is a fact, unless that
// says that a system is away; and who was not reached has refused nothing: what else stands there was sent.
func (t *Text) settle(p *Piece) {
	if p.answer != nil && p.weight > nothing {
		p.weight = fact
	}
	switch {
	case p.weight < fact:
	case p.answer != nil && t.anyPassing(weak, p.answer.has), t.isCaused(p):
		p.lower(reason, "a system that is away is its reason")
	case p.sign != setup && t.anyPassing(strong, func(q *Piece) bool {
		isBefore := t.Tokens[q.first].clause < t.Tokens[p.first].clause
		return q.sign&(connect|lost) != 0 || q.sign == timeout && isBefore
	}):
		p.lower(reason, "nobody was reached")
	}
}

// isCaused reports whether what passes by itself stands behind a refusal, in another clause of its sentence:
// it may be the reason.
func (t *Text) isCaused(p *Piece) bool {
	of := &t.Tokens[p.last]
	return t.anyPassing(strong, func(q *Piece) bool {
		k := &t.Tokens[q.first]
		isOwn := p.sign == setup && q.sign&(tls|connect|lost) != 0 // alert certificate revoked: SSL alert
		return !isOwn && q.first >= p.last && k.clause != of.clause && k.sentence == of.sentence
	})
}

// The rows of what is said in words that are no phrase.
var (
	unnamed = readTable("unnamed", Term, "term\tsign\n"+
		"a fault of the hospital's own\town\n"+
		"because of a system\taway\n")
	ownFault   = &unnamed.Rows[0]
	awaySystem = &unnamed.Rows[1]
)

// addOwn adds faults of the hospital's own: something of its access in a sentence with a word of trouble,
// whatever stands between. It is a fact where what only the hospital has is amiss, missing or expired, and
// where somebody asks for a change, which may name it in another sentence: no system that is away says so.
// The lines of a stack trace have names of what every program has.
func (t *Text) addOwn() (some bool) {
	for _, m := range t.marks {
		switch m.row.Sign {
		case "change", "amiss", "wrong", "trouble", "check":
		default:
			continue
		}
		isChange, isAmiss := m.row.Sign == "change", m.row.Sign == "amiss"
		p := Piece{span: span{m.first, m.last, ownFault}}
		role, n := t.subject(&p)
		n = t.ownOf(&p, role, n)
		switch {
		case n == nil && isChange:
			n = t.near(&p, wholeText, ofHospital)
		case isAmiss && (n == nil || n.row.role == ofEither):
			n = cmp.Or(t.near(&p, clause, ofOwn|ofCertificate), n)
		}
		if n != nil && !t.inTrace(t.Tokens[n.first].Start) {
			p := t.add(ownFault, int(n.first), int(n.last))
			p.weight, p.subject, some = denial, n, true
			if isChange || isAmiss && n.row.role != ofEither {
				p.weight, p.sign = fact, setup
			}
		}
	}
	return some
}

// addReasons adds what is said of a system in words that are not known, in a clause with a word of trouble,
// where something is refused beside it: "inexistente; carga do cadastro ainda não terminou".
func (t *Text) addReasons() {
	for i := range t.marks {
		m := &t.marks[i]
		if m.row.Sign != "trouble" && m.row.Sign != "late" {
			continue
		}
		if n := t.systemInTrouble(m); n != nil {
			p := t.add(awaySystem, int(min(m.first, n.first)), int(max(m.last, n.last)))
			p.weight, p.subject = strong, n
			return
		}
	}
}

// systemInTrouble returns the system that the clause of a mark is about. A clause with a piece of evidence
// that says more than a little says something else.
func (t *Text) systemInTrouble(m *span) *span {
	clause := t.Tokens[m.first].clause
	in := func(s *span) bool {
		return t.Tokens[s.first].clause == clause || t.Tokens[s.last].clause == clause
	}
	for i := range t.Pieces {
		if p := &t.Pieces[i]; p.sign&(advice|vague) == 0 && in(&p.span) {
			return nil
		}
	}
	for i := range t.nouns {
		n, role := &t.nouns[i], t.nouns[i].row.role
		isSystem := role&(ofSystem|ofMaybe) != 0 || role == ofProcess && m.row.Sign == "late"
		if isSystem && in(n) {
			return n
		}
	}
	return nil
}
