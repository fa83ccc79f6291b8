package errtext

import (
	"slices"
	"strings"
)

// weight is how much a piece counts. What refuses counts only if it weighs more than all that passes by
// itself: a doubt is retried.
type weight int8

const (
	nothing weight = iota // passes: said of a card or a plan, in a stack trace, the name of a setting, denied
	bare                  // passes: a page, a server's fault without a word
	plain                 // refuses: does not say what, or only that access or a message was refused
	soft                  // passes: a habit, an announcement, a condition, an earlier try, an HTTP 500
	denial                // refuses: a claim, a guide or a login was refused, and no reason is given
	weak                  // passes: mere advice, or what lies in the past
	reason                // refuses: with a reason that a lookup may have failed to find
	strong                // passes: said of a system, a connection, a session, a lock
	fact                  // refuses: with what no system that is away would say
)

// weigh gives each piece what it counts.
func (t *Text) weigh() {
	for i := range t.Pieces {
		if p := &t.Pieces[i]; p.row.Class == transient {
			t.passes(p)
		}
	}
	for i := range t.Pieces {
		switch p := &t.Pieces[i]; p.row.Class {
		case transient:
		case permanent:
			t.refuses(p)
		default:
			p.weight = strong
		}
	}
	t.addReasons()
	for i := range t.Pieces {
		if p := &t.Pieces[i]; p.row.Class == permanent && p.weight > nothing {
			t.settle(p)
		}
	}
	var passing weight
	for i := range t.Pieces {
		if p := &t.Pieces[i]; p.row.Class == transient {
			passing = max(passing, p.weight)
		}
	}
	for i := range t.Pieces {
		p := &t.Pieces[i]
		p.Counts = p.weight > nothing && (p.row.Class != permanent || p.weight > passing)
	}
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
	place := t.Tokens[p.first].place
	switch kind := p.row.Kind; {
	case place == trace:
		p.lower(nothing, "in a line of a stack trace")
	case place == name:
		p.lower(nothing, "the name of a field")
	case kind == HTTP:
		role, n := t.subject(p)
		switch code := p.row.Code; {
		case code == "407":
			p.lower(soft, "may be the hospital's own password")
		case (code == "500" || code == "520") && role == ofSystem: // API de cadastro retornou 500
			p.subject = n
		case code == "500" || code == "520":
			p.lower(soft, "says only that the program there failed")
		case p.unsure && role != ofSystem:
			p.lower(weak, "may be a number of the insurer's own")
		}
	case kind == SOAPFault:
		p.lower(bare, "says nothing of why")
	case kind == Term:
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
	case p.sign == page:
		p.lower(bare, "says nothing of why")
	case p.sign == advice:
		p.lower(weak, "is advice")
	case p.row.Needs == "system" && role != ofSystem && role != ofProcess:
		p.lower(nothing, "said of no system")
	case p.sign == vague:
		if role != ofSystem || t.Tokens[n.first].sentence != t.Tokens[p.last].sentence {
			p.lower(nothing, "says nothing of what")
			return
		}
		p.subject = n
		p.lower(weak, "says little")
	case needsSubject:
		p.subject = n
		switch role {
		case ofClaim, ofScope:
			p.lower(nothing, "said of no system")
		case ofCertificate:
			p.lower(nothing, "said of the hospital's own access")
		case ofOwn:
			if p.sign != tls {
				p.lower(weak, "said of the hospital's own access")
			}
		case ofContact:
			p.lower(soft, "said of how to reach people")
		}
	}
}

// passesHow lowers what is said to be over, not yet so, possible, denied, or a setting.
func (t *Text) passesHow(p *Piece) {
	const right, nearby, clauseLong = 1, 3, 6
	isJoined := p.first > 0 && t.Tokens[p.first-1].roles&roleOr != 0
	switch {
	case p.sign != advice && (t.markedNear(p, "no", right) || isJoined && t.markedNear(p, "no", nearby+1)):
		p.lower(nothing, "denied")
	case t.isLimit(p):
		p.lower(nothing, "a limit that was set")
	case t.isInName(p):
		p.lower(soft, "a name")
	case t.marked(p, "if", false):
		p.lower(soft, "only if it happens")
	case t.marked(p, "habit", true), t.marked(p, "future", false):
		p.lower(soft, "announced, or a habit")
	case t.marked(p, "earlier", true), t.Tokens[p.first].clause > 0 && t.markedNear(p, "earlier", nearby):
		p.lower(soft, "of an earlier try")
	case t.marked(p, "ended", true):
		p.lower(soft, "is over")
	case t.markedNear(p, "after", clauseLong):
		p.lower(weak, "lies before it")
	}
}

// isInName reports whether a piece is the middle of a name such as RN-TIMEOUT-03.
func (t *Text) isInName(p *Piece) bool {
	before, behind := t.Source[:p.Start], t.Source[p.End:]
	if p.sign != timeout || before == "" || len(behind) < 2 {
		return false
	}
	left, right := before[len(before)-1], behind[0]
	isSign := func(c byte) bool { return c == '-' || c == '_' }
	return isSign(left) && isSign(right) && (left == right || kinds[behind[1]] == digit)
}

// isLimit reports whether a word for a time names a limit that was set: (timeout 60000 ms), timeout de 30 s.
func (t *Text) isLimit(p *Piece) bool {
	if p.sign != timeout || p.Start == 0 {
		return false
	}
	behind, before := t.Source[p.End:], strings.TrimRight(t.Source[:p.Start], " ")
	value := strings.TrimLeft(behind, " =:")
	return value != "" && kinds[value[0]] == digit && before != "" &&
		(strings.IndexByte("({;,|", before[len(before)-1]) >= 0 || strings.HasPrefix(behind, "="))
}

// refuses weighs a sign of a refusal.
func (t *Text) refuses(p *Piece) {
	p.weight = plain
	switch kind := p.row.Kind; {
	case t.Tokens[p.first].place == trace:
		p.lower(nothing, "in a line of a stack trace")
	case kind == Glosa:
		p.weight = reason
		if p.ownTerm && p.sign == factSign {
			p.weight = fact
		}
		t.refusesHow(p)
	case kind == Exception && p.sign == own:
		p.weight = denial
	case kind == Term:
		t.refusesOf(p)
		t.refusesHow(p)
	}
}

// refusesOf weighs a phrase by what it is said of.
func (t *Text) refusesOf(p *Piece) {
	role, n := t.subject(p)
	p.subject = n
	ofAClaim := role == ofClaim || role == ofProcess || role == ofScope
	switch {
	case p.row.Needs == "own" && role != ofOwn && role != ofCertificate && (ofAClaim || !t.isNearOwn(p)):
		p.lower(nothing, "said of nothing of the hospital's own")
	case p.row.Needs == "system" && !ofAClaim && role != ofMessage:
		p.lower(nothing, "said of no claim")
	case p.sign == schema, p.sign == duplicate, p.sign == tissFault, p.sign == fault:
		p.weight = reason
	case t.isPartOfPassing(p):
		p.lower(nothing, "a part of what passes by itself")
	case p.sign&(setup|factSign) != 0 && (t.names(p, ofSystem) || t.names(p, ofProcess)):
		p.why = "said of a system"
	case p.sign == setup:
		p.weight = fact
	case p.sign == own:
		p.weight = denial
	case role == ofCertificate:
		p.weight, p.sign = denial, setup
		if p.row.Sign == "fact" {
			p.weight = fact
		}
	case role == ofOwn:
		p.weight, p.sign = denial, own
	case p.sign == factSign && role != ofSystem:
		p.weight = fact
		if p.first == p.last && !ofAClaim { // one word, and not said of what
			p.weight = reason
		}
	case !ofAClaim && role != ofSystem && t.isNearOwn(p):
		p.weight, p.sign = denial, own
	case p.sign == access:
	case p.sign == deniedSign:
		p.weight = denial
		if !ofAClaim {
			p.weight, p.sign = plain, unsaid
		}
	case ofAClaim, t.names(p, ofClaim):
		p.weight = reason
	case role == ofSystem:
		p.why, p.sign = "said of a system", unsaid
	default:
		p.sign = unsaid
	}
}

// refusesHow lowers what is asked, or is an answer by default.
func (t *Text) refusesHow(p *Piece) {
	switch {
	case t.isAsked(p):
		p.lower(nothing, "asked, not said")
	case t.inSentence(p, "default"):
		p.lower(nothing, "what is answered where nothing is known")
	}
}

// names reports whether a phrase has a noun of a role in it.
func (t *Text) names(p *Piece, role string) bool {
	return slices.ContainsFunc(t.nouns, func(n span) bool {
		return n.row.Sign == role && n.first <= p.last && n.last >= p.first && n.last <= p.last+1
	})
}

// isNearOwn reports whether the sentence of a piece names the hospital's own access.
func (t *Text) isNearOwn(p *Piece) bool {
	return slices.ContainsFunc(t.nouns, func(n span) bool {
		return t.isOwn(&n) && t.Tokens[n.first].sentence == t.Tokens[p.first].sentence
	})
}

// isPartOfPassing reports whether a refusal has words of a longer phrase that passes: "tempo limite
// excedido".
func (t *Text) isPartOfPassing(p *Piece) bool {
	return slices.ContainsFunc(t.Pieces, func(q Piece) bool {
		return q.row.Class == transient && q.row.Kind == Term && q.weight == strong &&
			q.first <= p.last && q.last >= p.first && (q.last-q.first > p.last-p.first || q.first < p.first)
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

// settle compares a refusal with what stands around it.
func (t *Text) settle(p *Piece) {
	if p.answer != nil && p.weight >= plain && (p.row.Kind == Glosa || p.row.Kind == Term) {
		p.weight = fact
	}
	switch {
	case p.weight < fact:
	case p.answer != nil && t.isAway(p.answer), p.answer == nil && t.isCaused(p):
		p.lower(reason, "a system that is away is its reason")
	case p.sign != setup && t.isUnreached(p):
		p.lower(reason, "nobody was reached")
	}
}

// isUnreached reports whether the text tells of a failure to reach anybody: who was not reached has refused
// nothing, and what else stands there is what was sent.
func (t *Text) isUnreached(p *Piece) bool {
	return slices.ContainsFunc(t.Pieces, func(q Piece) bool {
		isBefore := t.Tokens[q.first].sentence < t.Tokens[p.first].sentence
		return q.row.Class == transient && q.weight == strong &&
			(q.sign&(connect|lost|noAnswer) != 0 || q.sign&(timeout|tls) != 0 && isBefore)
	})
}

// isAway reports whether an insurer's answer says that a system is away.
func (t *Text) isAway(a *answer) bool {
	return slices.ContainsFunc(t.Pieces, func(p Piece) bool {
		return p.row.Class == transient && a.has(&p) && p.weight >= weak
	})
}

// isCaused reports whether what passes by itself stands behind a refusal in its sentence as its reason:
// behind a word of cause or a colon, or said of a system.
func (t *Text) isCaused(p *Piece) bool {
	clause := t.Tokens[p.last].clause
	return slices.ContainsFunc(t.Pieces, func(q Piece) bool {
		k := &t.Tokens[q.first]
		isOwn := p.sign == setup && q.sign == tls // alert certificate revoked: SSL alert
		if q.row.Class != transient || q.weight < strong || isOwn || k.clause == clause || q.first < p.last ||
			k.sentence != t.Tokens[p.last].sentence {
			return false
		}
		first := int(q.first)
		for t.Tokens[first-1].clause == k.clause {
			first--
		}
		isBehindColon := strings.Contains(t.between(first-1, first), ":")
		return q.subject != nil || isBehindColon || t.marked(&q, "cause", false)
	})
}

// addReasons adds what is said of a system in words that are not known, in a clause with a word of trouble,
// where something is refused beside it: "inexistente; carga do cadastro ainda não terminou".
func (t *Text) addReasons() {
	if !slices.ContainsFunc(t.Pieces, func(p Piece) bool { return p.row.Class == permanent }) {
		return
	}
	for i := range t.marks {
		m := &t.marks[i]
		if m.row.Sign != "trouble" && m.row.Sign != "late" {
			continue
		}
		if n := t.systemInTrouble(m); n != nil {
			p := t.add(t.known.reason, int(min(m.first, n.first)), int(max(m.last, n.last)))
			p.weight, p.subject = strong, n
			return
		}
	}
}

// systemInTrouble returns the system that the clause of a mark is about. A clause with a piece of evidence, a
// condition, or about a claim, says something else.
func (t *Text) systemInTrouble(m *span) (n *span) {
	clause := t.Tokens[m.first].clause
	in := func(s *span) bool {
		return t.Tokens[s.first].clause == clause || t.Tokens[s.last].clause == clause
	}
	for i := range t.Pieces {
		if in(&t.Pieces[i].span) {
			return nil
		}
	}
	for i := range t.marks {
		if t.marks[i].row.Sign == "if" && in(&t.marks[i]) {
			return nil
		}
	}
	for i := range t.nouns {
		of := &t.nouns[i]
		if !in(of) {
			continue
		}
		switch role := of.row.Sign; {
		case n != nil && t.isLinked(n, of): // sistema de contratos
		case role == ofClaim || role == ofScope || role == ofContact:
			return nil
		case role == ofSystem, role == ofMaybe, role == ofProcess && m.row.Sign == "late":
			n = of
		}
	}
	return n
}
