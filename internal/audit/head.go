package audit

import (
	"crypto/ed25519"
	"encoding/binary"
	"time"
)

// Head is a signed place of a chain. As the chain's end it says how many records there are: one whose last
// records were cut off has no head that fits, and a new one cannot be made without the key. As a cut it
// stands for the records up to there, which a purge removed; the chain is checked from there on.
type Head struct {
	Chain int   `json:"chain"`
	Seq   int64 `json:"seq"`
	Hash  Hash  `json:"hash"`
	// At is when the last record was decided, of a cut when the records were removed: UTC, whole
	// microseconds.
	At time.Time `json:"at"`
	// Signature is Ed25519, over all of the above and what the place is.
	Signature []byte `json:"signature"`
}

// Head signs the end of a chain.
func (s *Secret) Head(c *Chain, at time.Time) Head {
	return s.sign("head v1", c.Number, c.Seq, c.Last, at)
}

// Cut signs what stands for removed records.
func (s *Secret) Cut(p Purged, at time.Time) Head {
	return s.sign("cut v1", p.Chain, p.Through, p.Hash, at)
}

// CheckHead reports whether the end of a chain was signed with this key and not changed since.
func (p Public) CheckHead(h Head) bool { return p.check("head v1", h) }

// CheckCut reports the same of a cut.
func (p Public) CheckCut(h Head) bool { return p.check("cut v1", h) }

func (s *Secret) sign(what string, chain int, seq int64, hash Hash, at time.Time) Head {
	h := Head{Chain: chain, Seq: seq, Hash: hash, At: at.UTC().Truncate(time.Microsecond)}
	h.Signature = ed25519.Sign(s.private, h.message(what))
	return h
}

func (p Public) check(what string, h Head) bool {
	return ed25519.Verify(p.key, h.message(what), h.Signature)
}

func (h *Head) message(what string) []byte {
	b := append([]byte("analyze-retry audit "+what+"\x00"), h.Hash[:]...)
	for _, n := range [...]int64{int64(h.Chain), h.Seq, h.At.UnixMicro()} {
		b = binary.BigEndian.AppendUint64(b, uint64(n)) //nolint:gosec // the bits are what counts
	}
	return b
}
