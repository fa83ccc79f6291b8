package audittest

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// verdicts says of each result whether it is new or repeated.
func verdicts(results []audit.Stored) (words []string) {
	for _, r := range results {
		words = append(words, map[bool]string{false: "new", true: "repeated"}[r.Repeated])
	}
	return words
}

var appendFacts = []fact{
	{"records come back as they were appended, in order", func(t *testing.T, s *subject) {
		rare := Record(1)
		rare.Message = "a\u202eb\u200b \x01\x1f \\ ' \" ; -- DROP TABLE records; 😀 \ufffd \r\n\t"
		rare.Variables, rare.Detail = strings.Repeat("ção ", 50_000), ""
		bare := audit.Record{Kind: audit.KindRejected, At: Start.Add(2 * time.Minute), Key: audit.Key{JobKey: firstJobKey + 2}}
		rough := Record(3)
		rough.At = rough.At.Add(1234567 * time.Nanosecond).In(time.FixedZone("BRT", -3*60*60))
		rough.NextRetryTime = rough.NextRetryTime.Add(time.Millisecond).Local()
		extreme := Record(4)
		extreme.JobKey, extreme.ProcessInstanceKey = 1<<63-1, -1<<63
		extreme.Kind, extreme.RetryCount = audit.KindAbandoned, 1<<31-1
		extreme.HeldBy, extreme.DecidedBy = "billing", "maria.silva@hospital.example"

		want := []audit.Record{Record(0), rare, bare, rough, extreme}
		results := s.append(t, want...)
		want[3].At, want[3].NextRetryTime = Record(3).At.Add(1234*time.Microsecond), Record(3).NextRetryTime
		for i, r := range results {
			if r.Repeated || r.Record.ID == 0 || r.Record.Seq == 0 || r.Record.Hash == (audit.Hash{}) {
				t.Errorf("record %d: %+v", i, r)
			}
			want[i].ID, want[i].Chain, want[i].Seq, want[i].Hash = r.Record.ID, r.Record.Chain, r.Record.Seq, r.Record.Hash
		}
		same(t, "returned", stored(results), want)
		same(t, "read", s.all(t), want)
		s.reopen(t)
		same(t, "read after a restart", s.all(t), want)
		s.mustVerify(t, 5)
	}},
	{"texts that are no texts are stored all the same, and read as they were returned", func(t *testing.T, s *subject) {
		r := Record(0)
		r.Message, r.Detail, r.ClaimID = "a\x00b\xff\xfec", "\xed\xa0\x80", "CLM-\x00-1"
		results := s.append(t, r, Record(1))
		same(t, "read", s.all(t), stored(results))
		if again := s.append(t, r); !again[0].Repeated {
			t.Error("its key was not found again")
		}
		s.mustVerify(t, 2)
	}},
	{"a key is stored once and answered with what is stored", func(t *testing.T, s *subject) {
		first := s.append(t, Record(0), Record(1))
		other := Record(1)
		other.At, other.Variables, other.Kind = other.At.Add(time.Hour), "{}", audit.KindExhausted
		holds := func(when string) {
			t.Helper()
			again := s.append(t, other, Record(2), Record(0))
			if !again[0].Repeated || !again[2].Repeated {
				t.Errorf("%s: not reported as repeated", when)
			}
			same(t, when, again[0].Record, first[1].Record)
			same(t, when, again[2].Record, first[0].Record)
		}
		holds("at once")
		s.reopen(t)
		holds("after a restart")
		s.mustVerify(t, 3)
	}},
	{"what an earlier try has stored without an answer is new", func(t *testing.T, s *subject) {
		tried := Entries(Record(0))
		for range 2 {
			results, err := s.Append(t.Context(), tried)
			check.Must(t, err)
			same(t, "result", verdicts(results), []string{"new"})
		}
		same(t, "of another job", verdicts(s.append(t, Record(0))), []string{"repeated"})
		s.mustVerify(t, 1)
	}},
	{"nothing is stored for a caller that has gone", func(t *testing.T, s *subject) {
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 {
			if _, err := s.Append(gone, Entries(Record(0))); err == nil {
				t.Error("stored")
			}
		}
		s.mustVerify(t, 0)
	}},
	{"a job key under another process instance is a new decision with a warning", func(t *testing.T, s *subject) {
		s.append(t, Record(0))
		wiped, twice, elsewhere, corrected := Record(0), Record(0), Record(0), Record(1)
		wiped.ProcessInstanceKey++
		twice.ProcessInstanceKey += 2
		elsewhere.ProcessInstanceKey, elsewhere.Cluster = 5, "test"
		corrected.Inputs[0]++
		results := s.append(t, wiped, twice, elsewhere, wiped, Record(1), corrected)
		same(t, "results", verdicts(results), []string{"new", "new", "new", "repeated", "new", "new"})
		same(t, "the repeated one", results[3].Record, results[0].Record)
		s.mustVerify(t, 6)
	}},
	{"large and small batches keep the order of the results", func(t *testing.T, s *subject) {
		n := 0
		for _, size := range []int{1, 2, 3, 63, 64, 65, 200, 1} {
			results := s.append(t, Records(n, n+size)...)
			for i, r := range results {
				if want := Record(n + i); r.Record.Key != want.Key || r.Record.Variables != want.Variables {
					t.Fatalf("result %d of %d is that of job %d", i, size, r.Record.JobKey)
				}
			}
			n += size
		}
		s.mustVerify(t, int64(n))
	}},
	{"an entry that cannot be made fails alone", func(t *testing.T, s *subject) {
		entries := Entries(Records(0, 3)...)
		entries[1].Make = func(audit.State) audit.Record { panic("a fault") }
		results, err := s.Append(t.Context(), entries)
		check.Must(t, err)
		if results[1].Err == nil || results[1].Record.ID != 0 || results[0].Err != nil || results[2].Err != nil {
			t.Errorf("%+v", results)
		}
		s.mustVerify(t, 2)
	}},
	{"a cancelled append leaves a store that goes on", func(t *testing.T, s *subject) {
		for n := range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = s.Append(ctx, Entries(Records(n*50, n*50+50)...)) // whether it was in time is left open
			}()
			for i := range n * 500 { // at another place each time
				if i%10 == 9 {
					runtime.Gosched()
				}
			}
			cancel()
			<-done
		}
		s.append(t, Records(0, 1000)...)
		s.mustVerify(t, 1000)
	}},
	{"a probe writes and leaves no trace in the records", func(t *testing.T, s *subject) {
		for range 3 {
			check.Must(t, Probe(t.Context(), s))
		}
		same(t, "how many records are stored", len(s.all(t)), 0)
	}},
}

// leads has the lead while do is called.
func (s *subject) leads(t *testing.T, do func(audit.Lead) error) {
	t.Helper()
	lead, err := s.Lead(t.Context())
	check.Must(t, err)
	defer lead.Release()
	check.Must(t, do(lead))
}

// unpublished returns the first records that wait.
func (s *subject) unpublished(t *testing.T, limit int) (records []audit.Record) {
	t.Helper()
	s.leads(t, func(lead audit.Lead) (err error) {
		records, err = lead.Unpublished(t.Context(), limit)
		return err
	})
	return records
}

// published notes that the first records that wait are published.
func (s *subject) published(t *testing.T, ids []int64) {
	t.Helper()
	s.leads(t, func(lead audit.Lead) error { return lead.Published(t.Context(), ids) })
}

var outboxFacts = []fact{
	{"records wait in their order until they are published, also over a restart", func(t *testing.T, s *subject) {
		results := s.append(t, Records(0, 150)...)
		s.append(t, Record(3)) // repeated: it does not wait twice
		s.reopen(t)
		same(t, "the first ones", s.unpublished(t, 20), stored(results)[:20])
		s.published(t, IDs(results)[:70])
		s.reopen(t)
		same(t, "the rest", s.unpublished(t, 1000), stored(results)[70:])
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
		results := s.append(t, Records(0, 5)...)
		backlog(0, time.Time{}) // nobody publishes
		s.leads(t, func(audit.Lead) error { return nil })
		backlog(5, Record(0).At)
		s.published(t, IDs(results)[:2])
		backlog(3, Record(2).At)
	}},
}
