package audittest

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// expired returns what may be removed of the only chain that has records, and what keeps the rest.
func (s *subject) expired(t *testing.T, before time.Time) ([]audit.Purged, audit.Hold) {
	t.Helper()
	all, held, err := audit.Purge(t.Context(), s.Store, before, true)
	check.Must(t, err)
	return all, held
}

// purge removes what was decided before a time, which must be so many records.
func (s *subject) purge(t *testing.T, before time.Time, records int64) (held audit.Hold) {
	t.Helper()
	would, _ := s.expired(t, before)
	all, held, err := audit.Purge(t.Context(), s.database.Purger(t, s.Store, s.secret), before, false)
	check.Must(t, err)
	same(t, "what was removed, and what would be", all, would)
	var n int64
	for _, p := range all {
		n += p.Records
	}
	same(t, "how many records from before "+before.Format(time.DateTime)+" go", n, records)
	return held
}

var purgeFacts = []fact{
	{"no record of a claim that is open is removed, nor what was decided from a day before it on", func(t *testing.T, s *subject) {
		day := func(n int) time.Time { return Start.AddDate(0, 0, n) }
		daily := func(from int, records []audit.Record) []audit.Record {
			for i := range later(from, records) {
				records[i].At = day(from + i)
			}
			return records
		}
		s.append(t, daily(0, story(step{"ended", audit.KindRetry}, step{"ended", audit.KindSubmitted}, step{"soon", audit.KindSubmitted},
			step{"open", audit.KindRetry}, step{"late", audit.KindSubmitted}, step{"open", audit.KindRetry}))...)
		same(t, "what keeps the rest", s.purge(t, day(5), 2), audit.Hold{From: day(2), ClaimID: "CLM-open-1"})
		s.mustVerify(t, 4)
		s.append(t, daily(6, story(step{"open", audit.KindSubmitted}))...)
		s.purge(t, day(6), 4)
		s.mustVerify(t, 1)
		s.append(t, daily(7, story(step{"open", audit.KindRetry}))...)
		s.mustVerify(t, 2)
	}},
	{"a head from before a cut that is put back is found", func(t *testing.T, s *subject) {
		s.append(t, Ended(0, 10)...)
		s.tamper(t, "CREATE TABLE earlier AS SELECT * FROM heads")
		s.append(t, Ended(10, 20)...)
		s.purge(t, minute(1000), 20)
		s.tamper(t, putBack)
		s.finds(t, 10)
	}},
	{"records are removed by their time, and one signed cut stands for them", func(t *testing.T, s *subject) {
		s.append(t, Ended(0, 100)...)
		none, _ := s.expired(t, minute(0))
		same(t, "before the first record", len(none), 0)
		e, held := s.expired(t, minute(30))
		if len(e) != 1 || e[0].Records != 30 || e[0].Through != 30 || held != (audit.Hold{}) {
			t.Fatalf("%+v, %+v", e, held)
		}
		s.purge(t, minute(30), 30)
		s.purge(t, minute(50), 20)
		same(t, "first that is left", s.all(t)[0].At, minute(50))
		same(t, "how many are known to be removed", s.mustVerify(t, 50).Removed, int64(50))
		_, cuts, err := s.Heads(t.Context())
		if err != nil || len(cuts) != 1 || cuts[0].Seq != 50 {
			t.Errorf("cuts: %+v, %v; want one at the 50th", cuts, err)
		}
		s.leads(t, func(audit.Lead) error { return nil })
		waiting, oldest, err := s.Backlog(t.Context())
		if err != nil || waiting != 50 || oldest != minute(50) {
			t.Errorf("%d wait since %v, %v", waiting, oldest, err)
		}
		s.append(t, Ended(100, 110)...)
		s.reopen(t)
		s.append(t, Ended(110, 120)...)
		s.mustVerify(t, 70)
	}},
	{"a chain of which nothing is left goes on", func(t *testing.T, s *subject) {
		s.append(t, Ended(0, 10)...)
		s.purge(t, minute(1000), 10)
		s.mustVerify(t, 0)
		s.reopen(t)
		s.append(t, Ended(10, 20)...)
		same(t, "how many are known to be removed", s.mustVerify(t, 10).Removed, int64(10))
	}},
	{"what is unpublished stays where a process ever led, and what was decided up to a day before it", func(t *testing.T, s *subject) {
		day := func(n int) time.Time { return Start.AddDate(0, 0, n) }
		records := Ended(0, 20)
		for i := range records {
			records[i].At = day(i)
		}
		all := IDs(s.append(t, records...))
		s.leads(t, func(audit.Lead) error { return nil })
		s.reopen(t)
		same(t, "what keeps all", s.purge(t, day(10), 0), audit.Hold{From: day(-1)})
		s.published(t, all[:5])
		same(t, "what keeps the rest", s.purge(t, day(10), 4), audit.Hold{From: day(4)})
		s.published(t, all[5:])
		s.purge(t, day(10), 6)
		s.mustVerify(t, 10)
	}},
	{"a record decided late holds up those behind it", func(t *testing.T, s *subject) {
		records := Ended(0, 10)
		records[4].At = minute(500)
		s.append(t, records...)
		s.purge(t, minute(100), 4)
	}},
	{"two known heads of one place show a trail that was put back and went on", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		now := s.head(t)
		other := now.Hash
		other[0]++
		lost := s.secret.Head(audit.Head{Chain: now.Chain, Seq: now.Seq, Hash: other}, now.At)
		s.finds(t, now.Seq, lost, now)
		s.finds(t, now.Seq, now, lost)
	}},
	{"only those known heads count as agreed whose place is there", func(t *testing.T, s *subject) {
		var known []audit.Head
		for n := range 6 {
			s.append(t, Ended(n, n+1)...)
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
			_, err := s.verify(t, mine, other.Head(audit.Head{Chain: chain, Seq: 2, Hash: mine.Hash}, mine.At))
			if err == nil || IsBroken(err) {
				t.Errorf("chain %d: %v", chain, err)
			}
		}
	}},
}
