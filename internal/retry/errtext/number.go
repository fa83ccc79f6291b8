package errtext

import (
	"slices"
	"strings"
)

// number adds what a number stands for: a status, a reply code, an enhanced status code or a glosa.
func (t *Text) number(i int) {
	digits := t.word(i)
	t.Tokens[i].IsKept = t.Tokens[i].IsKept || t.isMeasure(i, digits)
	switch len(digits) {
	case 1:
		row := t.known.codes[Enhanced][digits+".X.X"]
		if row != nil && t.isEnhanced(i) && t.isNamedEnhanced(i) {
			t.add(row, i, i+2)
		}
	case 3:
		if row := t.known.codes[HTTP][digits]; row != nil {
			if is, isSure := t.isStatus(i, row); is {
				t.add(row, i, i).unsure = !isSure
			}
		}
		if row := t.known.codes[SMTP][digits]; row != nil && t.isReply(i) {
			t.add(row, i, i)
		}
	case 4:
		if row := t.known.codes[Glosa][digits]; row != nil && t.alone(i) {
			if is, ownTerm := t.isGlosa(i, row); is {
				t.add(row, i, i).ownTerm = ownTerm
			}
		}
	}
}

// isMeasure reports whether a short number is a time, a size or the version of HTTP.
func (t *Text) isMeasure(i int, digits string) bool {
	const longest = 5
	if len(digits) == 1 && t.context(i)&roleHTTP != 0 { // HTTP/2, HTTP/1.1
		return true
	}
	return len(digits) <= longest && t.Tokens[i].gap != joined && !t.goesOn(i-1) &&
		t.roleAt(i+1)&roleUnit != 0 && strings.Trim(t.between(i, i+1), " ") == ""
}

// alone reports whether a number is no part of a longer number, an amount, a date or an id.
func (t *Text) alone(i int) bool {
	isLast := i+1 == len(t.Tokens) || t.Tokens[i+1].gap != joined
	return isLast && t.Tokens[i].gap != joined && !t.goesOn(i-1) && !t.goesOn(i)
}

// goesOn reports whether a number goes on with the next one: 1.503, 2025/503, 10.0.0.1:503, 503,00.
func (t *Text) goesOn(i int) bool {
	if i < 0 || i+1 >= len(t.Tokens) || !t.Tokens[i].IsNumber || !t.Tokens[i+1].IsNumber {
		return false
	}
	between := t.between(i, i+1)
	return len(between) == 1 && strings.Contains(".,-/:", between)
}

// startsLine reports whether a number stands at the beginning, or behind a sign.
func (t *Text) startsLine(i int) bool {
	before := strings.TrimRight(t.before(i), " \t")
	return before == "" || strings.IndexByte(`>("'[:;,|-=#`+"\n", before[len(before)-1]) >= 0
}

// context returns what the words before a number say, as far as only such words stand there.
func (t *Text) context(i int) (does role) {
	const furthest, short = 8, 2
	for k := i - 1; k >= max(0, i-furthest); k-- {
		if t.Tokens[k].IsNumber && len(t.word(k)) <= short { // HTTP/1.1, tabela 38
			continue
		}
		is := t.roleAt(k) &^ roleIdle
		if is == 0 {
			break
		}
		does |= is
	}
	return does
}

// says reports whether words do all that one of some names needs.
func (does role) says(names ...role) bool {
	return slices.ContainsFunc(names, func(needs role) bool { return does&needs == needs })
}

// isStatus reports whether a number stands where a status stands: behind HTTP or a name for one, or before
// its reason. Behind a word that says little only one that passes by itself does, and that is not sure.
func (t *Text) isStatus(i int, r *Row) (is, isSure bool) {
	hasSubStatus := strings.HasPrefix(t.behind(i), ".")                  // of IIS: 404.0
	isNamed := t.Tokens[i].gap == joined && t.roleAt(i-1)&roleNamed != 0 // http502
	if !t.alone(i) && !hasSubStatus && !isNamed {
		return false, false
	}
	does := t.context(i)
	if t.isBeforeReason(i, r.Code) || does.says(roleHTTP, roleStatus|roleCode, roleReturned|roleError) {
		return true, true
	}
	return r.Class == transient && does&(roleNamed|roleReturned) != 0, does&roleStatus != 0
}

// isBeforeReason reports whether the reason of a status follows a number, also behind "Client Error:".
func (t *Text) isBeforeReason(i int, code string) bool {
	const words = 3
	for next := i + 1; next <= i+words; next++ {
		is := func(s span) bool { return int(s.first) == next && s.row.Code == code }
		if slices.ContainsFunc(t.marks, is) {
			return true
		}
		if t.roleAt(next)&(roleFaultWord|roleError) == 0 {
			break
		}
	}
	return false
}

// isGlosa reports whether a number of four digits is a code of Tabela 38: under a name for one, behind a word
// for one, or before words of its own term. Error 1205 of a database is no glosa 1205.
func (t *Text) isGlosa(i int, r *Row) (is, ownTerm bool) {
	does := t.context(i)
	if does&roleValue != 0 {
		return false, false
	}
	ownTerm = t.isBeforeTerm(i, r)
	isNamed := does&roleTable != 0 && t.word(i-1) == "38" || does.says(roleGlosa,
		roleFailure|roleBusiness, roleMessage|roleError, roleTISS|roleError)
	return ownTerm || isNamed, ownTerm
}

// isBeforeTerm reports whether two words of a code's own term, or its only one, stand behind it.
func (t *Text) isBeforeTerm(i int, r *Row) bool {
	const reach = 8
	if i+1 == len(t.Tokens) || t.between(i, i+1) == " " && !t.startsLine(i) { // 1308 aguardando
		return false
	}
	words, found := t.known.ownWords[r], 0
	for k := i + 1; k < min(i+reach, len(t.Tokens)); k++ {
		if slices.ContainsFunc(words, func(w int32) bool { return slices.Contains(t.idsOf(k), w) }) {
			found++
		}
	}
	return len(words) > 0 && found >= min(2, len(words))
}

// isReply reports whether a number is a reply code of SMTP: before an enhanced status code, at the beginning
// of a line, or behind a sign or a word that replies stand behind.
func (t *Text) isReply(i int) bool {
	if t.isEnhanced(i+1) && strings.Trim(t.between(i, i+1), " -#") == "" {
		return true
	}
	return t.alone(i) && (t.roleAt(i-1)&roleSMTP != 0 || t.startsLine(i))
}

// isEnhanced reports whether an enhanced status code begins with a token: 5.1.1.
func (t *Text) isEnhanced(i int) bool {
	return t.goesOn(i) && t.goesOn(i+1) && len(t.word(i)) == 1 &&
		t.between(i, i+1) == "." && t.between(i+1, i+2) == "."
}

// isNamedEnhanced reports whether a token stands behind a reply code, or a name for an enhanced one.
func (t *Text) isNamedEnhanced(i int) bool {
	const reply = 3 // digits
	isBehindReply := i > 0 && t.Tokens[i-1].IsNumber && len(t.word(i-1)) == reply &&
		strings.Trim(t.between(i-1, i), " -#") == ""
	return isBehindReply || t.roleAt(i-1)&roleEnhanced != 0
}

// fault adds the fault code of SOAP that ends with a token: soap:Client, {http://...}Server.
func (t *Text) fault(last int) {
	first := last
	if t.Tokens[last].gap == joined { // MustUnderstand
		first--
	}
	before, code := t.before(first), t.Source[t.Tokens[first].Start:t.Tokens[last].End]
	isNamed := strings.HasSuffix(before, "}") ||
		strings.HasSuffix(before, ":") && t.roleAt(first-1)&rolePrefix != 0
	if !isNamed { // as most are: "server" is a word
		return
	}
	if row := t.known.codes[SOAPFault][strings.ToUpper(code)]; row != nil {
		t.add(row, first, last)
	}
}
