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

func (w *isoWait) wait() text.Range {
	return text.Range{Shortest: time.Duration(w.Shortest), Longest: time.Duration(w.Longest)}
}

// total is the band of all waits so far.
func (w *isoWait) total() text.Range {
	return text.Range{Shortest: time.Duration(w.TotalShortest), Longest: time.Duration(w.TotalLongest)}
}

// scheduleTable lays out the waits of a policy.
func scheduleTable(p *text.Printer, waits []isoWait) string {
	rows := [][]string{
		{p.Sprintf("retry"), p.Sprintf("before jitter"), p.Sprintf("wait"), p.Sprintf("waited in all")},
	}
	for i := range waits {
		w := &waits[i]
		rows = append(rows, []string{
			strconv.Itoa(w.Retry),
			p.Span(time.Duration(w.BeforeJitter)),
			p.Sprintf("%s", w.wait()),
			p.Sprintf("%s", w.total()),
		})
	}
	return text.Table("  ", rows)
}
