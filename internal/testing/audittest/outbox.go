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
		if n := len(s.all(t)); n != 150 {
			t.Errorf("%d records are left", n)
		}
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

var crashFacts = []fact{
	{"handlings that were begun and not ended are counted, over restarts", func(t *testing.T, s *subject) {
		crashes := func(want map[int64]int) {
			t.Helper()
			got, err := s.Crashes(t.Context(), "a")
			Must(t, err)
			same(t, "crashes", got, want)
		}
		must := func(err error) {
			t.Helper()
			Must(t, err)
		}
		if got, err := s.Crashes(t.Context(), "a"); err != nil || len(got) != 0 {
			t.Fatalf("a new store has the crashes %v, %v", got, err)
		}
		must(s.Begin(t.Context(), "a", []int64{1, 2}))
		must(s.Begin(t.Context(), "b", []int64{1, 2, 3}))
		s.reopen(t)
		crashes(map[int64]int{1: 1, 2: 1})
		must(s.Begin(t.Context(), "a", []int64{2, 3}))
		crashes(map[int64]int{1: 1, 2: 2, 3: 1})
		must(s.Begin(t.Context(), "a", nil))
		crashes(map[int64]int{1: 1, 2: 2, 3: 1})
		must(s.End(t.Context(), "a", []int64{2, 99})) // handed back, or never begun
		crashes(map[int64]int{1: 1, 3: 1})
	}},
	{"a handling that was begun more than a week ago is forgotten", func(t *testing.T, s *subject) {
		week := Record(1)
		for job, ago := range map[int64]time.Duration{1: audit.CrashesKept + time.Hour, 2: audit.CrashesKept - time.Hour, 3: audit.CrashesKept + time.Hour} {
			Must(t, s.Begin(t.Context(), "a", []int64{job}))
			// The database knows how to write a time of the past: that of a record.
			week.At, week.JobKey = time.Now().Add(-ago), job
			s.append(t, week)
			s.tamper(t, "UPDATE crashes SET at = (SELECT at FROM records WHERE job_key = %[1]d) WHERE job_key = %[1]d", job)
		}
		if err := s.Begin(t.Context(), "a", []int64{3}); err != nil { // it came again
			t.Fatal(err)
		}
		s.reopen(t)
		got, err := s.Crashes(t.Context(), "a")
		Must(t, err)
		same(t, "crashes", got, map[int64]int{2: 1, 3: 2})
	}},
	{"the append of a job's record ends its handling, also where it is stored already", func(t *testing.T, s *subject) {
		mine, others := Record(1), Record(2)
		mine.Cluster, others.Cluster = "a", "b"
		for range 2 {
			for _, cluster := range []string{"a", "b"} {
				Must(t, s.Begin(t.Context(), cluster, []int64{mine.JobKey, others.JobKey, 99}))
			}
			s.reopen(t)
			if _, err := s.Crashes(t.Context(), "a"); err != nil { // as a process does that has just started
				t.Fatal(err)
			}
			if _, err := s.Append(t.Context(), []audit.Record{mine, others}, nil); err != nil {
				t.Fatal(err)
			}
			for cluster, ended := range map[string]int64{"a": mine.JobKey, "b": others.JobKey} {
				got, err := s.Crashes(t.Context(), cluster)
				Must(t, err)
				if len(got) != 2 || got[ended] != 0 || got[99] == 0 {
					t.Errorf("cluster %s has the crashes %v, want none of job %d", cluster, got, ended)
				}
			}
		}
	}},
}

var openFacts = []fact{
	{"a store of another key is refused", func(t *testing.T, s *subject) {
		s.append(t, Record(0))
		Must(t, s.Close())
		other, err := audit.NewSecret()
		Must(t, err)
		store, err := s.database.Open(t, other)
		if wrong, ok := errors.AsType[*audit.WrongKeyError](err); !ok {
			t.Errorf("opened %v with %v", store, err)
		} else {
			same(t, "refusal", *wrong, audit.WrongKeyError{Store: s.secret.Public().ID(), Given: other.Public().ID()})
		}
		s.open(t)
		s.mustVerify(t, 1)
	}},
	{"a store of a newer worker is refused", func(t *testing.T, s *subject) {
		Must(t, s.Close())
		s.database.Tamper(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)")
		store, err := s.database.Open(t, s.secret)
		if newer, ok := errors.AsType[*audit.NewerSchemaError](err); !ok || newer.Has != 99 || newer.Knows >= 99 {
			t.Errorf("opened %v with %v", store, err)
		}
		s.database.Tamper(t, "DELETE FROM goose_db_version WHERE version_id = 99")
		s.open(t)
	}},
}
