package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"time"
)

// Hash is the SHA-256 hash of a record and, through the record before it, of all that came earlier in its chain.
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

// Chain links records: each hash covers the record and the hash before. It is made by [NewChain] or [ChainAt], and is
// for one goroutine at a time.
type Chain struct {
	number int
	seq    int64
	last   Hash
	sum    hash.Hash
	buf    []byte
}

// NewChain begins the chain of this number.
func NewChain(number int) *Chain {
	c := &Chain{number: number, sum: sha256.New()}
	c.last = sha256.Sum256(binary.BigEndian.AppendUint64([]byte("analyze-retry audit chain v1\x00"), uint64(number))) //nolint:gosec // a small number
	return c
}

// ChainAt goes on with a chain whose last record is known.
func ChainAt(number int, seq int64, last Hash) *Chain {
	return &Chain{number: number, seq: seq, last: last, sum: sha256.New()}
}

// Number says which chain this is.
func (c *Chain) Number() int { return c.number }

// Seq is the place of the last record, 0 where there is none.
func (c *Chain) Seq() int64 { return c.seq }

// Last is the hash of the last record.
func (c *Chain) Last() Hash { return c.last }

// Link gives the record, which has its ID already, its chain, its place and its hash, and makes it the last one. It also
// cuts the record's times to what is stored and hashed, so that what is returned is what will be read.
func (c *Chain) Link(r *Record) {
	r.At = r.At.UTC().Truncate(time.Microsecond)
	r.NextRetryTime = NextRetryTime(NextRetrySeconds(r.NextRetryTime))
	c.seq++
	r.Chain, r.Seq = c.number, c.seq
	c.last = c.digest(r)
	r.Hash = c.last
}

// Follows reports whether the record is the next one of the chain, unchanged; if so it becomes the last one.
func (c *Chain) Follows(r *Record) bool {
	if r.Chain != c.number || r.Seq != c.seq+1 || r.Hash != c.digest(r) {
		return false
	}
	c.seq, c.last = r.Seq, r.Hash
	return true
}

// digest hashes the hash before and every stored field: numbers in eight bytes, texts with their length in front, so
// that nothing can move from one field into the next.
func (c *Chain) digest(r *Record) (h Hash) {
	b := append(c.buf[:0], c.last[:]...)
	for _, n := range [...]int64{
		int64(r.Chain), r.Seq, r.ID, int64(r.Kind), r.At.UnixMicro(), r.JobKey, r.ProcessInstanceKey,
		int64(r.RetryCount), NextRetrySeconds(r.NextRetryTime), r.Prev, int64(r.MaxRetries),
		int64(r.Course.Attempts), r.Course.Seconds, int64(r.Course.Flags),
	} {
		b = binary.BigEndian.AppendUint64(b, uint64(n)) //nolint:gosec // the bits are what counts
	}
	b = append(b, r.Inputs[:]...)
	for _, text := range [...]string{
		r.Cluster, r.ClaimID, r.Policy, string(r.Class), r.Rule, r.Code, r.HeldBy, r.DecidedBy, r.Message, r.Variables, r.Detail,
	} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text))) //nolint:gosec // a record is kilobytes
		b = append(b, text...)
	}
	c.buf = b
	c.sum.Reset()
	c.sum.Write(b)
	c.sum.Sum(h[:0])
	return h
}

// NextRetrySeconds returns what a store keeps of the time of the next try: Unix seconds, 0 for none.
func NextRetrySeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// NextRetryTime is the inverse of [NextRetrySeconds].
func NextRetryTime(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
