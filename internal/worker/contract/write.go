package contract

import (
	"encoding/json"
	"strings"
	"time"
)

// Encode returns the variables of a decision as they are stored.
func (d *Decision) Encode() string { return encode(d) }

// Encode returns the detail of a record as it is stored.
func (d *Detail) Encode() string { return encode(d) }

// backoffAnswer has the five names of RN-BIL-004 section 3.2.
type backoffAnswer struct {
	ShouldRetry    bool       `json:"shouldRetry"`
	NextRetryTime  *time.Time `json:"nextRetryTime"`
	RetryCount     int        `json:"retryCount"`
	RetryReason    string     `json:"retryReason"`
	BackoffMinutes int        `json:"backoffMinutes"`
}

// AnswerTo returns stored variables as a job of this type is answered with them: those of its rule, and for
// [JobType] its own error text, which is not stored: it repeats what the process holds already (RN-BIL-005
// section 3.2).
func AnswerTo(jobType, stored, originalError string) string {
	if jobType != BackoffJobType {
		return strings.TrimSuffix(stored, "}") + `,"` + OriginalError + `":` + encode(originalError) + "}"
	}
	var answer backoffAnswer
	_ = json.Unmarshal([]byte(stored), &answer) // this package wrote it
	return encode(answer)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of these types every value can be written
	}
	return string(b)
}
