package redact

import (
	"strings"
	"sync"
	"unicode/utf8"

	"hospital.example/analyze-retry/internal/evidence"
)

// pieceBytes is how much of a long text is read at a time. One of up to [evidence.MaxBytes] is read as a whole, so that no number
// is cut off from what makes it evidence.
const pieceBytes = 16 << 10

// Text returns s with a mark in place of all that is not known; see the package comment.
//
// The result is valid UTF-8 without NUL, as PostgreSQL requires. If there is nothing to do, Text returns s itself. A second run
// changes nothing; in a text of more than 64 KiB it may mask a further number. The time grows linearly with the length of s.
func Text(s string) string {
	const rounds = 8 // two are enough for all but hostile texts
	s = readable(s)
	m := maskers.Get().(*masker)
	defer maskers.Put(m)
	for range rounds {
		redacted := m.mask(s)
		// A number may have been kept for a word that is masked now, and what a symbol stood between is read in another way.
		if !m.again || len(s) > evidence.MaxBytes {
			return redacted
		}
		s = redacted
	}
	return s
}

// readable returns s as valid UTF-8 without NUL. Bytes that are no UTF-8 are read as Latin-1.
func readable(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size == 1 && s[at] >= 0xA0 {
			r = rune(s[at])
		}
		b.WriteRune(r)
		at += size
	}
	return b.String()
}

// masker masks a text: the pieces that are read at a time, one after the other.
type masker struct {
	text    *evidence.Text
	units   []unit
	out     output
	numbers bool // some were kept
	again   bool // another run may change more
}

var maskers = sync.Pool{New: func() any { return &masker{} }}

func (m *masker) mask(s string) string {
	m.out, m.numbers = output{source: s}, false
	for from := 0; from < len(s); {
		to := from + piece(s[from:])
		if from < evidence.MaxBytes {
			m.text = evidence.Read(s[from:to])
		} else { // what says something about the error stands before
			m.text = evidence.Words(s[from:to])
		}
		m.readUnits()
		m.widen()
		if to < len(s) {
			to = from + m.leave(to-from)
		}
		m.write(from, to)
		m.text.Free()
		from = to
	}
	m.text, m.again = nil, m.out.changed() && m.numbers || m.out.cleaned
	return m.out.take()
}

// piece returns how much of a text is read at a time, never a part of a character.
func piece(text string) int {
	if len(text) <= evidence.MaxBytes {
		return len(text)
	}
	n := pieceBytes
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// leave gives up the last units of a piece, of which the very last may be half a word, so that what stands next to each other is
// read together: the next piece begins with a unit for which its neighbours do not matter. It returns where that is.
func (m *masker) leave(end int) int {
	const most = 16 // units
	n := len(m.units)
	if n < 2 {
		return end
	}
	first := max(1, n-most)
	for i := n - 2; i > first; i-- {
		if u := &m.units[i]; !u.name && !u.letter && !m.isParticle(u) && (u.kind != kept || u.digits == 0) {
			first = i
		}
	}
	end = m.units[first].start
	m.units = m.units[:first]
	return end
}

// write writes what may be kept of a piece.
func (m *masker) write(from, to int) {
	at := 0
	for i := 0; i < len(m.units); {
		u := &m.units[i]
		m.out.signs(from+at, from+u.start)
		last := i
		if u.kind != kept {
			var mark string
			last, mark = m.group(i)
			m.out.replace(from+u.start, from+m.units[last].end, mark)
		} else if u.digits > 0 {
			m.numbers = true
		}
		at, i = m.units[last].end, last+1
	}
	m.out.signs(from+at, to)
}
