package audit

import (
	"bytes"
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

// Chain links records: each hash covers the record and the hash before. It is made by [NewChain] or
// [ChainAt], and is for one goroutine at a time.
type Chain struct {
	Number int
	// Seq is the place of the last record, 0 where there is none, and Last its hash.
	Seq  int64
	Last Hash

	buf []byte // of the last record, reused
}

// NewChain begins the chain of this number.
func NewChain(number int) *Chain {
	n := uint64(number) //nolint:gosec // a small number
	text := binary.BigEndian.AppendUint64([]byte("analyze-retry audit chain v1\x00"), n)
	return ChainAt(Head{Chain: number, Hash: sha256.Sum256(text)})
}

// ChainAt goes on with a chain whose last record is known.
func ChainAt(h Head) *Chain {
	return &Chain{Number: h.Chain, Seq: h.Seq, Last: h.Hash, buf: make([]byte, 0, 4096)}
}

// Link gives the record, which has its ID already, its chain, its place and its hash, and makes it the last
// one. It also cuts the record's times to what is stored and hashed, so that what is returned is what will be
// read.
func (c *Chain) Link(r *Record) {
	r.At = r.At.UTC().Truncate(time.Microsecond)
	r.NextRetryTime = r.NextRetryTime.UTC().Truncate(time.Second)
	c.Seq++
	r.Chain, r.Seq = c.Number, c.Seq
	c.Last = c.digest(r)
	r.Hash = c.Last
}

// Follows reports whether the record is the next one of the chain, unchanged; if so it becomes the last one.
func (c *Chain) Follows(r *Record) bool {
	whole := r.NextRetryTime.Nanosecond() == 0 // seconds are hashed
	if r.Chain != c.Number || r.Seq != c.Seq+1 || r.Hash != c.digest(r) || !whole {
		return false
	}
	c.Seq, c.Last = r.Seq, r.Hash
	return true
}

// digest hashes the hash before and every stored field: numbers in eight bytes, texts with their length in
// front, so that nothing can move from one field into the next.
func (c *Chain) digest(r *Record) Hash {
	b := append(c.buf[:0], c.Last[:]...)
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
	c.buf = b
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
