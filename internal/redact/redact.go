package redact

import (
	"strings"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// maxStored is how much of a text is stored, in bytes.
const maxStored = 8 << 10

// Text returns a text with a mark in place of all that is not known; see the package comment. The result has
// at most [maxStored] bytes, and ends with a whole word or mark. It is valid UTF-8 without NUL, as PostgreSQL
// requires. A second run changes nothing.
func Text(s string) string {
	t := errtext.Words(s)
	defer t.Free()
	return Read(t)
}

// Read does what [Text] does, with a text that is read already.
func Read(t *errtext.Text) string {
	const further = 2 // one number is kept for a word that the first pass masks; the last changes nothing
	was, redacted := t.Source, mask(t)
	for n := 0; redacted != was; n++ {
		if n == further {
			return markCode // only a text made for that changes in a third pass
		}
		again := errtext.Words(redacted)
		was, redacted = redacted, mask(again)
		again.Free()
	}
	return redacted
}

// mask masks a text once.
func mask(t *errtext.Text) string {
	m := masker{t.Source, unitsOf(t.Tokens)}
	m.widen()
	if t.IsCut {
		m.forget()
	}
	return m.write()
}

// masker masks a text.
type masker struct {
	source string
	units  []unit
}

// forget masks the last units of a text that was cut. What stood behind them may have made them a part of a
// name or a number.
func (m *masker) forget() {
	const longest = 16 // name
	for i := max(0, len(m.units)-longest); i < len(m.units); i++ {
		if m.units[i].kind == kept {
			m.units[i].kind = unknownWord
		}
	}
}

// write returns what may be kept.
func (m *masker) write() string {
	var b strings.Builder
	b.Grow(min(maxStored, len(m.source)+len(m.source)/4))
	at := 0
	for i := 0; i < len(m.units); i++ {
		u := &m.units[i]
		between, shown := signs(m.source[at:u.start]), m.source[u.start:u.end]
		if u.kind != kept {
			i, shown = m.group(i)
		}
		if b.Len()+len(between)+len(shown) > maxStored {
			return b.String()
		}
		b.WriteString(between)
		b.WriteString(shown)
		at = m.units[i].end
	}
	if rest := signs(m.source[at:]); b.Len()+len(rest) <= maxStored {
		b.WriteString(rest)
	}
	return b.String()
}

// signs returns what stands between two units, with a blank in place of symbols that say something without
// being a word, such as circled letters and raised digits.
func signs(between string) string {
	const others = "\t\n\r\u00a0§ª«°º»–—‘’“”•…→€"
	return strings.Map(func(r rune) rune {
		if r >= ' ' && r < 0x7F || strings.ContainsRune(others, r) {
			return r
		}
		return ' '
	}, between)
}
