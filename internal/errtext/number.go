package errtext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// number adds what a number stands for: a status, a reply code, an enhanced status code or a glosa.
func (t *Text) number(i int) {
	digits := t.word(i)
	t.Tokens[i].IsKept = t.Tokens[i].IsKept || t.isMeasure(i, digits)
	switch len(digits) {
	case 1:
		t.enhanced(i)
	case 3:
		if row := t.known.codes[HTTP][digits]; row != nil {
			if is, isSure := t.isStatus(i, digits); is {
				t.add(row, i, i).unsure = !isSure
			}
		}
		if row := t.known.codes[SMTP][digits]; row != nil && t.isReply(i) {
			t.add(row, i, i)
		}
	case 4:
		if row := t.known.codes[Glosa][digits]; row != nil {
			if is, ownTerm := t.isGlosa(i, row); is {
				t.add(row, i, i).ownTerm = ownTerm
			}
		}
	}
}

// isMeasure reports whether a short number is a time, a size or the version of HTTP.
func (t *Text) isMeasure(i int, digits string) bool {
	const longest = 5
	k := &t.Tokens[i]
	if len(digits) == 1 && i > 1 && t.Tokens[i-1].IsKept && t.roleAt(i-2)&roleHTTP != 0 {
		return t.between(i-2, i-1) == "/" && t.between(i-1, i) == "." // HTTP/1.1
	}
	if len(digits) > longest || k.gap == joined || i > 0 && t.Tokens[i-1].IsNumber && k.gap == near {
		return false
	}
	if t.roleAt(i+1)&roleUnit != 0 && strings.Trim(t.between(i, i+1), " ") == "" && !goesOnLeft(t.before(i)) {
		return true
	}
	return len(digits) == 1 && t.roleAt(i-1)&roleHTTP != 0 && t.between(i-1, i) == "/" // HTTP/2
}

// alone reports whether a number is no part of a longer number, an amount, a date or an id.
func (t *Text) alone(i int) bool {
	isLast := i+1 == len(t.Tokens) || t.Tokens[i+1].gap != joined
	return isLast && !goesOnLeft(t.before(i)) && !goesOnRight(t.behind(i))
}

// goesOnLeft reports whether a number goes on to the left: with what joins it to letters or digits (1.503,
// CLM-503, 2025/503, 10.0.0.1:503), or with the sign of a currency (R$ 503).
func goesOnLeft(before string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	neighbour, _ := utf8.DecodeLastRuneInString(before[:len(before)-size])
	if joins(last) {
		return unicode.IsDigit(neighbour) || (last == '-' || last == '/') && unicode.IsLetter(neighbour)
	}
	last, _ = utf8.DecodeLastRuneInString(strings.TrimRight(before, " "))
	return unicode.Is(unicode.Sc, last)
}

// goesOnRight reports whether a number goes on to the right, 503,00 or 503/2025. A dash before a word joins
// nothing: servers write "503-Service unavailable".
func goesOnRight(behind string) bool {
	return len(behind) > 1 && joins(rune(behind[0])) && kinds[behind[1]] == digit
}

func joins(sign rune) bool { return strings.ContainsRune(".,-/:", sign) }

// context returns what the words before a number say, as far as only such words stand there, and the first of
// them.
func (t *Text) context(i int) (does role, first int) {
	const furthest, widest, short = 8, 12, 2
	first = i
	for k := i - 1; k >= max(0, i-furthest); k-- {
		if between := t.between(k, k+1); len(between) > widest && !strings.Contains(between, "\n") {
			break
		}
		if t.Tokens[k].IsNumber && len(t.word(k)) <= short { // HTTP/1.1, tabela 38
			continue
		}
		is := t.roleAt(k) &^ roleIdle
		if is == 0 {
			break
		}
		if does |= is; is&roleFill == 0 {
			first = k
		}
	}
	return does, first
}

// isStatus reports whether a number stands where a status stands: behind HTTP or a name for one, or before
// its reason. Behind a word that says little only one that passes by itself does, and that is not sure.
func (t *Text) isStatus(i int, code string) (is, isSure bool) {
	behind := t.behind(i)
	isNamed := t.roleAt(i-1)&roleNamed != 0
	if !isNamed && (t.Tokens[i].gap == joined || goesOnLeft(t.before(i))) {
		return false, false
	}
	subStatus := len(behind) > 1 && behind[0] == '.' && kinds[behind[1]] == digit &&
		(len(behind) == 2 || kinds[behind[2]] == other) // of IIS: 404.0
	if !subStatus && (goesOnRight(behind) || i+1 < len(t.Tokens) && t.Tokens[i+1].gap == joined) {
		return false, false
	}
	if t.isBeforeReason(i, code) {
		return true, true
	}
	does, first := t.context(i)
	if first == i || strings.ContainsAny(t.between(i-1, i), "\n;,%") {
		return false, false
	}
	between := t.between(i-1, i)
	isField := strings.Contains(between, `"`) && strings.Contains(between, ":") && behind != "" &&
		strings.IndexByte(`\",}`, behind[0]) >= 0
	for _, sure := range []role{
		roleHTTP,
		roleStatus | roleCode,
		roleResponse | roleCode,
		roleResponse | roleStatus,
		roleReturned | roleError,
	} {
		if does&sure == sure {
			return true, true
		}
	}
	if does&roleStatus != 0 && isField {
		return true, true
	}
	passes := t.known.codes[HTTP][code].Class == transient && code != "407" && code != "423" && code != "424"
	return passes && does&(roleNamed|roleResponse|roleReturned) != 0, t.roleAt(i-1)&roleStatus != 0
}

// isBeforeReason reports whether the reason of a status follows a number, also behind "Client Error:".
func (t *Text) isBeforeReason(i int, code string) bool {
	const words, widest = 3, 5
	if i > 0 && t.Tokens[i].gap == near && t.roleAt(i-1)&^roleIdle == 0 &&
		strings.HasSuffix(t.before(i), " ") && !t.startsLine(i) {
		return false
	}
	for next := i + 1; next < min(i+1+words, len(t.Tokens)); next++ {
		if len(t.between(next-1, next)) > widest {
			return false
		}
		for _, r := range t.reasons {
			if int(r.first) == next && r.row.Code == code {
				return true
			}
		}
		does := t.roleAt(next)
		if does&roleKind != 0 && t.roleAt(next+1)&roleError != 0 {
			return true // 404 Client Error
		}
		if does&(roleKind|roleError) == 0 {
			return false
		}
	}
	return false
}

// startsLine reports whether a number may begin a status line: at the beginning, or behind a sign.
func (t *Text) startsLine(i int) bool {
	before := strings.TrimRight(t.before(i), " ")
	return before == "" || strings.IndexByte(`>("'[:;,|-`+"\n", before[len(before)-1]) >= 0
}

// isGlosa reports whether a number of four digits is a code of Tabela 38: under a name for one, behind a word
// for one, or before words of its own term. Error 1205 of a database is no glosa 1205.
func (t *Text) isGlosa(i int, r *Row) (is, ownTerm bool) {
	if !t.alone(i) {
		return false, false
	}
	does, first := t.context(i)
	all := func(roles role) bool { return does&roles == roles }
	if does&roleValue != 0 || first > 0 && does&roleGlosa != 0 && t.roleAt(first-1)&roleValue != 0 {
		return false, false
	}
	ownTerm = t.isBeforeTerm(i, r, does&(roleError|roleCode|roleMotive) != 0)
	return ownTerm || does&(roleGlosa|roleCodeKey|roleMessageKey) != 0 || all(roleFailure|roleBusiness) ||
		all(roleMessage|roleError) && t.isJoined(first) ||
		does&roleTable != 0 && strings.Contains(t.Source[t.Tokens[first].Start:t.Tokens[i].Start], "38") ||
		does&roleTISS != 0 && does&(roleError|roleCode|roleMotive|roleReturned|roleMessage) != 0, ownTerm
}

// isJoined reports whether the token behind one is a part of the same name.
func (t *Text) isJoined(i int) bool {
	return i >= 0 && i+1 < len(t.Tokens) && (t.Tokens[i+1].gap == joined || t.between(i, i+1) == "_")
}

// isBeforeTerm reports whether two words of a code's own term stand behind it.
func (t *Text) isBeforeTerm(i int, r *Row, isNamed bool) bool {
	const reach = 3 // words that an insurer may add
	if len(r.words) == 0 {
		return false
	}
	if i+1 == len(t.Tokens) {
		return false
	}
	between := t.between(i, i+1)
	isBlank := strings.TrimLeft(between, `"')] `) == ""
	if isBlank && (len(between) != 1 || i > 0 && !isNamed && t.Tokens[i].gap < apart && !t.startsLine(i)) {
		return false // 1308 aguardando
	}
	last := i + 2
	for last < min(i+1+2*len(r.words)+reach, len(t.Tokens)) && t.Tokens[last].gap < sentenceEnd {
		last++
	}
	return t.hasWords(i+1, min(last, len(t.Tokens)), r)
}

// hasWords reports whether two words of a code's term, or its only one, are among some tokens.
func (t *Text) hasWords(from, to int, r *Row) bool {
	found := 0
	for k := from; k < to; k++ {
		for _, w := range r.words {
			if t.isWord(k, w) {
				found++
				break
			}
		}
	}
	return found >= min(2, len(r.words))
}

// fault adds the fault code of SOAP that ends with a token: soap:Client, {http://...}Server,
// [SOAP-ENV:Client].
func (t *Text) fault(last int) {
	first := last
	if w := t.word(last); strings.EqualFold(w, "mismatch") || strings.EqualFold(w, "understand") {
		if t.Tokens[last].gap != joined || last == 0 {
			return
		}
		first--
	}
	before, code := t.before(first), t.Source[t.Tokens[first].Start:t.Tokens[last].End]
	row := t.known.codes[SOAPFault][strings.ToUpper(code)]
	if before == "" || row == nil {
		return
	}
	switch before[len(before)-1] {
	case '}':
	case ':':
		if first == 0 || t.between(first-1, first) != ":" ||
			t.roleAt(first-1)&rolePrefix == 0 && !t.isUnderFaultCode(first-1) {
			return
		}
	case '[':
		if !strings.HasPrefix(t.behind(last), "]") || !t.isUnderFaultCode(first) {
			return
		}
	default:
		return
	}
	t.add(row, first, last)
}

// isUnderFaultCode reports whether one of the few words before a token names a fault or its code.
func (t *Text) isUnderFaultCode(i int) bool {
	const few = 4
	for k := max(0, i-few); k < i; k++ {
		if t.roleAt(k)&roleFaultCode != 0 {
			return true
		}
	}
	return false
}
