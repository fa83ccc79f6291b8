package report

import (
	"strconv"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// isoWait is a wait of a schedule. Wait and Total are absent where no claim was given.
type isoWait struct {
	Retry         int               `json:"retry"`
	BeforeJitter  retry.ISODuration `json:"beforeJitter"`
	Shortest      retry.ISODuration `json:"shortest"`
	Longest       retry.ISODuration `json:"longest"`
	Wait          retry.ISODuration `json:"wait,omitempty"`
	TotalShortest retry.ISODuration `json:"totalShortest"`
	TotalLongest  retry.ISODuration `json:"totalLongest"`
	Total         retry.ISODuration `json:"total,omitempty"`
}

func isoOf(s *retry.Scheduled) isoWait {
	return isoWait{
		Retry:         s.Retry,
		BeforeJitter:  retry.ISODuration(s.Delay),
		Shortest:      retry.ISODuration(s.Shortest),
		Longest:       retry.ISODuration(s.Longest),
		Wait:          retry.ISODuration(s.Wait),
		TotalShortest: retry.ISODuration(s.TotalShortest),
		TotalLongest:  retry.ISODuration(s.TotalLongest),
		Total:         retry.ISODuration(s.Total),
	}
}

// wait words the claim's own wait, else the band that it is in; total the same of all waits so far.
func (w *isoWait) wait() string  { return ownOrBand(w.Wait, w.Shortest, w.Longest) }
func (w *isoWait) total() string { return ownOrBand(w.Total, w.TotalShortest, w.TotalLongest) }

func ownOrBand(own, shortest, longest retry.ISODuration) string {
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
