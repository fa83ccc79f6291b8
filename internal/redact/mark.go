package redact

import "strings"

// The marks that replace what was found.
const (
	markCPF   = "[CPF]"
	markCNS   = "[CNS]"
	markCNPJ  = "[CNPJ]"
	markCard  = "[CARD]"
	markPhone = "[PHONE]"
	markEmail = "[EMAIL]"
	markBirth = "[BIRTHDATE]"
	markName  = "[NAME]"
)

// output collects the redacted text. The zero value is ready; nothing is allocated before the first mark.
type output struct {
	buf    strings.Builder
	copied int // s[:copied] is in buf, redacted
}

// mark replaces s[start:stop], and invisible characters after it such as a name's last combining accent, by the mark. It returns
// where the text goes on.
func (o *output) mark(s string, start, stop int, mark string) int {
	if o.buf.Len() == 0 {
		o.buf.Grow(len(s) + 16)
	}
	o.buf.WriteString(s[o.copied:start])
	o.buf.WriteString(mark)
	for stop < len(s) {
		r, n := decode(s[stop:])
		if plain(r) != 0 {
			break
		}
		stop += n
	}
	o.copied = stop
	return stop
}

func (o *output) text(s string) string {
	if o.copied == 0 {
		return s
	}
	o.buf.WriteString(s[o.copied:])
	return o.buf.String()
}

// markAt returns the length of the mark that begins s, or 0. Marks are skipped: a second run would take the word of one for a
// field's name ("[PHONE] 12345678").
func markAt(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	for _, m := range [...]string{markCPF, markCNS, markCNPJ, markCard, markPhone, markEmail, markBirth, markName} {
		if strings.HasPrefix(s, m) {
			return len(m)
		}
	}
	return 0
}
