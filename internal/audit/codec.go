package audit

import (
	"encoding/binary"
	"time"
)

// codec writes values to the end of b, or reads them from its front. One list of fields serves for both.
type codec struct {
	b       []byte
	reading bool
	bad     bool // what was read is too short
}

func number[T ~int | ~int64 | ~uint8](c *codec, n *T) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, int64(*n))
		return
	}
	v, size := binary.Varint(c.b)
	if size <= 0 {
		c.b, c.bad = nil, true
		return
	}
	*n, c.b = T(v), c.b[size:] // what was written fits, and what was changed fails its check
}

func (c *codec) time(t *time.Time) {
	micros := Micros(*t)
	number(c, &micros)
	*t = Time(micros)
}

func text[T ~string](c *codec, s *T) {
	n := len(*s)
	number(c, &n)
	switch {
	case !c.reading:
		c.b = append(c.b, *s...)
	case n < 0 || n > len(c.b):
		c.b, c.bad = nil, true
	default:
		*s, c.b = T(c.b[:n]), c.b[n:]
	}
}
