package retry

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
)

// jitter returns a number in [0, 1) that depends on nothing but the policy's name, the claim, the retry count
// and the process instance. The same job delivered twice, on two machines, gets the same number; a claim
// submitted anew in another process instance gets another one. Over many claims the numbers are spread
// evenly.
//
// The NUL bytes keep ("A", "1x") apart from ("A1", "x"). Changing anything here moves every claim's next try;
// the golden test is there to make that a decision rather than an accident.
func (p *Policy) jitter(r *Request) float64 {
	instance := strconv.FormatInt(r.ProcessInstanceKey, 10)
	key := strings.Join([]string{"v1", p.Name, r.ClaimID, strconv.Itoa(r.RetryCount), instance}, "\x00")
	sum := sha256.Sum256([]byte(key))
	// 53 bits are what a float64 holds exactly.
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
