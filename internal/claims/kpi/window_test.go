package kpi_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/claims/kpi"
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
	w := kpi.Window{}
	rates := func(now time.Time, open ...*audit.State) map[string]float64 {
		of := day(now)
		for _, claim := range open {
			check.Must(t, of.AddOpen("", claim))
		}
		got, err := w.Rates(t.Context(), s, of)
		check.Must(t, err)
		return got
	}
	stopped := func(policy string) *audit.State {
		return &audit.State{Policy: policy, Kind: stop, At: now, Opened: now, Flags: audit.CourseRetried}
	}
	check.Same(t, 7.0/10, rates(now)["tiss"], "at the start")
	check.Same(t, 1, rates(now.Add(time.Hour))["tiss"], "when the old ones have left")
	tiss := stopped("tiss")
	check.Same(t, map[string]float64{"tiss": 0.5, "smtp": 0},
		rates(now.Add(time.Hour), tiss, tiss, tiss, tiss, tiss, tiss, tiss, stopped("smtp")), "with claims that are open")
	check.Same(t, 0, len(rates(now.Add(26*time.Hour))), "policies when all have left")
}

// day is a tally of the 24 hours before a time.
func day(now time.Time) *kpi.Tally { return &kpi.Tally{From: now.Add(-24 * time.Hour), To: now} }

// Its record comes into the store a minute after its time.
func TestWhatIsStoredLateIsCountedAllTheSame(t *testing.T) {
	w, now := kpi.Window{}, noon.Add(5*time.Minute)
	for _, c := range []struct {
		store audit.Store
		now   time.Time
		want  map[string]float64
	}{
		{storeOf(t), now.Add(59 * time.Second), map[string]float64{}},
		{storeOf(t, many(1, "late", noon, again, accepted)), now.Add(time.Minute), map[string]float64{"tiss": 1}},
	} {
		got, err := w.Rates(t.Context(), c.store, day(c.now))
		check.Must(t, err)
		check.Same(t, c.want, got, "rates at %s", c.now)
	}
}

func TestTheWindowAsksForWhatIsNewOnly(t *testing.T) {
	s := &asked{Store: storeOf(t)}
	w := kpi.Window{}
	_, err := w.Rates(t.Context(), s, day(noon))
	check.Must(t, err)
	s.times, s.err = nil, errors.New("lost")
	if _, err := w.Rates(t.Context(), s, day(noon.Add(7*time.Minute))); !errors.Is(err, s.err) {
		t.Error(err)
	}
	s.err = nil
	for range 2 { // the last five minutes, and once those before
		_, err := w.Rates(t.Context(), s, day(noon.Add(7*time.Minute)))
		check.Must(t, err)
	}
	check.Same(t, 4, len(s.times), "times asked")
}
