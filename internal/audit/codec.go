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

func (c *codec) int(n *int64) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, *n)
		return
	}
	v, size := binary.Varint(c.b)
	if size <= 0 {
		c.b, c.bad = nil, true
		return
	}
	*n, c.b = v, c.b[size:]
}

func (c *codec) count(n *int) {
	wide := int64(*n)
	c.int(&wide)
	*n = int(wide)
}

func (c *codec) time(t *time.Time) {
	micros := Micros(*t)
	c.int(&micros)
	*t = Time(micros)
}

func (c *codec) text(s *string) {
	n := len(*s)
	c.count(&n)
	switch {
	case !c.reading:
		c.b = append(c.b, *s...)
	case n < 0 || n > len(c.b):
		c.b, c.bad = nil, true
	default:
		*s, c.b = string(c.b[:n]), c.b[n:]
	}
}
