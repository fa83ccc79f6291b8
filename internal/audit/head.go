package audit

import (
	"crypto/ed25519"
	"encoding/binary"
	"time"
)

// Head is the signed end of a chain: it says how many records there are. A chain whose last records were cut off has
// no head that fits, and a new one cannot be made without the key.
type Head struct {
	Chain int       `json:"chain"`
	Seq   int64     `json:"seq"`
	Hash  Hash      `json:"hash"`
	At    time.Time `json:"at"` // when the last record was decided: UTC, whole microseconds
	// Signature is Ed25519, over all of the above.
	Signature []byte `json:"signature"`
}

// Head signs the end of a chain.
func (s *Secret) Head(c *Chain, at time.Time) Head {
	h := Head{Chain: c.Number(), Seq: c.Seq(), Hash: c.Last(), At: at.UTC().Truncate(time.Microsecond)}
	h.Signature = s.sign(h.message())
	return h
}

// CheckHead reports whether the head was signed with this key and not changed since.
func (p Public) CheckHead(h Head) bool { return p.check(h.message(), h.Signature) }

func (h Head) message() []byte {
	return signed("head v1", h.Hash, int64(h.Chain), h.Seq, h.At.UnixMicro())
}

func (s *Secret) sign(message []byte) []byte { return ed25519.Sign(s.private, message) }

func (p Public) check(message, signature []byte) bool {
	return ed25519.Verify(p.key, message, signature)
}

func signed(what string, h Hash, numbers ...int64) []byte {
	b := append([]byte("analyze-retry audit "+what+"\x00"), h[:]...)
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n)) //nolint:gosec // the bits are what counts
	}
	return b
}
