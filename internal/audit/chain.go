package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// Hash is the SHA-256 hash of a record and, through the record before it, of all that came earlier in its
// chain.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hash in hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("a hash is %d hexadecimal digits", 2*len(h))
	}
	copy(h[:], b)
	return nil
}

// Head is a place in a chain of records, in which each hash covers the record and the hash before. Signed at
// the chain's end it says how many records the chain has: if the last ones are cut off, no head fits, and
// nobody can sign a new one without the key. Signed as a cut it stands for the records up to there, which a
// purge has removed; the chain is checked from there on.
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

// Beginning is the place before the first record of the chain of this number.
func Beginning(number int) Head {
	n := uint64(number) //nolint:gosec // a small number
	text := binary.BigEndian.AppendUint64([]byte("analyze-retry audit chain v1\x00"), n)
	return Head{Chain: number, Hash: sha256.Sum256(text)}
}

// Link gives the record, which has its ID already, the place behind this one and its hash, and moves there;
// what At and Signature say is then of the place before. It also cuts the record's times to what is stored
// and hashed, so that what is returned is what will be read.
func (h *Head) Link(r *Record) {
	r.At = r.At.UTC().Truncate(time.Microsecond)
	r.NextRetryTime = r.NextRetryTime.UTC().Truncate(time.Second)
	h.Seq++
	r.Chain, r.Seq = h.Chain, h.Seq
	h.Hash = h.digest(r)
	r.Hash = h.Hash
}

// follows reports whether the record is the next one, unchanged; if so it moves there.
func (h *Head) follows(r *Record) bool {
	whole := r.NextRetryTime.Nanosecond() == 0 // seconds are hashed
	if r.Chain != h.Chain || r.Seq != h.Seq+1 || r.Hash != h.digest(r) || !whole {
		return false
	}
	h.Seq, h.Hash = r.Seq, r.Hash
	return true
}

// digest hashes the hash before and every stored field: numbers in eight bytes, texts with their length in
// front, so that nothing can move from one field into the next.
func (h *Head) digest(r *Record) Hash {
	var room [4096]byte
	b := append(room[:0], h.Hash[:]...)
	for _, n := range [...]int64{
		int64(r.Chain), r.Seq, r.ID, int64(r.Kind), Micros(r.At), r.JobKey, r.ProcessInstanceKey,
		int64(r.RetryCount), Micros(r.NextRetryTime) / 1_000_000, r.Prev, int64(r.MaxRetries),
		int64(r.Course.Attempts), r.Course.Seconds, int64(r.Course.Flags),
	} {
		b = binary.BigEndian.AppendUint64(b, uint64(n)) //nolint:gosec // the bits are what counts
	}
	b = append(b, r.Inputs[:]...)
	for _, text := range [...]string{
		r.Cluster, r.ClaimID, r.Policy, string(r.Class), r.Rule, r.Code, r.HeldBy, r.DecidedBy,
		r.Message, r.Variables, r.Detail,
	} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text))) //nolint:gosec // a record is kilobytes
		b = append(b, text...)
	}
	return sha256.Sum256(b)
}

// Micros is a time as it is hashed and stored: Unix microseconds, 0 for the zero time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time is the inverse of [Micros].
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// Head signs the end of a chain.
func (s *Secret) Head(end Head, at time.Time) Head { return s.sign("head v1", end, at) }

// Cut signs what stands for removed records.
func (s *Secret) Cut(p Purged, at time.Time) Head {
	return s.sign("cut v1", Head{Chain: p.Chain, Seq: p.Through, Hash: p.Hash}, at)
}

// CheckHead reports whether the end of a chain was signed with this key and not changed since.
func (p Public) CheckHead(h Head) bool { return p.check("head v1", h) }

// CheckCut reports the same of a cut.
func (p Public) CheckCut(h Head) bool { return p.check("cut v1", h) }

func (s *Secret) sign(what string, h Head, at time.Time) Head {
	h.At = at.UTC().Truncate(time.Microsecond)
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
