package audittest

import (
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// begin notes that jobs are about to be handled.
func (s *subject) begin(t *testing.T, cluster string, jobs ...int64) {
	t.Helper()
	check.Must(t, s.Begin(t.Context(), cluster, jobs))
}

// crashes compares the counts by job.
func (s *subject) crashes(t *testing.T, cluster string, want map[int64]int) {
	t.Helper()
	got, err := s.Crashes(t.Context(), cluster)
	check.Must(t, err)
	if len(got) > 0 || len(want) > 0 { // none may be nil
		same(t, "crashes of cluster "+cluster, got, want)
	}
}

var crashFacts = []fact{
	{"handlings that were begun and not ended are counted, over restarts", func(t *testing.T, s *subject) {
		s.crashes(t, "a", nil)
		s.begin(t, "a", 1, 2)
		s.begin(t, "b", 1, 2, 3)
		s.reopen(t)
		s.crashes(t, "a", map[int64]int{1: 1, 2: 1})
		s.begin(t, "a", 2, 3)
		s.crashes(t, "a", map[int64]int{1: 1, 2: 2, 3: 1})
		s.begin(t, "a")
		s.crashes(t, "a", map[int64]int{1: 1, 2: 2, 3: 1})
		check.Must(t, s.End(t.Context(), "a", []int64{2, 99})) // released, or never begun
		s.crashes(t, "a", map[int64]int{1: 1, 3: 1})
	}},
	{"a handling that was begun more than a week ago is forgotten", func(t *testing.T, s *subject) {
		week := Record(1)
		for job, ago := range map[int64]time.Duration{1: audit.CrashesKept + time.Hour, 2: audit.CrashesKept - time.Hour, 3: audit.CrashesKept + time.Hour} {
			s.begin(t, "a", job)
			// The database knows how to write a time of the past: that of a record.
			week.At, week.JobKey = time.Now().Add(-ago), job
			s.append(t, week)
			s.tamper(t, "UPDATE crashes SET at = (SELECT at FROM records WHERE job_key = %[1]d) WHERE job_key = %[1]d", job)
		}
		s.begin(t, "a", 3) // it came again
		s.reopen(t)
		s.crashes(t, "a", map[int64]int{2: 1, 3: 2})
	}},
	{"the append of a job's record ends its handling, also where it is stored already", func(t *testing.T, s *subject) {
		mine, others := Record(1), Record(2)
		mine.Cluster, others.Cluster = "a", "b"
		for n := 1; n <= 2; n++ {
			for _, cluster := range []string{"a", "b"} {
				s.begin(t, cluster, mine.JobKey, others.JobKey, 99)
			}
			s.reopen(t)
			s.crashes(t, "a", map[int64]int{mine.JobKey: 1, others.JobKey: n, 99: n}) // as a process does that has just started
			s.append(t, mine, others)
			s.crashes(t, "a", map[int64]int{others.JobKey: n, 99: n})
			s.crashes(t, "b", map[int64]int{mine.JobKey: n, 99: n})
		}
	}},
}

var openFacts = []fact{
	{"a store of another key is refused", func(t *testing.T, s *subject) {
		s.append(t, Record(0))
		check.Must(t, s.Close())
		other := Secret(t)
		store, err := s.database.Open(t, other)
		if want := audit.WrongKey(s.secret.Public().ID(), other.Public().ID()).Error(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("opened %v with %v", store, err)
		}
		s.open(t)
		s.mustVerify(t, 1)
	}},
	{"a store of a newer worker is refused", func(t *testing.T, s *subject) {
		check.Must(t, s.Close())
		s.database.Tamper(t, "UPDATE schema_version SET version = 99")
		store, err := s.database.Open(t, s.secret)
		if err == nil || !strings.Contains(err.Error(), "has schema version 99, but this worker knows") {
			t.Errorf("opened %v with %v", store, err)
		}
		s.database.Tamper(t, "UPDATE schema_version SET version = 1")
		s.open(t)
	}},
}
