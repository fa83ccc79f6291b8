package report

import (
	"strconv"
	"time"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// isoDuration is a duration that JSON has as ISO 8601.
type isoDuration time.Duration

// MarshalText writes PT5M.
func (d isoDuration) MarshalText() ([]byte, error) {
	return []byte(contract.ISODuration(time.Duration(d))), nil
}

// isoWait is a wait of a schedule. Wait and Total are absent where no claim was given.
type isoWait struct {
	Retry         int         `json:"retry"`
	BeforeJitter  isoDuration `json:"beforeJitter"`
	Shortest      isoDuration `json:"shortest"`
	Longest       isoDuration `json:"longest"`
	Wait          isoDuration `json:"wait,omitempty"`
	TotalShortest isoDuration `json:"totalShortest"`
	TotalLongest  isoDuration `json:"totalLongest"`
	Total         isoDuration `json:"total,omitempty"`
}

func isoOf(s *retry.Scheduled) isoWait {
	return isoWait{
		s.Retry, isoDuration(s.Delay), isoDuration(s.Shortest), isoDuration(s.Longest), isoDuration(s.Wait),
		isoDuration(s.TotalShortest), isoDuration(s.TotalLongest), isoDuration(s.Total),
	}
}

// wait words the claim's own wait, else the band that it is in; total the same of all waits so far.
func (w *isoWait) wait() string  { return ownOrBand(w.Wait, w.Shortest, w.Longest) }
func (w *isoWait) total() string { return ownOrBand(w.Total, w.TotalShortest, w.TotalLongest) }

func ownOrBand(own, shortest, longest isoDuration) string {
	if own > 0 {
		return text.Span(time.Duration(own))
	}
	return text.Range(time.Duration(shortest), time.Duration(longest))
}

// scheduleTable lays out the waits of a policy.
func scheduleTable(waits []isoWait) string {
	rows := [][]string{{"retry", "before jitter", "wait", "waited in all"}}
	for i := range waits {
		w := &waits[i]
		before := text.Span(time.Duration(w.BeforeJitter))
		rows = append(rows, []string{strconv.Itoa(w.Retry), before, w.wait(), w.total()})
	}
	return text.Table("  ", rows)
}
