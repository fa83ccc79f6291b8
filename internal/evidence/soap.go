package evidence

import (
	"slices"
	"strings"
)

// fault adds the fault code of SOAP that ends with a token: soap:Client, {http://...}Server, [SOAP-ENV:Client].
func (t *Text) fault(last int) {
	first := last
	if word := t.Source[t.tokens[last].start:t.tokens[last].end]; strings.EqualFold(word, "mismatch") || strings.EqualFold(word, "understand") {
		if t.tokens[last].gap != joined || last == 0 {
			return
		}
		first--
	}
	start := t.tokens[first].start
	if start == 0 {
		return
	}
	switch t.Source[start-1] {
	case '}':
	case ':':
		if first == 0 || t.tokens[first-1].end != start-1 || t.role(first-1)&rolePrefix == 0 && !t.underFaultCode(first-1) {
			return
		}
	case '[':
		if !strings.HasPrefix(t.Source[t.tokens[last].end:], "]") || !t.underFaultCode(first) {
			return
		}
	default:
		return
	}
	p := Piece{Kind: SOAPFault, Start: start, End: t.tokens[last].end}
	row := slices.IndexFunc(faultCodes, func(r Row) bool { return strings.EqualFold(r.Code, t.In(&p)) })
	if row >= 0 {
		p.row = int16(row)
		t.add(p)
	}
}

// underFaultCode reports whether one of the few words before a token names a fault or its code.
func (t *Text) underFaultCode(i int) bool {
	const few = 4
	for k := max(0, i-few); k < i; k++ {
		if t.role(k)&roleFaultCode != 0 {
			return true
		}
	}
	return false
}
