package audit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
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
