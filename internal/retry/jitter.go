package retry

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// jitter returns a number in [0, 1) that depends on nothing but the policy's name, the claim, the retry count and the
// process instance. The same job delivered twice, on two machines, gets the same number; a claim submitted anew in
// another process instance gets another one. Over many claims the numbers are spread evenly.
//
// The NUL bytes keep ("A", "1x") apart from ("A1", "x"). Changing anything here moves every claim's next try; the
// golden test is there to make that a decision rather than an accident.
func (p *Policy) jitter(r *Request) float64 {
	var buf [256]byte // long enough for any claim id that passes validation: no allocation
	b := append(buf[:0], "v1\x00"...)
	b = append(b, p.Name...)
	b = append(b, 0)
	b = append(b, r.ClaimID...)
	b = append(b, 0)
	b = strconv.AppendInt(b, int64(r.RetryCount), 10)
	b = append(b, 0)
	b = strconv.AppendInt(b, r.ProcessInstanceKey, 10)
	sum := sha256.Sum256(b)
	// 53 bits are what a float64 holds exactly.
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
