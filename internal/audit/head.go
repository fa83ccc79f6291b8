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
	At    time.Time `json:"at"` // UTC, whole microseconds
	// Signature is Ed25519, over all of the above.
	Signature []byte `json:"signature"`
}

// Tombstone stands for records that were removed when their retention was over: so many, up to this place and hash. The
// chain is checked from there on.
type Tombstone struct {
	Chain int   `json:"chain"`
	From  int64 `json:"from"`
	// Through is the place of the last record that was removed, Hash its hash.
	Through int64 `json:"through"`
	Hash    Hash  `json:"-"`
	// Oldest and Newest are when the first and the last of them were decided, At when they were removed.
	Oldest    time.Time `json:"oldest"`
	Newest    time.Time `json:"newest"`
	At        time.Time `json:"at"`
	Signature []byte    `json:"signature"`
}

// Head signs the end of a chain.
func (s *Secret) Head(c *Chain, at time.Time) Head {
	h := Head{Chain: c.Number(), Seq: c.Seq(), Hash: c.Last(), At: at.UTC().Truncate(time.Microsecond)}
	h.Signature = ed25519.Sign(s.private, h.message())
	return h
}

// SignTombstone signs what is to stand for removed records.
func (s *Secret) SignTombstone(t Tombstone) Tombstone {
	t.Signature = ed25519.Sign(s.private, t.message())
	return t
}

// CheckHead reports whether the head was signed with this key and not changed since.
func (p Public) CheckHead(h Head) bool { return ed25519.Verify(p.key, h.message(), h.Signature) }

// CheckTombstone reports whether the tombstone was signed with this key and not changed since.
func (p Public) CheckTombstone(t Tombstone) bool {
	return ed25519.Verify(p.key, t.message(), t.Signature)
}

func (h Head) message() []byte {
	return signed("head v1", h.Hash, int64(h.Chain), h.Seq, h.At.UnixMicro())
}

func (t Tombstone) message() []byte {
	return signed("stub v1", t.Hash, int64(t.Chain), t.From, t.Through, t.Oldest.UnixMicro(), t.Newest.UnixMicro(), t.At.UnixMicro())
}

func signed(what string, h Hash, numbers ...int64) []byte {
	b := append([]byte("analyze-retry audit "+what+"\x00"), h[:]...)
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n)) //nolint:gosec // the bits are what counts
	}
	return b
}
