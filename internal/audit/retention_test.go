package audit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestRecordsAreRemovedByWholeMonths(t *testing.T) {
	saoPaulo := time.FixedZone("-03", -3*3600)
	for _, test := range []struct {
		now    time.Time
		months int
		want   string
	}{
		{time.Date(2026, 1, 31, 23, 59, 59, 0, time.UTC), 60, "2021-01-01"},
		{time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), 60, "2021-02-01"},
		{time.Date(2026, 1, 31, 22, 0, 0, 0, saoPaulo), 60, "2021-02-01"}, // it is February in UTC
		{time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC), 1, "2026-02-01"},  // not the 31st of February
		{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 18, "2024-07-01"},
		{time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC), 600, "1976-12-01"},
	} {
		got := audit.Cutoff(test.now, test.months)
		if got.Format(time.DateOnly) != test.want || got.Location() != time.UTC || !got.Equal(got.Truncate(24*time.Hour)) {
			t.Errorf("%s less %d months: %s, want %s", test.now, test.months, got, test.want)
		}
	}
}

// halting is a store that removes one run and then fails.
type halting struct {
	audit.Store
	purged    int
	forgotten time.Time // marks older than this
}

var errHalt = errors.New("halt")

func (h *halting) ForgetUnanswered(_ context.Context, before time.Time) error {
	h.forgotten = before
	return nil
}

func (h *halting) Purgeable(context.Context, time.Time, bool) ([]audit.Tombstone, error) {
	if h.forgotten.IsZero() {
		return nil, errors.New("asked before the old marks were forgotten")
	}
	return []audit.Tombstone{{Chain: 1, From: 1, Through: 2}, {Chain: 2, From: 1, Through: 2}, {Chain: 3, From: 1, Through: 2}}, nil
}

func (h *halting) Purge(context.Context, audit.Tombstone) error {
	if h.purged++; h.purged > 1 {
		return errHalt
	}
	return nil
}

func TestRetentionForgetsOldMarksAndReturnsWhatWent(t *testing.T) {
	var store halting
	tombstones, err := audit.Retain(t.Context(), &store, audittest.Secret(t), audit.RetentionAt(time.Now(), 60, true))
	if !errors.Is(err, errHalt) || len(tombstones) != 1 || tombstones[0].Chain != 1 {
		t.Errorf("tombstones %+v, error %v; want the one that went and why the others did not", tombstones, err)
	}
	if age := time.Since(store.forgotten); age < 30*24*time.Hour || age > 30*24*time.Hour+time.Hour {
		t.Errorf("marks older than %s are forgotten, want 30 days", age)
	}
}

var noon = time.Date(2026, 1, 12, 12, 0, 0, 0, time.UTC)

func TestRecordsAreRemovedOnlyByAClockThatSomethingConfirms(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for name, test := range map[string]struct {
		clocks audit.Clocks
		by     string // what holds the removal; empty where nothing does
	}{
		"the broker agrees":                     {audit.Clocks{Host: now, Broker: now.Add(-time.Second)}, ""},
		"the broker is ahead":                   {audit.Clocks{Host: now, Broker: now.Add(year)}, ""},
		"a day ahead of the broker":             {audit.Clocks{Host: now.Add(24 * time.Hour), Broker: now, Head: now}, ""},
		"more than a day ahead of the broker":   {audit.Clocks{Host: now.Add(24*time.Hour + time.Second), Broker: now}, "broker"},
		"years ahead of the broker":             {audit.Clocks{Host: now.Add(5 * year), Broker: now, Head: now}, "broker"},
		"a head by the same wrong clock":        {audit.Clocks{Host: now.Add(5 * year), Broker: now, Head: now.Add(5 * year)}, "broker"},
		"an idle store, and the broker agrees":  {audit.Clocks{Host: now, Broker: now, Head: now.Add(-year)}, ""},
		"a fresh head, and no broker":           {audit.Clocks{Host: now, Head: now.Add(-23 * time.Hour)}, ""},
		"a head of the future, and no broker":   {audit.Clocks{Host: now, Head: now.Add(year)}, ""},
		"years ahead of the head, no broker":    {audit.Clocks{Host: now.Add(5 * year), Head: now}, "newest head"},
		"an idle store, and no broker":          {audit.Clocks{Host: now, Head: now.Add(-25 * time.Hour)}, "newest head"},
		"nothing to compare with":               {audit.Clocks{Host: now}, "neither the broker nor a signed head"},
		"a clock that jumped with the broker's": {audit.Clocks{Host: now, Broker: now, Head: now, Confirmed: now.AddDate(-5, 0, 0)}, "last found right"},
		"a pause of three months":               {audit.Clocks{Host: now, Broker: now, Confirmed: now.AddDate(0, -3, 0)}, ""},
		"farther ahead than a duration reaches": {audit.Clocks{Host: now.AddDate(2000, 0, 0), Broker: now}, "broker"},
	} {
		err := test.clocks.Check()
		held, is := errors.AsType[*audit.ClockError](err)
		if (err == nil) != (test.by == "") || is == (err == nil) || is && !strings.Contains(err.Error(), test.by) {
			t.Errorf("%s: %v", name, err)
		}
		if is && !held.Host.Equal(test.clocks.Host) {
			t.Errorf("%s: %+v", name, held)
		}
	}
}

func TestAHeadOfAnotherKeyTellsNoTime(t *testing.T) {
	mine, err := audit.NewSecret()
	check.Must(t, err)
	other, err := audit.NewSecret()
	check.Must(t, err)
	chain := audit.NewChain(1)
	moved := mine.Head(chain, noon)
	moved.At = noon.AddDate(9, 0, 0)
	heads := []audit.Head{mine.Head(chain, noon.Add(-time.Hour)), other.Head(chain, noon.AddDate(5, 0, 0)), mine.Head(chain, noon), moved, {}}
	if at := audit.HeadTime(heads, mine.Public()); !at.Equal(noon) {
		t.Errorf("the newest head is from %v, want %v", at, noon)
	}
	if at := audit.HeadTime(heads[1:2], mine.Public()); !at.IsZero() {
		t.Errorf("%v, want none", at)
	}
}
