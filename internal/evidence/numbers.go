package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// role is what a word does next to a number.
type role uint32

const (
	roleHTTP role = 1 << iota
	roleStatus
	roleCode
	roleError
	roleResponse
	roleReturned
	roleFill // says nothing: de, an, xsi
	roleGlosa
	roleMotive
	roleTISS
	roleTable
	roleValue
	roleMessage
	roleFailure
	roleBusiness
	roleDescription
	roleSMTP
	roleEnhanced
	roleFaultWord
	rolePrefix
	roleFaultCode
	roleCodeKey
	roleTextKey
	roleMessageKey
	roleKind // Client Error, Server Error
	roleUnit // seconds, bytes
	rolePort

	roleAnswer = roleGlosa | roleError | roleBusiness | roleCodeKey | roleTextKey | roleMessageKey
)

// roleWords are the words with a role, without accents.
var roleWords = map[string]role{
	"http": roleHTTP, "https": roleHTTP,
	"status": roleStatus | roleSMTP | roleEnhanced, "statuscode": roleStatus | roleCode,
	"code": roleCode | roleSMTP, "codigo": roleCode | roleSMTP, "cod": roleCode, "cd": roleCode, "responsecode": roleResponse | roleCode,
	"error": roleError | roleSMTP, "erro": roleError | roleSMTP, "errors": roleError, "errorcode": roleError | roleCode,
	"response": roleResponse | roleSMTP | roleEnhanced, "resposta": roleResponse | roleSMTP, "reply": roleSMTP,
	"returned": roleReturned | roleSMTP, "retornou": roleReturned, "retorno": roleReturned, "received": roleReturned, "recebido": roleReturned,
	"got": roleReturned, "devolveu": roleReturned, "respondeu": roleReturned,
	"de": roleFill, "do": roleFill, "da": roleFill, "an": roleFill, "a": roleFill, "um": roleFill, "uma": roleFill, "is": roleFill,
	"was": roleFill | roleEnhanced, "foi": roleFill, "com": roleFill, "with": roleFill, "ao": roleFill, "n": roleFill, "numero": roleFill, "o": roleFill,
	"xsi": roleFill, "xsd": roleFill, "xs": roleFill, "type": roleFill, "string": roleFill, "int": roleFill, "integer": roleFill, "cdata": roleFill,
	"lt": roleFill, "gt": roleFill, "quot": roleFill, "amp": roleFill, // of XML that was escaped twice
	"glosa": roleGlosa, "glosas": roleGlosa,
	"motivo": roleMotive, "mot": roleMotive, "tipo": roleMotive, "critica": roleMotive, "negativa": roleMotive, "rejeicao": roleMotive,
	"tiss": roleTISS, "ans": roleTISS, "tabela": roleTable, "tab": roleTable,
	"valor": roleValue, "vl": roleValue, "vlr": roleValue, "recurso": roleValue, "qtde": roleValue, "qtd": roleValue, "quantidade": roleValue, "total": roleValue,
	"mensagem": roleMessage, "falha": roleFailure, "negocio": roleBusiness, "descricao": roleDescription, "ds": roleDescription, "desc": roleDescription,
	"smtp": roleSMTP, "esmtp": roleSMTP, "said": roleSMTP, "rejected": roleSMTP, "rejeitado": roleSMTP, "failed": roleSMTP, "exception": roleSMTP,
	"dsn":    roleEnhanced,
	"client": roleFaultWord | roleKind, "server": roleFaultWord | roleKind, "sender": roleFaultWord, "receiver": roleFaultWord,
	"versionmismatch": roleFaultWord, "mustunderstand": roleFaultWord, "mismatch": roleFaultWord, "understand": roleFaultWord,
	"second": roleUnit, "seconds": roleUnit, "sec": roleUnit, "secs": roleUnit, "segundo": roleUnit, "segundos": roleUnit, "seg": roleUnit,
	"ms": roleUnit, "millis": roleUnit, "milliseconds": roleUnit, "minute": roleUnit, "minutes": roleUnit, "min": roleUnit, "minuto": roleUnit,
	"minutos": roleUnit, "hour": roleUnit, "hours": roleUnit, "hora": roleUnit, "horas": roleUnit, "byte": roleUnit, "bytes": roleUnit,
	"port": rolePort, "porta": rolePort,
	"soap": rolePrefix, "soapenv": rolePrefix, "env": rolePrefix, "s": rolePrefix | roleUnit, "soapfault": roleFaultCode, "fault": roleFaultCode,
	"faultcode": roleFaultCode, "value": roleFaultCode,
	"codigoerro": roleMessageKey, "faultstring": roleMessageKey, "tissfault": roleMessageKey,
	"codigoglosa": roleCodeKey, "codglosa": roleCodeKey, "cdglosa": roleCodeKey, "tipoglosa": roleCodeKey, "motivoglosa": roleCodeKey,
	"descricaoglosa": roleTextKey, "dsglosa": roleTextKey, "mensagemerro": roleMessageKey, "falhanegocio": roleMessageKey,
}

func (t *Text) role(i int) role { return t.known.roles[t.tokens[i].set] }

// between returns the text between two neighbours.
func (t *Text) between(i, next int) string { return t.Source[t.tokens[i].end:t.tokens[next].start] }

// number adds what a number stands for.
func (t *Text) number(i int) {
	digits := t.Source[t.tokens[i].start:t.tokens[i].end]
	t.tokens[i].kept = t.tokens[i].kept || t.isMeasure(i, digits)
	switch len(digits) {
	case 1:
		t.enhanced(i, digits)
	case 3:
		if row := *t.known.http.at(digits); row >= 0 && t.isStatus(i, digits) {
			t.addNumber(HTTP, i, row)
		}
		if row := *t.known.smtp.at(digits); row >= 0 && t.isReply(i) {
			t.addNumber(SMTP, i, row)
		}
	case 4:
		if row := *t.known.glosas.at(digits); row >= 0 && t.isGlosa(i, int(row)) {
			t.addNumber(Glosa, i, row)
		}
	}
}

func (t *Text) addNumber(kind Kind, i int, row int16) {
	t.tokens[i].kept = true
	t.add(Piece{Kind: kind, row: row, Start: t.tokens[i].start, End: t.tokens[i].end})
}

// isMeasure reports whether a short number is a time, a size, a port or the version of HTTP.
func (t *Text) isMeasure(i int, digits string) bool {
	const longest = 5
	token := &t.tokens[i]
	before := t.Source[:token.start]
	if i > 1 && len(digits) == 1 && t.tokens[i-1].kept && t.role(i-2)&roleHTTP != 0 && t.between(i-2, i-1) == "/" && t.between(i-1, i) == "." {
		return true // HTTP/1.1
	}
	if len(digits) > longest || token.gap == joined || i > 0 && t.tokens[i-1].kind == number && token.gap == near {
		return false
	}
	if next := i + 1; next < len(t.tokens) && t.role(next)&roleUnit != 0 && strings.Trim(t.between(i, next), " ") == "" && !joinedBefore(before) {
		return true
	}
	switch {
	case i == 0 || i+1 < len(t.tokens) && t.tokens[i+1].gap == joined || joinedBehind(t.Source[token.end:]) && !strings.HasPrefix(t.Source[token.end:], "."):
		return false
	case t.role(i-1)&rolePort != 0:
		return strings.Trim(t.between(i-1, i), " =:'\"") == ""
	case t.role(i-1)&roleHTTP != 0:
		return len(digits) == 1 && t.between(i-1, i) == "/"
	case strings.HasSuffix(before, ":") && i > 1 && t.tokens[i-1].end == token.start-1: // ws.example:443
		return t.tokens[i-1].kind == word && t.between(i-2, i-1) == "."
	default:
		return false
	}
}

// alone reports whether a number is no part of a longer number, an amount, a date or an id.
func (t *Text) alone(i int) bool {
	token := &t.tokens[i]
	if i+1 < len(t.tokens) && t.tokens[i+1].gap == joined {
		return false
	}
	return !joinedBefore(t.Source[:token.start]) && !joinedBehind(t.Source[token.end:])
}

// joinedBefore reports whether a number goes on to the left: with what joins it to letters or digits (1.503, CLM-503,
// 2025/503, 10.0.0.1:503), or with the sign of a currency (R$ 503).
func joinedBefore(before string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	neighbour, _ := utf8.DecodeLastRuneInString(before[:len(before)-size])
	if joins(last) {
		return unicode.IsDigit(neighbour) || (last == '-' || last == '/') && unicode.IsLetter(neighbour)
	}
	last, _ = utf8.DecodeLastRuneInString(strings.TrimRight(before, " "))
	return unicode.Is(unicode.Sc, last)
}

// joinedBehind reports whether a number goes on to the right, with what joins it to a digit (503,00, 503/2025). A dash before a
// word joins nothing there: servers write "503-Service unavailable".
func joinedBehind(behind string) bool {
	first, size := utf8.DecodeRuneInString(behind)
	neighbour, _ := utf8.DecodeRuneInString(behind[size:])
	return joins(first) && unicode.IsDigit(neighbour)
}

func joins(sign rune) bool { return strings.ContainsRune(".,-/:", sign) }

// context returns what the words before a number say, as far as only such words stand there, and the first of them.
func (t *Text) context(i int) (does role, first int) {
	const furthest, widest = 8, 12
	first = i
	for k := i - 1; k >= 0 && k >= i-furthest; k-- {
		between := t.between(k, k+1)
		if len(between) > widest && !strings.Contains(between, "\n") {
			break
		}
		is := t.role(k) &^ (roleUnit | rolePort)
		if t.tokens[k].kind == number && t.tokens[k].end-t.tokens[k].start <= 2 { // HTTP/1.1, tabela 38
			continue
		}
		if is == 0 {
			break
		}
		does |= is
		if is&roleFill == 0 {
			first = k
		}
	}
	return does, first
}

// isStatus reports whether a number is an HTTP status. Behind a word that says little, only one that passes by itself is.
func (t *Text) isStatus(i int, code string) bool {
	token := &t.tokens[i]
	if token.gap == joined && (i == 0 || t.role(i-1)&(roleHTTP|roleStatus|roleCode|roleError) == 0) {
		return false
	}
	behind := t.Source[token.end:]
	if subStatus(behind) == "" && (i+1 < len(t.tokens) && t.tokens[i+1].gap == joined || joinedBehind(behind)) ||
		token.gap != joined && joinedBefore(t.Source[:token.start]) && t.role(max(i-1, 0))&(roleHTTP|roleStatus|roleCode|roleError) == 0 {
		return false
	}
	if t.reasonAfter(i, code) {
		return true
	}
	does, first := t.context(i)
	if first == i || strings.ContainsAny(t.between(i-1, i), "\n;,%") {
		return false
	}
	has := func(roles ...role) bool {
		for _, r := range roles {
			if does&r == 0 {
				return false
			}
		}
		return true
	}
	strong := has(roleHTTP) || has(roleStatus, roleCode) || has(roleResponse, roleCode) || has(roleResponse, roleStatus) || has(roleReturned, roleError) ||
		has(roleStatus) && fieldValue(t.between(i-1, i), behind)
	if strong {
		return true
	}
	weak := code >= "500" && code != "501" && code != "505" || code == "408" || code == "425" || code == "429"
	return weak && does&(roleStatus|roleCode|roleError|roleResponse|roleReturned) != 0
}

// fieldValue reports whether a number is all of a field's value in JSON.
func fieldValue(before, behind string) bool {
	return strings.Contains(before, `"`) && strings.Contains(before, ":") && behind != "" && strings.IndexByte(`\",}`, behind[0]) >= 0
}

// subStatus returns the sub-status of IIS: 404.0, 403.7.
func subStatus(behind string) string {
	if len(behind) >= 2 && behind[0] == '.' && behind[1] >= '0' && behind[1] <= '9' {
		end := 2
		for end < len(behind) && behind[end] >= '0' && behind[end] <= '9' {
			end++
		}
		if end <= 3 && !joinedBehind(behind[end:]) {
			return behind[:end]
		}
	}
	return ""
}

// reasonAfter reports whether the reason phrase of a status follows it, also behind "Client Error:".
func (t *Text) reasonAfter(i int, code string) bool {
	next := i + 1
	if t.tokens[i].gap == near && strings.HasSuffix(t.Source[:t.tokens[i].start], " ") && i > 0 && t.role(i-1) == 0 && !t.startsReason(i) {
		return false
	}
	for range 3 {
		if next >= len(t.tokens) || len(t.between(next-1, next)) > 5 {
			return false
		}
		for _, start := range t.known.starts[t.tokens[next].set] {
			if t.isReason(start, next, code) {
				return true
			}
		}
		if t.role(next)&(roleKind|roleError) == 0 {
			return false
		}
		if t.role(next)&roleKind != 0 && next+1 < len(t.tokens) && t.role(next+1)&roleError != 0 {
			return true // 404 Client Error
		}
		next++
	}
	return false
}

// startsReason reports whether a number may begin a status line: at the beginning, or behind a sign.
func (t *Text) startsReason(i int) bool {
	before := strings.TrimRight(t.Source[:t.tokens[i].start], " ")
	return before == "" || strings.IndexByte(`>("'[:;,|`, before[len(before)-1]) >= 0
}

// isReason reports whether the reason phrase of a status goes on behind a token.
func (t *Text) isReason(at int32, token int, code string) bool {
	s := &t.known.steps[at]
	for _, row := range s.ends {
		if table := t.known.tables[row.table]; table.Name == TableHTTP && table.Rows[row.row].Code == code {
			return true
		}
	}
	next := token + 1
	if next == len(t.tokens) || t.tokens[next].gap > near {
		return false
	}
	for _, word := range t.known.words.members[t.tokens[next].set] {
		if to := s.next.behind(word); to != 0 && t.isReason(to, next, code) {
			return true
		}
	}
	return false
}

// isReply reports whether a number is a reply code of SMTP: before an enhanced status code, at the beginning of a line, or
// behind a sign or a word that replies stand behind.
func (t *Text) isReply(i int) bool {
	token := &t.tokens[i]
	if token.gap == joined {
		return false
	}
	before, behind := t.Source[:token.start], t.Source[token.end:]
	if rest := strings.TrimLeft(behind, " -#,'b"); len(rest) < len(behind) && enhancedLength(rest) > 0 && !joinedBefore(before) {
		return true
	}
	if behind != "" && strings.IndexByte(" ,;:)]\"'}.#-\n\r\t", behind[0]) < 0 || joinedBehind(behind) {
		return false
	}
	trimmed := strings.TrimRight(before, " \t")
	gap := len(before) - len(trimmed)
	if line := strings.TrimRight(trimmed, "*<>-"); gap <= 4 && (line == "" || strings.HasSuffix(line, "\n")) {
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
	return i > 0 && t.role(i-1)&roleSMTP != 0 && len(before)-int(t.tokens[i-1].end) <= 4 && strings.Trim(t.between(i-1, i), " #=:-") == ""
}

// enhancedLength returns the length of the enhanced status code that a text begins with, 0 for none.
func enhancedLength(text string) int {
	if text == "" || strings.IndexByte("245", text[0]) < 0 {
		return 0
	}
	at := 1
	for range 2 {
		if at >= len(text) || text[at] != '.' {
			return 0
		}
		digits := 0
		for at++; at < len(text) && text[at] >= '0' && text[at] <= '9'; at++ {
			digits++
		}
		if digits < 1 || digits > 3 {
			return 0
		}
	}
	if at < len(text) && (text[at] == '.' && at+1 < len(text) && text[at+1] >= '0' && text[at+1] <= '9') {
		return 0 // an address
	}
	return at
}

// enhanced adds an enhanced status code.
func (t *Text) enhanced(i int, digits string) {
	token := &t.tokens[i]
	n := enhancedLength(t.Source[token.start:])
	if n == 0 || digits == "2" || joinedBefore(t.Source[:token.start]) && !t.behindReply(i) {
		return
	}
	does := role(0)
	if i > 0 {
		does = t.role(i - 1)
	}
	if !t.behindReply(i) && does&roleEnhanced == 0 && !strings.HasSuffix(t.Source[:token.start], "#") {
		return
	}
	for k := i; k < len(t.tokens) && t.tokens[k].end <= token.start+int32(n); k++ {
		t.tokens[k].kept = true
	}
	t.add(Piece{Kind: Enhanced, row: int16(digits[0] - '4'), Start: token.start, End: token.start + int32(n)})
}

// behindReply reports whether a number stands right behind a reply code.
func (t *Text) behindReply(i int) bool {
	return i > 0 && t.tokens[i-1].kind == number && t.tokens[i-1].end-t.tokens[i-1].start == 3 && strings.Trim(t.between(i-1, i), " -#,'b") == ""
}
