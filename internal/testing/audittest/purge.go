package audittest

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
)

// settle publishes and answers records.
func (s *subject) settle(t *testing.T, ids []int64) {
	t.Helper()
	Must(t, s.Published(t.Context(), ids))
	if _, err := s.Append(t.Context(), nil, ids); err != nil {
		t.Fatal(err)
	}
}

// purgeable returns what may be removed, signed.
func (s *subject) purgeable(t *testing.T, before time.Time, publish bool) []audit.Tombstone {
	t.Helper()
	tombstones, err := s.Purgeable(t.Context(), before, publish)
	Must(t, err)
	for i := range tombstones {
		if tombstones[i].Signature != nil || !tombstones[i].At.IsZero() {
			t.Errorf("tombstone %d is signed already: %+v", i, tombstones[i])
		}
		tombstones[i].At = Start.AddDate(8, 0, 0) // when every floor but a longer one is passed
		tombstones[i] = s.secret.SignTombstone(tombstones[i])
	}
	return tombstones
}

// purge removes what may be removed and returns how many records that were.
func (s *subject) purge(t *testing.T, before time.Time, publish bool) (n int64) {
	t.Helper()
	for _, tombstone := range s.purgeable(t, before, publish) {
		Must(t, s.Purge(t.Context(), tombstone))
		n += tombstone.Through - tombstone.From + 1
	}
	return n
}

var purgeFacts = []fact{
	{"records are removed by their time, and a signed tombstone stands for them", func(t *testing.T, s *subject) {
		s.settle(t, IDs(s.append(t, Records(0, 100)...)))
		if tombstones := s.purgeable(t, minute(0), true); len(tombstones) != 0 {
			t.Errorf("before the first record: %+v", tombstones)
		}
		tombstones := s.purgeable(t, minute(30), true)
		if len(tombstones) != 1 || tombstones[0].Oldest != minute(0) || tombstones[0].Newest != minute(29) {
			t.Fatalf("%+v", tombstones)
		}
		if n := s.purge(t, minute(30), true); n != 30 {
			t.Errorf("%d were removed", n)
		}
		if n := s.purge(t, minute(50), true); n != 20 {
			t.Errorf("then %d were removed", n)
		}
		left := s.all(t)
		same(t, "first that is left", left[0].At, minute(50))
		if v := s.mustVerify(t, 50); v.Removed != 50 {
			t.Errorf("%d are known to be removed", v.Removed)
		}
		all, err := s.Tombstones(t.Context())
		Must(t, err)
		same(t, "the first tombstone", all[0], tombstones[0])
		s.append(t, Records(100, 110)...)
		s.reopen(t)
		s.append(t, Records(110, 120)...)
		s.mustVerify(t, 70)
	}},
	{"a chain of which nothing is left goes on", func(t *testing.T, s *subject) {
		s.settle(t, IDs(s.append(t, Records(0, 10)...)))
		s.purge(t, minute(1000), true)
		s.mustVerify(t, 0)
		s.reopen(t)
		s.append(t, Records(10, 20)...)
		if v := s.mustVerify(t, 10); v.Removed != 10 {
			t.Errorf("%d are known to be removed", v.Removed)
		}
	}},
	{"what is unanswered stays, and all that came after it", func(t *testing.T, s *subject) {
		all := IDs(s.append(t, Records(0, 20)...))
		s.settle(t, append(all[:7:7], all[8:]...))
		Must(t, s.Published(t.Context(), all))
		if n := s.purge(t, minute(1000), true); n != 7 {
			t.Errorf("%d were removed, want the 7 before it", n)
		}
		Must(t, s.ForgetUnanswered(t.Context(), minute(7)))
		if n := s.purge(t, minute(1000), true); n != 0 {
			t.Errorf("%d were removed although it is too young to be forgotten", n)
		}
		Must(t, s.ForgetUnanswered(t.Context(), minute(8)))
		if n := s.purge(t, minute(1000), true); n != 13 {
			t.Errorf("then %d were removed, want 13", n)
		}
	}},
	{"what is unpublished stays where events are published", func(t *testing.T, s *subject) {
		all := IDs(s.append(t, Records(0, 20)...))
		if _, err := s.Append(t.Context(), nil, all); err != nil {
			t.Fatal(err)
		}
		Must(t, s.Published(t.Context(), all[:5]))
		if n := s.purge(t, minute(10), true); n != 5 {
			t.Errorf("%d were removed, want the 5 that are published", n)
		}
		if n := s.purge(t, minute(10), false); n != 5 {
			t.Errorf("%d were removed where nothing is ever published, want 5", n)
		}
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
		if n := s.purge(t, minute(100), true); n != 4 {
			t.Errorf("%d were removed, want 4", n)
		}
	}},
	{"a tombstone that does not fit is refused", func(t *testing.T, s *subject) {
		all := IDs(s.append(t, Records(0, 20)...))
		s.settle(t, append(all[:15:15], all[16:]...))
		good := s.purgeable(t, minute(10), true)[0]
		other, err := audit.NewSecret()
		Must(t, err)
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
