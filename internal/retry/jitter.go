package retry

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// Jitter spreads the waits of claims that failed together, so that they do not come back together.
type Jitter struct {
	Mode JitterMode
	// Share is how far [JitterProportional] spreads a delay to both sides, 0 to 1; it is 0 for the other modes.
	Share float64
}

// JitterMode is in which band around a delay a wait may lie.
type JitterMode string

// The modes of jitter. d is the delay before jitter.
const (
	// JitterNone: d itself.
	JitterNone JitterMode = "none"
	// JitterProportional: from d less its share to d and its share (RN-BIL-005: 20 %).
	JitterProportional JitterMode = "proportional"
	// JitterFull: from the policy's Min to d.
	JitterFull JitterMode = "full"
	// JitterEqual: from half of d to d.
	JitterEqual JitterMode = "equal"
	// JitterDecorrelated: from Base to three times the wait before, at most Max. Factor has no part in it.
	JitterDecorrelated JitterMode = "decorrelated"
)

func (j Jitter) valid() bool {
	switch j.Mode {
	case JitterProportional:
		return j.Share >= 0 && j.Share <= 1
	case JitterNone, JitterFull, JitterEqual, JitterDecorrelated:
		return j.Share == 0
	default:
		return false
	}
}

// jitter returns a number in [0, 1) that depends on nothing but the policy's name, the claim, the retry count and the
// process instance. The same job delivered twice, on two machines, gets the same number; a claim submitted anew in
// another process instance gets another one. Over many claims the numbers are spread evenly.
//
// The NUL bytes keep ("A", "1x") apart from ("A1", "x"). Changing anything here moves every claim's next try; the
// golden test is there to make that a decision rather than an accident.
func (p *Policy) jitter(r *Request, retryCount int) float64 {
	var buf [256]byte // long enough for any claim id that passes validation: no allocation
	b := append(buf[:0], "v1\x00"...)
	b = append(b, p.Name...)
	b = append(b, 0)
	b = append(b, r.ClaimID...)
	b = append(b, 0)
	b = strconv.AppendInt(b, int64(retryCount), 10)
	b = append(b, 0)
	b = strconv.AppendInt(b, r.ProcessInstanceKey, 10)
	sum := sha256.Sum256(b)
	// 53 bits are what a float64 holds exactly.
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
