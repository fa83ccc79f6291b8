package report

import (
	"fmt"
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

// mostWaits is how many waits are printed; of more, the first ones and the last.
const mostWaits = 15

// scheduleTable lays out the waits of a policy, with a column for the claim's own waits where they are known.
func scheduleTable(p *retry.Policy, waits []retry.Scheduled, known Knowledge) string {
	rows := [][]string{{"retry", "before jitter", "band", "waited in all"}}
	if known != bandOnly {
		rows = [][]string{{"retry", "before jitter", "band", string(known) + " wait", "waited in all"}}
	}
	for i, w := range waits {
		if i >= mostWaits-1 && i < len(waits)-1 {
			if i == mostWaits-1 {
				rows = append(rows, append([]string{"..."}, make([]string, len(rows[0])-1)...))
			}
			continue
		}
		row := []string{fmt.Sprintf("%d of %d", w.Retry, p.MaxRetries), text.Span(w.Delay), text.Range(w.Shortest, w.Longest)}
		if known == bandOnly {
			row = append(row, text.Range(w.TotalShortest, w.TotalLongest))
		} else {
			row = append(row, text.Span(w.Wait), text.Span(w.Total))
		}
		rows = append(rows, row)
	}
	return text.Table("  ", rows)
}
