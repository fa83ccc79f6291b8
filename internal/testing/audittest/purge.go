package audittest

import (
	"context"
	"slices"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// expired returns what may be removed.
func (s *subject) expired(t *testing.T, before time.Time) []audit.Expired {
	t.Helper()
	all, err := s.Expired(t.Context(), before)
	check.Must(t, err)
	return all
}

// remove purges with a cut.
func (s *subject) remove(t *testing.T, cut audit.Cut) error {
	t.Helper()
	return s.database.Purger(t, s.Store, s.secret).Purge(t.Context(), cut)
}

// purge removes what was decided before a time, which must be so many records.
func (s *subject) purge(t *testing.T, before time.Time, records int64) {
	t.Helper()
	var n int64
	for _, e := range s.expired(t, before) {
		if e.Through >= e.From {
			check.Must(t, s.remove(t, s.secret.Cut(e, time.Now())))
			n += e.Through - e.From + 1
		}
	}
	same(t, "how many records from before "+before.Format(time.TimeOnly)+" go", n, records)
}

var purgeFacts = []fact{
	{"a claim whose records are all gone is open no more", func(t *testing.T, s *subject) {
		records := story(step{"gone", audit.KindRetry, 0}, step{"left", audit.KindRetry, 0}, step{"left", audit.KindRetry, 1}, step{"young", audit.KindRetry, 0})
		s.append(t, records...)
		s.purge(t, minute(2), 2)
		open := []string{}
		for _, c := range s.openClaims(t) {
			open = append(open, c.ClaimID)
		}
		same(t, "open claims", open, []string{"CLM-left-1", "CLM-young-1"})
		check.Must(t, s.Check(t.Context()))
	}},
	{"records are removed by their time, and one signed cut stands for them", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 100)...)
		same(t, "before the first record", len(s.expired(t, minute(0))), 0)
		e := s.expired(t, minute(30))
		if len(e) != 1 || e[0].From != 1 || e[0].Through != 30 || e[0].Oldest != minute(0) || e[0].Newest != minute(29) || e[0].Unpublished {
			t.Fatalf("%+v", e)
		}
		s.purge(t, minute(30), 30)
		s.purge(t, minute(50), 20)
		same(t, "first that is left", s.all(t)[0].At, minute(50))
		same(t, "how many are known to be removed", s.mustVerify(t, 50).Removed, int64(50))
		cuts, err := s.Cuts(t.Context())
		if err != nil || len(cuts) != 1 || cuts[0].Through != 50 {
			t.Errorf("cuts: %+v, %v; want one through the 50th", cuts, err)
		}
		waiting, oldest, err := s.Backlog(t.Context())
		if err != nil || waiting != 50 || oldest != minute(50) {
			t.Errorf("%d wait since %v, %v", waiting, oldest, err)
		}
		s.append(t, Records(100, 110)...)
		s.reopen(t)
		s.append(t, Records(110, 120)...)
		s.mustVerify(t, 70)
	}},
	{"a chain of which nothing is left goes on", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		s.purge(t, minute(1000), 10)
		s.mustVerify(t, 0)
		s.reopen(t)
		s.append(t, Records(10, 20)...)
		same(t, "how many are known to be removed", s.mustVerify(t, 10).Removed, int64(10))
	}},
	{"what is unpublished stays where a process ever led, and all that came after it", func(t *testing.T, s *subject) {
		all := IDs(s.append(t, Records(0, 20)...))
		release, err := s.Lead(t.Context())
		check.Must(t, err)
		release()
		s.reopen(t)
		if e := s.expired(t, minute(10)); len(e) != 1 || e[0].Through != e[0].From-1 || !e[0].Unpublished {
			t.Errorf("nothing is published: %+v", e)
		}
		check.Must(t, s.Published(t.Context(), slices.Concat(all[:5], all[6:])))
		if e := s.expired(t, minute(10)); !e[0].Unpublished {
			t.Errorf("the sixth is not published: %+v", e)
		}
		s.purge(t, minute(10), 5)
		check.Must(t, s.Published(t.Context(), all[5:6]))
		s.purge(t, minute(10), 5)
		s.mustVerify(t, 10)
	}},
	{"a record decided late holds up those behind it", func(t *testing.T, s *subject) {
		records := Records(0, 10)
		records[4].At = minute(500)
		s.append(t, records...)
		s.purge(t, minute(100), 4)
	}},
	{"a cut that does not fit is refused", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 20)...)
		good := s.expired(t, minute(10))[0]
		changed := func(change func(*audit.Expired)) audit.Cut {
			e := good
			change(&e)
			return s.secret.Cut(e, time.Now())
		}
		unsigned := s.secret.Cut(good, time.Now())
		unsigned.Through++
		for name, cut := range map[string]audit.Cut{
			"changed since":    unsigned,
			"signed otherwise": Secret(t).Cut(good, time.Now()),
			"wrong hash":       changed(func(e *audit.Expired) { e.Hash[0]++ }),
			"beyond the end":   changed(func(e *audit.Expired) { e.Through = 100 }),
			"of no chain":      changed(func(e *audit.Expired) { e.Chain = 77 }),
		} {
			if err := s.remove(t, cut); err == nil {
				t.Errorf("%s: purged", name)
			}
		}
		s.mustVerify(t, 20)
		if err := s.remove(t, s.secret.Cut(good, time.Now())); err != nil {
			t.Errorf("the good one: %v", err)
		}
		s.mustVerify(t, 10)
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
			s.append(t, Record(n))
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
		s.purge(t, minute(3), 3)
		agreed(4) // the cut ends at the third
	}},
	{"a known head of another key is no fault of the store", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 3)...)
		other := Secret(t)
		mine := s.head(t)
		for _, chain := range []int{mine.Chain, mine.Chain + 1} {
			_, err := s.verify(t, mine, other.Head(audit.ChainAt(chain, 2, mine.Hash), mine.At))
			if err == nil || isBroken(err) {
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
