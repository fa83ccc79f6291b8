package kpi

import (
	"context"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Successes returns successAfterRetry of each policy of which it was measured.
func (t *Tally) Successes() map[string]Share {
	all := map[string]Share{}
	for policy, s := range t.policies {
		if of := s.shares[success]; of.MeasuredOn > 0 {
			all[policy] = of
		}
	}
	return all
}

// Window counts the claims that ended in the time before now, so long as it is. It asks the store for what is
// new only, and keeps a few numbers for each time that it was asked. Its other fields are its own.
type Window struct {
	Length time.Duration

	until time.Time // all before it is counted
	spans []span
}

// span is what was counted up to a time since the span before.
type span struct {
	until time.Time
	of    map[string]Share
}

const (
	// settledAfter is how long after its time a record is committed at the latest.
	settledAfter = time.Minute
	// longestSpan is how much is counted at once at the start: it leaves the window as one.
	longestSpan = 10 * time.Minute
)

// Advance counts what ended up to a minute before now. After an error it goes on where it was.
func (w *Window) Advance(ctx context.Context, store audit.Store, now time.Time) error {
	to := now.Add(-settledAfter)
	from := to.Add(-w.Length)
	w.spans = slices.DeleteFunc(w.spans, func(s span) bool { return !s.until.After(from) })
	if w.until.Before(from) {
		w.until = from
	}
	for w.until.Before(to) {
		t := Tally{From: w.until, To: w.until.Add(longestSpan)}
		if t.To.After(to) {
			t.To = to
		}
		if err := store.Totals(ctx, t.From, t.To, t.Add); err != nil {
			return err
		}
		w.until = t.To
		if of := t.Successes(); len(of) > 0 {
			w.spans = append(w.spans, span{w.until, of})
		}
	}
	return nil
}

// Rates returns successAfterRetry of each policy, of the claims that ended and of those that are open.
func (w *Window) Rates(open map[string]Share) map[string]float64 {
	all := map[string]Share{}
	for _, s := range append([]span{{of: open}}, w.spans...) {
		for policy, n := range s.of {
			all[policy] = all[policy].plus(n.Part, n.MeasuredOn)
		}
	}
	rates := map[string]float64{}
	for policy, n := range all {
		rates[policy] = float64(n.Part) / float64(n.MeasuredOn)
	}
	return rates
}
