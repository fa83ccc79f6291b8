package evidence

import (
	"slices"
	"strings"
)

// isGlosa reports whether a number of four digits is a code of Tabela 38: under a name for one, behind a word for one, or
// before the words of its own term. Error 1205 of a database is no glosa 1205.
func (t *Text) isGlosa(i, row int) bool {
	if !t.alone(i) {
		return false
	}
	does, first := t.context(i)
	switch {
	case does&roleValue != 0, first > 0 && does&roleGlosa != 0 && t.role(first-1)&roleValue != 0:
		return false
	case does&(roleGlosa|roleCodeKey|roleMessageKey) != 0,
		does&roleFailure != 0 && does&roleBusiness != 0,
		does&roleMessage != 0 && does&roleError != 0 && t.joinedTo(first),
		does&roleTable != 0 && strings.Contains(t.Source[t.tokens[first].start:t.tokens[i].start], "38"),
		does&roleTISS != 0 && does&(roleError|roleCode|roleMotive|roleReturned|roleMessage) != 0:
		return true
	}
	return t.termFollows(i, row, does&(roleError|roleCode|roleMotive) != 0)
}

// joinedTo reports whether the token behind one is a part of the same name.
func (t *Text) joinedTo(i int) bool {
	return i+1 < len(t.tokens) && (t.tokens[i+1].gap == joined || t.between(i, i+1) == "_")
}

// termFollows reports whether words of the code's own term stand behind it, two of them or all. Without a sign between the two
// the code must stand at the beginning, or behind a word for one.
func (t *Text) termFollows(i, row int, named bool) bool {
	const reach = 3 // words that an insurer may add
	words := t.known.glosaWords[row]
	if len(words) == 0 || i+1 == len(t.tokens) {
		return false
	}
	wanted := min(2, len(words))
	sign := strings.TrimLeft(t.between(i, i+1), `"')] `)
	if sign == "" && (len(t.between(i, i+1)) != 1 || i > 0 && !named && t.tokens[i].gap < apart && !t.startsReason(i)) {
		return false // 1308 aguardando
	}
	found := 0
	for next := i + 1; next < len(t.tokens) && next <= i+2*len(words)+reach; next++ {
		if next > i+1 && t.tokens[next].gap == sentence {
			break
		}
		if t.isOneOf(next, words) || t.isSpoilt(next, t.known.tables[0].Rows[row].Term) {
			if found++; found == wanted {
				return true
			}
		}
	}
	return false
}

func (t *Text) isOneOf(i int, words []wordID) bool {
	return slices.ContainsFunc(words, func(w wordID) bool { return t.known.words.has(t.tokens[i].set, w) })
}

// isSpoilt reports whether a token is a word of the term that lost a letter when it was read in the wrong encoding.
func (t *Text) isSpoilt(i int, term string) bool {
	before, _, spoilt := strings.Cut(t.Source[t.tokens[i].start:t.tokens[i].end], "\uFFFD")
	return spoilt && len(before) > 2 && strings.Contains(" "+term, " "+strings.ToUpper(before))
}
