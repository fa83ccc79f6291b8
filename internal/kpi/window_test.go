package kpi_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/kpi"
	"hospital.example/analyze-retry/internal/testing/check"
)

// asked is a store of which is noted for which time it was asked.
type asked struct {
	audit.Store

	times []time.Duration
	err   error
}

func (a *asked) Totals(ctx context.Context, from, to time.Time, visit func(*audit.Total) error) error {
	if a.err != nil {
		return a.err
	}
	a.times = append(a.times, to.Sub(from))
	return a.Store.Totals(ctx, from, to, visit)
}

func TestTheWindowIsWhatEndedInItsTime(t *testing.T) {
	now := noon.Add(24 * time.Hour)
	s := &asked{Store: storeOf(t,
		many(1, "gone", noon.Add(-5*time.Minute), again, accepted), many(3, "old", noon.Add(5*time.Minute), again, givenUp),
		many(2, "new", now.Add(-10*time.Minute), again, accepted), many(4, "at-once", now.Add(-time.Hour), accepted),
		many(5, "last", now.Add(-2*time.Minute), again, accepted),
	)}
	w := kpi.Window{Length: 24 * time.Hour}
	rate := func(now time.Time) float64 {
		check.Must(t, w.Advance(t.Context(), s, now))
		return w.Rates(nil)["tiss"]
	}
	check.Same(t, 2.0/5, rate(now), "at the start; what ended a minute ago may not be stored yet")
	check.Same(t, 7.0/10, rate(now.Add(time.Minute)), "a minute later")
	check.Same(t, 1, rate(now.Add(time.Hour)), "when the old ones have left")
	check.Same(t, map[string]float64{"tiss": 0.5, "smtp": 0}, w.Rates(map[string]kpi.Share{
		"tiss": {MeasuredOn: 7}, "smtp": {MeasuredOn: 1},
	}), "with claims that are open")
	check.Must(t, w.Advance(t.Context(), s, now.Add(26*time.Hour)))
	check.Same(t, 0, len(w.Rates(nil)), "policies when all have left")
}

func TestTheWindowAsksForWhatIsNewOnly(t *testing.T) {
	s := &asked{Store: storeOf(t)}
	w := kpi.Window{Length: 24 * time.Hour}
	check.Must(t, w.Advance(t.Context(), s, noon))
	s.times, s.err = nil, errors.New("lost")
	if err := w.Advance(t.Context(), s, noon.Add(time.Minute)); !errors.Is(err, s.err) {
		t.Error(err)
	}
	s.err = nil
	check.Must(t, w.Advance(t.Context(), s, noon.Add(2*time.Minute)))
	check.Must(t, w.Advance(t.Context(), s, noon.Add(2*time.Minute)))
	check.Same(t, []time.Duration{2 * time.Minute}, s.times, "how much was asked for")
}
