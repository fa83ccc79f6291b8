package audittest

import (
	"fmt"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// settle publishes and answers records.
func (s *subject) settle(t *testing.T, ids []int64) {
	t.Helper()
	check.Must(t, s.Published(t.Context(), ids))
	s.answer(t, ids)
}

// purgeable returns what may be removed, signed.
func (s *subject) purgeable(t *testing.T, before time.Time, publish bool) []audit.Tombstone {
	t.Helper()
	tombstones, err := s.Purgeable(t.Context(), before, publish)
	check.Must(t, err)
	for i := range tombstones {
		if tombstones[i].Signature != nil || !tombstones[i].At.IsZero() {
			t.Errorf("tombstone %d is signed already: %+v", i, tombstones[i])
		}
		tombstones[i].At = Start.AddDate(8, 0, 0) // when every floor but a longer one is passed
		tombstones[i] = s.secret.SignTombstone(tombstones[i])
	}
	return tombstones
}

// purge removes what may be removed, which must be so many records.
func (s *subject) purge(t *testing.T, before time.Time, publish bool, records int64) {
	t.Helper()
	var n int64
	for _, tombstone := range s.purgeable(t, before, publish) {
		check.Must(t, s.Purge(t.Context(), tombstone))
		n += tombstone.Through - tombstone.From + 1
	}
	same(t, fmt.Sprintf("how many records from before %v go", before), n, records)
}

var purgeFacts = []fact{
	{"a claim whose records are all gone is open no more", func(t *testing.T, s *subject) {
		records := story(step{"gone", audit.KindRetry, 0}, step{"left", audit.KindRetry, 0}, step{"left", audit.KindRetry, 1}, step{"young", audit.KindRetry, 0})
		s.settle(t, IDs(s.append(t, records...)))
		s.purge(t, minute(2), false, 2)
		open := []string{}
		for _, c := range s.openClaims(t) {
			open = append(open, c.ClaimID)
		}
		same(t, "open claims", open, []string{"CLM-left-1", "CLM-young-1"})
		check.Must(t, s.Check(t.Context()))
	}},
	{"records are removed by their time, and a signed tombstone stands for them", func(t *testing.T, s *subject) {
		s.settle(t, IDs(s.append(t, Records(0, 100)...)))
		if tombstones := s.purgeable(t, minute(0), true); len(tombstones) != 0 {
			t.Errorf("before the first record: %+v", tombstones)
		}
		tombstones := s.purgeable(t, minute(30), true)
		if len(tombstones) != 1 || tombstones[0].Oldest != minute(0) || tombstones[0].Newest != minute(29) {
			t.Fatalf("%+v", tombstones)
		}
		s.purge(t, minute(30), true, 30)
		s.purge(t, minute(50), true, 20)
		left := s.all(t)
		same(t, "first that is left", left[0].At, minute(50))
		same(t, "how many are known to be removed", s.mustVerify(t, 50).Removed, int64(50))
		all, err := s.Tombstones(t.Context())
		check.Must(t, err)
		same(t, "the first tombstone", all[0], tombstones[0])
		s.append(t, Records(100, 110)...)
		s.reopen(t)
		s.append(t, Records(110, 120)...)
		s.mustVerify(t, 70)
	}},
	{"a chain of which nothing is left goes on", func(t *testing.T, s *subject) {
		s.settle(t, IDs(s.append(t, Records(0, 10)...)))
		s.purge(t, minute(1000), true, 10)
		s.mustVerify(t, 0)
		s.reopen(t)
		s.append(t, Records(10, 20)...)
		same(t, "how many are known to be removed", s.mustVerify(t, 10).Removed, int64(10))
	}},
	{"what is unanswered stays, and all that came after it", func(t *testing.T, s *subject) {
		all := IDs(s.append(t, Records(0, 20)...))
		s.settle(t, append(all[:7:7], all[8:]...))
		check.Must(t, s.Published(t.Context(), all))
		s.purge(t, minute(1000), true, 7)
		check.Must(t, s.ForgetUnanswered(t.Context(), minute(7)))
		s.purge(t, minute(1000), true, 0)
		check.Must(t, s.ForgetUnanswered(t.Context(), minute(8)))
		s.purge(t, minute(1000), true, 13)
	}},
	{"what is unpublished stays where events are published", func(t *testing.T, s *subject) {
		all := IDs(s.append(t, Records(0, 20)...))
		s.answer(t, all)
		check.Must(t, s.Published(t.Context(), all[:5]))
		s.purge(t, minute(10), true, 5)
		s.purge(t, minute(10), false, 5)
		waiting, oldest, err := s.Backlog(t.Context())
		if err != nil || waiting != 10 || oldest != minute(10) {
			t.Errorf("%d wait since %v, %v", waiting, oldest, err)
		}
		s.mustVerify(t, 10)
	}},
	{"a record decided late holds up those behind it", func(t *testing.T, s *subject) {
		records := Records(0, 10)
		records[4].At = minute(500)
		s.settle(t, IDs(s.append(t, records...)))
		s.purge(t, minute(100), true, 4)
	}},
	{"a tombstone that does not fit is refused", func(t *testing.T, s *subject) {
		all := IDs(s.append(t, Records(0, 20)...))
		s.settle(t, append(all[:15:15], all[16:]...))
		good := s.purgeable(t, minute(10), true)[0]
		other := Secret(t)
		for name, change := range map[string]func(*audit.Tombstone) audit.Tombstone{
			"unsigned":         func(b *audit.Tombstone) audit.Tombstone { b.Signature = nil; return *b },
			"signed otherwise": func(b *audit.Tombstone) audit.Tombstone { return other.SignTombstone(*b) },
			"changed":          func(b *audit.Tombstone) audit.Tombstone { b.Through++; return *b },
			"not the first":    func(b *audit.Tombstone) audit.Tombstone { b.From++; return s.secret.SignTombstone(*b) },
			"wrong hash":       func(b *audit.Tombstone) audit.Tombstone { b.Hash[0]++; return s.secret.SignTombstone(*b) },
			"beyond the end":   func(b *audit.Tombstone) audit.Tombstone { b.Through = 100; return s.secret.SignTombstone(*b) },
			"of no chain":      func(b *audit.Tombstone) audit.Tombstone { b.Chain = 77; return s.secret.SignTombstone(*b) },
			"over an unanswered one": func(b *audit.Tombstone) audit.Tombstone {
				last := s.all(t)[17]
				b.Through, b.Hash, b.Newest = last.Seq, last.Hash, last.At
				return s.secret.SignTombstone(*b)
			},
		} {
			tombstone := good
			if err := s.Purge(t.Context(), change(&tombstone)); err == nil {
				t.Errorf("%s: purged", name)
			}
		}
		s.mustVerify(t, 20)
		if err := s.Purge(t.Context(), good); err != nil {
			t.Errorf("the good one: %v", err)
		}
		if err := s.Purge(t.Context(), good); err == nil {
			t.Error("the good one was taken twice")
		}
		s.mustVerify(t, 10)
	}},
}
