package kpi

import (
	"context"
	"maps"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// Window keeps what ended in each span of time, by when the span begins and by policy, so that a time that moves on
// is measured without asking the store for all of it again.
type Window map[time.Time]map[string]Share

const (
	span = 5 * time.Minute
	// settledAfter is how long after its time a record is committed at the latest.
	settledAfter = time.Minute
)

// Rates returns successAfterRetry of each policy, of the open claims that a tally has counted and of those that
// ended in its time. Spans count whole. After an error it goes on where it was.
func (w Window) Rates(ctx context.Context, store audit.Store, open *Tally) (map[string]float64, error) {
	begin, all := open.From.UTC().Truncate(span), open.successes()
	maps.DeleteFunc(w, func(at time.Time, _ map[string]Share) bool { return at.Before(begin) })
	for at := begin; at.Before(open.To); at = at.Add(span) {
		ended, counted := w[at]
		if !counted {
			t := Tally{From: at, To: at.Add(span)}
			if err := store.Totals(ctx, t.From, t.To, t.Add); err != nil {
				return nil, err
			}
			ended = t.successes()
			if open.To.Sub(t.To) >= settledAfter {
				w[at] = ended
			}
		}
		for policy, of := range ended {
			all[policy] = all[policy].plus(of)
		}
	}
	rates := map[string]float64{}
	for policy, of := range all {
		rates[policy] = float64(of.Part) / float64(of.MeasuredOn)
	}
	return rates, nil
}

// successes returns successAfterRetry of each policy of which it was measured.
func (t *Tally) successes() map[string]Share {
	all := map[string]Share{}
	for policy, r := range t.policies {
		if of := r.KPIs[0]; of.MeasuredOn > 0 { // the table begins with it
			all[policy] = of.Share
		}
	}
	return all
}
