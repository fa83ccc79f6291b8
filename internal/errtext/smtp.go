package errtext

import "strings"

// isReply reports whether a number is a reply code of SMTP: before an enhanced status code, at the beginning
// of a line, or behind a sign or a word that replies stand behind.
func (t *Text) isReply(i int) bool {
	const nearby = 4 // characters
	if t.Tokens[i].gap == joined {
		return false
	}
	before, behind := t.before(i), t.behind(i)
	if rest := strings.TrimLeft(behind, " -#,'b"); len(rest) < len(behind) && enhancedLength(rest) > 0 &&
		!goesOnLeft(before) {
		return true
	}
	if behind != "" && strings.IndexByte(" ,;:)]\"'}.#-\n\r\t", behind[0]) < 0 || goesOnRight(behind) {
		return false
	}
	trimmed := strings.TrimRight(before, " \t")
	gap := len(before) - len(trimmed)
	line := strings.TrimRight(trimmed, "*<>-")
	if gap <= nearby && (line == "" || strings.HasSuffix(line, "\n")) {
		return true
	}
	if trimmed != "" {
		switch last := trimmed[len(trimmed)-1]; {
		case strings.IndexByte(`=(["'>;#`, last) >= 0:
			return true
		case last == ':' || last == ',':
			return gap > 0 || strings.HasSuffix(trimmed, `":`)
		}
	}
	if t.roleAt(i-1)&roleSMTP == 0 {
		return false
	}
	between := t.between(i-1, i)
	return len(between) <= nearby && strings.Trim(between, " #=:-") == ""
}

// enhancedLength returns the length of the enhanced status code that a text begins with, 0 for none.
func enhancedLength(text string) int {
	const most = 3 // digits
	if text == "" || strings.IndexByte("245", text[0]) < 0 {
		return 0
	}
	at := 1
	for range 2 {
		if at >= len(text) || text[at] != '.' {
			return 0
		}
		from := at + 1
		at = from
		for at < len(text) && kinds[text[at]] == digit {
			at++
		}
		if at == from || at > from+most {
			return 0
		}
	}
	if at+1 < len(text) && text[at] == '.' && kinds[text[at+1]] == digit {
		return 0 // an address
	}
	return at
}

// enhanced adds an enhanced status code: behind a reply code, a name for one, or a #.
func (t *Text) enhanced(i int) {
	class := t.word(i)
	if enhancedLength(t.Source[t.Tokens[i].Start:]) == 0 || class == "2" {
		return
	}
	const reply = 3 // digits
	isBehindReply := i > 0 && t.Tokens[i-1].IsNumber && len(t.word(i-1)) == reply &&
		strings.Trim(t.between(i-1, i), " -#,'b") == ""
	isNamed := t.roleAt(i-1)&roleEnhanced != 0 || strings.HasSuffix(t.before(i), "#")
	if isBehindReply || isNamed && !goesOnLeft(t.before(i)) {
		t.add(t.known.codes[Enhanced][class+".X.X"], i, i+2)
	}
}
