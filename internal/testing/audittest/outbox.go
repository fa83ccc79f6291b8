package audittest

import (
	"errors"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// unpublished returns what waits behind an ID.
func (s *subject) unpublished(t *testing.T, after int64, limit int) []audit.Record {
	t.Helper()
	records, err := s.Unpublished(t.Context(), after, limit)
	if err != nil {
		t.Fatalf("unpublished: %v", err)
	}
	return records
}

var outboxFacts = []fact{
	{"records wait in their order until they are published, also over a restart", func(t *testing.T, s *subject) {
		results := s.append(t, Records(0, 150)...)
		s.append(t, Record(3)) // repeated: it does not wait twice
		s.reopen(t)
		same(t, "the first ones", s.unpublished(t, 0, 20), stored(results)[:20])
		same(t, "those behind one", s.unpublished(t, results[19].Record.ID, 20), stored(results)[20:40])
		Must(t, s.Published(t.Context(), append(IDs(results)[:70], results[80].Record.ID, 1<<40)))
		s.reopen(t)
		want := append(stored(results)[70:80:80], stored(results)[81:]...)
		same(t, "the rest", s.unpublished(t, 0, 1000), want)
		Must(t, s.Published(t.Context(), nil))
		same(t, "how many records are stored", len(s.all(t)), 150)
	}},
	{"the backlog counts what waits and knows how long", func(t *testing.T, s *subject) {
		backlog := func(want int64, wantOldest time.Time) {
			t.Helper()
			waiting, oldest, err := s.Backlog(t.Context())
			if err != nil || waiting != want || oldest != wantOldest {
				t.Errorf("%d wait since %v, %v; want %d since %v", waiting, oldest, err, want, wantOldest)
			}
		}
		backlog(0, time.Time{})
		results := s.append(t, Records(0, 5)...)
		backlog(5, Record(0).At)
		Must(t, s.Published(t.Context(), IDs(results)[:2]))
		backlog(3, Record(2).At)
	}},
	{"one leads at a time", func(t *testing.T, s *subject) {
		release, err := s.Lead(t.Context())
		Must(t, err)
		if _, err := s.Lead(t.Context()); !errors.Is(err, audit.ErrNotLeading) {
			t.Errorf("a second one: %v", err)
		}
		release()
		again, err := s.Lead(t.Context())
		if err != nil {
			t.Fatalf("after the release: %v", err)
		}
		release() // of the first, once more: it takes nothing from the second
		if _, err := s.Lead(t.Context()); !errors.Is(err, audit.ErrNotLeading) {
			t.Errorf("after a release too many: %v", err)
		}
		again()
	}},
}
