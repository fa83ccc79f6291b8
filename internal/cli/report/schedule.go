package report

import (
	"strconv"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	"hospital.example/analyze-retry/internal/text"
)

// isoWait is a wait of a schedule: the band that it is in, and that of all waits so far.
type isoWait struct {
	Retry         int               `json:"retry"`
	BeforeJitter  retry.ISODuration `json:"beforeJitter"`
	Shortest      retry.ISODuration `json:"shortest"`
	Longest       retry.ISODuration `json:"longest"`
	TotalShortest retry.ISODuration `json:"totalShortest"`
	TotalLongest  retry.ISODuration `json:"totalLongest"`
}

func isoOf(s *retry.Scheduled) isoWait {
	return isoWait{
		Retry:         s.Retry,
		BeforeJitter:  retry.ISODuration(s.Delay),
		Shortest:      retry.ISODuration(s.Shortest),
		Longest:       retry.ISODuration(s.Longest),
		TotalShortest: retry.ISODuration(s.TotalShortest),
		TotalLongest:  retry.ISODuration(s.TotalLongest),
	}
}

func (w *isoWait) wait() string {
	return text.Range(time.Duration(w.Shortest), time.Duration(w.Longest))
}

func (w *isoWait) total() string {
	return text.Range(time.Duration(w.TotalShortest), time.Duration(w.TotalLongest))
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
