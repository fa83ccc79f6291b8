package audit_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/audittest"
	"hospital.example/analyze-retry/internal/audit/sqlite"
)

func TestRecordsAreKeptForAllTheirMonthsAndRemovedByWholeOnes(t *testing.T) {
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

// shelf is a real store with records that are a minute apart from audittest.Start on.
type shelf struct {
	audit.Store
	secret *audit.Secret
}

// shelved appends records, all answered and published but those whose numbers are given.
func shelved(t *testing.T, records []audit.Record, unanswered, unpublished []int) shelf {
	t.Helper()
	secret, err := audit.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), secret, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	stored, err := store.Append(t.Context(), records, nil)
	if err != nil {
		t.Fatal(err)
	}
	but := func(numbers []int) (ids []int64) {
		for i := range stored {
			if !slices.Contains(numbers, i) {
				ids = append(ids, stored[i].Record.ID)
			}
		}
		return ids
	}
	if _, err := store.Append(t.Context(), nil, but(unanswered)); err != nil {
		t.Fatal(err)
	}
	if err := store.Published(t.Context(), but(unpublished)); err != nil {
		t.Fatal(err)
	}
	return shelf{store, secret}
}

// retain removes what was decided before the nth record and returns how many records went.
func (s shelf) retain(t *testing.T, n int, publish bool) int64 {
	t.Helper()
	stubs, err := audit.Retain(t.Context(), s, s.secret, audittest.Start.Add(time.Duration(n)*time.Minute), publish)
	if err != nil {
		t.Fatal(err)
	}
	var removed int64
	for _, stub := range stubs {
		if !s.secret.Public().CheckStub(stub) {
			t.Errorf("stub %+v is not signed", stub)
		}
		if age := time.Since(stub.At); age < 0 || age > time.Hour {
			t.Errorf("stub says it was made at %s", stub.At)
		}
		removed += stub.Through - stub.From + 1
	}
	return removed
}

func (s shelf) left(t *testing.T) audit.Verified {
	t.Helper()
	v, err := audit.Verify(t.Context(), s, s.secret.Public(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOldRecordsGoAndTheTrailIsStillInOrder(t *testing.T) {
	s := shelved(t, audittest.Records(0, 10), nil, nil)
	if n := s.retain(t, 4, true); n != 4 {
		t.Errorf("%d records went, want 4", n)
	}
	if v := s.left(t); v.Records != 6 || v.Removed != 4 {
		t.Errorf("left: %+v", v)
	}
	if n := s.retain(t, 4, true); n != 0 {
		t.Errorf("%d more went the second time", n)
	}
	if n := s.retain(t, 100, true); n != 6 {
		t.Errorf("%d records went, want the rest", n)
	}
	if v := s.left(t); v.Records != 0 || v.Removed != 10 {
		t.Errorf("left: %+v", v)
	}
}

func TestAnUnpublishedRecordStaysUnlessNothingIsEverPublished(t *testing.T) {
	s := shelved(t, audittest.Records(0, 10), nil, []int{2})
	if n := s.retain(t, 5, true); n != 2 {
		t.Errorf("%d records went, want the 2 before it", n)
	}
	if n := s.retain(t, 5, false); n != 3 {
		t.Errorf("%d records went where nothing is published, want 3", n)
	}
}

func TestAnUnansweredRecordStaysForThirtyDays(t *testing.T) {
	const day = 24 * time.Hour
	records := audittest.Records(0, 3)
	now := time.Now()
	records[0].At, records[1].At, records[2].At = now.Add(-31*day), now.Add(-29*day), now.Add(-28*day)
	s := shelved(t, records, []int{0, 1}, nil)
	stubs, err := audit.Retain(t.Context(), s, s.secret, now, true)
	if err != nil || len(stubs) != 1 || stubs[0].Through != 1 {
		t.Errorf("stubs %+v, error %v; want the first record only", stubs, err)
	}
}

func TestWhatHoldsTheRestBackIsTold(t *testing.T) {
	for _, test := range []struct {
		name                    string
		unanswered, unpublished []int
		publish                 bool
		seq                     int64 // 0: nothing holds
		isUnanswered, isUnpub   bool
	}{
		{name: "nothing", publish: true},
		{name: "its event", unpublished: []int{3}, publish: true, seq: 4, isUnpub: true},
		{name: "its event, where none is published", unpublished: []int{3}},
		{name: "its answer", unanswered: []int{3}, publish: true, seq: 4, isUnanswered: true},
		{name: "both", unanswered: []int{3}, unpublished: []int{3}, publish: true, seq: 4, isUnanswered: true, isUnpub: true},
		{name: "the first one, of several", unanswered: []int{4}, unpublished: []int{2, 3}, publish: true, seq: 3, isUnpub: true},
		{name: "a record that is too young anyway", unanswered: []int{6}, publish: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := shelved(t, audittest.Records(0, 10), test.unanswered, test.unpublished)
			cutoff := audittest.Start.Add(6 * time.Minute)
			stubs, err := s.Purgeable(t.Context(), cutoff, test.publish)
			if err != nil {
				t.Fatal(err)
			}
			held, err := audit.HeldBack(t.Context(), s, stubs, cutoff, test.publish)
			switch {
			case err != nil:
				t.Fatal(err)
			case test.seq == 0 && len(held) == 0:
			case len(held) != 1 || held[0].Record.Seq != test.seq || held[0].Unanswered != test.isUnanswered || held[0].Unpublished != test.isUnpub:
				t.Errorf("held back: %+v", held)
			}
		})
	}
}

// halting is a store that removes one run and then fails.
type halting struct {
	audit.Store
	purged int
}

var errHalt = errors.New("halt")

func (h *halting) ForgetUnanswered(context.Context, time.Time) error { return nil }

func (h *halting) Purgeable(context.Context, time.Time, bool) ([]audit.Stub, error) {
	return []audit.Stub{{Chain: 1, From: 1, Through: 2}, {Chain: 2, From: 1, Through: 2}, {Chain: 3, From: 1, Through: 2}}, nil
}

func (h *halting) Purge(context.Context, audit.Stub) error {
	if h.purged++; h.purged > 1 {
		return errHalt
	}
	return nil
}

func TestAnErrorBetweenTellsWhatIsGoneAlready(t *testing.T) {
	secret, err := audit.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	stubs, err := audit.Retain(t.Context(), new(halting), secret, noon, true)
	if !errors.Is(err, errHalt) || len(stubs) != 1 || stubs[0].Chain != 1 {
		t.Errorf("stubs %+v, error %v; want the one that went and why the others did not", stubs, err)
	}
}
