package audittest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// shelve appends ten records, all answered and published but those whose numbers are given.
func (s *subject) shelve(t *testing.T, unanswered, unpublished []int) {
	t.Helper()
	stored := s.append(t, Records(0, 10)...)
	but := func(numbers []int) (ids []int64) {
		for i := range stored {
			if !slices.Contains(numbers, i) {
				ids = append(ids, stored[i].Record.ID)
			}
		}
		return ids
	}
	s.answer(t, but(unanswered))
	check.Must(t, s.Published(t.Context(), but(unpublished)))
}

// retain removes what was decided before a time, and returns how many records went.
func (s *subject) retain(t *testing.T, cutoff time.Time, publish bool) (n int64) {
	t.Helper()
	tombstones, err := audit.Retain(t.Context(), s, s.secret, audit.Retention{Now: time.Now().UTC().Truncate(time.Microsecond), Cutoff: cutoff, Publish: publish})
	check.Must(t, err)
	for _, tombstone := range tombstones {
		if age := time.Since(tombstone.At); age < 0 || age > time.Hour {
			t.Errorf("the tombstone says it was made at %s", tombstone.At)
		}
		n += tombstone.Through - tombstone.From + 1
	}
	return n
}

var retainFacts = []fact{
	{"a store whose events were ever to be published has a queue, also for who knows of none", func(t *testing.T, s *subject) {
		s.shelve(t, nil, []int{2})
		release, err := s.Lead(t.Context())
		check.Must(t, err)
		release()
		s.reopen(t)
		same(t, "how many go before what is unpublished", s.retain(t, minute(5), false), int64(2))
		held, err := audit.HeldBack(t.Context(), s, nil, minute(5), false)
		if err != nil || len(held) != 1 || held[0].Record.Seq != 3 || !held[0].Unpublished {
			t.Fatalf("held back: %+v, %v", held, err)
		}
		s.settle(t, []int64{held[0].Record.ID})
		same(t, "how many go then", s.retain(t, minute(5), false), int64(3))
	}},
	{"what holds the rest back is named", func(t *testing.T, s *subject) {
		s.shelve(t, []int{4, 7}, []int{2, 4, 8})
		holds := func(before int, publish bool, seq int64, unpublished, unanswered bool) {
			t.Helper()
			tombstones, err := s.Purgeable(t.Context(), minute(before), publish)
			check.Must(t, err)
			held, err := audit.HeldBack(t.Context(), s, tombstones, minute(before), publish)
			switch {
			case err != nil:
				t.Fatal(err)
			case seq == 0 && len(held) == 0:
			case len(held) != 1 || held[0].Record.Seq != seq || held[0].Unpublished != unpublished || held[0].Unanswered != unanswered:
				t.Errorf("before %d, published %t: %+v", before, publish, held)
			}
		}
		holds(2, true, 0, false, false) // the third record is too young anyway
		holds(6, true, 3, true, false)
		holds(6, false, 5, false, true) // its event is never published, and so it does not hold it
		s.settle(t, []int64{3})
		holds(6, true, 5, true, true)
		s.settle(t, []int64{5})
		holds(6, true, 0, false, false)
		holds(100, true, 8, false, true) // a later one is unpublished
		s.settle(t, []int64{8})
		holds(100, true, 9, true, false)
		s.settle(t, []int64{9})
		holds(100, true, 0, false, false)
	}},
	{"a trail that grows while it is checked is in order", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		g := &growing{s, t, 10}
		for _, want := range []int64{10, 11} {
			v, err := audit.Verify(t.Context(), g, s.secret.Public(), nil, nil)
			if err != nil || v.Records != want {
				t.Errorf("%+v, %v; want the %d records of the head", v, err, want)
			}
		}
	}},
	{"two known heads of one place show a trail that was put back and went on", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		now := s.head(t)
		other := now.Hash
		other[0]++
		lost := s.secret.Head(audit.ChainAt(now.Chain, now.Seq, other), now.At)
		s.finds(t, now.Seq, lost, now)
		s.finds(t, now.Seq, now, lost)
	}},
	{"only those known heads count as agreed whose place is there", func(t *testing.T, s *subject) {
		var known []audit.Head
		for n := range 6 {
			s.settle(t, IDs(s.append(t, Record(n))))
			known = append(known, s.head(t))
		}
		agreed := func(want int) {
			t.Helper()
			v, err := s.verify(t, known...)
			if err != nil || v.Agreed != want {
				t.Errorf("%d of %d agreed, %v; want %d", v.Agreed, len(known), err, want)
			}
		}
		agreed(6)
		s.purge(t, minute(3), true, 3)
		agreed(4) // the tombstone ends at the third
	}},
	{"a known head of another key is no fault of the store", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 3)...)
		other := Secret(t)
		mine := s.head(t)
		for _, chain := range []int{mine.Chain, mine.Chain + 1} {
			_, err := s.verify(t, mine, other.Head(audit.ChainAt(chain, 2, mine.Hash), mine.At))
			if _, broken := errors.AsType[*audit.BrokenError](err); err == nil || broken {
				t.Errorf("chain %d: %v", chain, err)
			}
		}
	}},
}

// growing is a store to which a worker adds a record between the read of the heads and the walk.
type growing struct {
	*subject
	t    *testing.T
	next int
}

func (g *growing) Walk(ctx context.Context, chain int, after int64, visit func(*audit.Record) error) error {
	g.append(g.t, Record(g.next))
	g.next++
	return g.subject.Walk(ctx, chain, after, visit)
}
