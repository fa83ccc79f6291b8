package retry

import (
	"time"

	"hospital.example/analyze-retry/internal/retry/errtext"
)

// Hint is when the other side asked to be tried again: after a duration, or not before a time. The zero value
// is none.
type Hint struct {
	Source HintSource `json:"source"`
	// After is the duration; Until is the time, UTC, in whole seconds, zero if a duration was given.
	After ISODuration `json:"after,omitzero"`
	Until time.Time   `json:"until,omitzero"`
}

// HintSource is where a hint was found.
type HintSource string

// The sources of a hint, in the order in which they are read.
const (
	// HintVariable: the job's variable retryAfter.
	HintVariable HintSource = "VARIABLE"
	// HintText: Retry-After, or another time for trying again, in the error text.
	HintText HintSource = "TEXT"
	// HintWindow: the window for submissions that an insurer names when it refuses one as out of time (TISS,
	// Tabela 38, 3091 and 3161).
	HintWindow HintSource = "WINDOW"
)

// findHint returns what the other side asked for: in the job's variable, else in the error text. A time that
// has come is no hint, because it says nothing about how long to wait now.
func (p *Policy) findHint(r *Request, t *errtext.Text, now time.Time) Hint {
	if h := r.RetryAfter; !h.over(now) {
		return h
	}
	after := t.RetryAfter()
	for _, text := range after {
		if h, _ := ParseRetryAfter(text, p.Zone); !h.over(now) {
			h.Source = HintText
			return h
		}
	}
	if windows := t.Windows(p.Zone); windows != nil {
		return next(windows, now)
	}
	if after != nil {
		return Hint{}
	}
	wait, until := t.Hint(now.In(p.Zone))
	if h := (Hint{HintText, ISODuration(wait), until.UTC()}); !h.over(now) {
		return h
	}
	return Hint{}
}

// over reports whether nothing is left to wait for. 0 is what a program sends that was told no time.
func (h Hint) over(now time.Time) bool { return h.After == 0 && !h.Until.After(now) }

// next returns the next window that has not begun. One that is open, or over, is no hint.
func next(windows [][2]time.Time, now time.Time) (h Hint) {
	for _, w := range windows {
		if begin := w[0].UTC(); begin.After(now) && (h.Until.IsZero() || begin.Before(h.Until)) {
			h = Hint{Source: HintWindow, Until: begin}
		}
	}
	return h
}
