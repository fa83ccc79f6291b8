package audittest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// story makes records of claims from kinds, a minute apart, each of a job of its own. A claim is named by a letter.
func story(kinds ...step) []audit.Record {
	records := Records(0, len(kinds))
	for i, k := range kinds {
		r := &records[i]
		r.ClaimID, r.Kind = "CLM-"+k.claim+"-1", k.kind
		if k.kind != audit.KindRetry {
			r.NextRetryTime = time.Time{}
		}
	}
	return records
}

type step struct {
	claim string
	kind  audit.Kind
}

// later makes records of others that come n later, each a minute and a job.
func later(n int, records []audit.Record) []audit.Record {
	for i := range records {
		r, at := &records[i], Record(n+i)
		r.At, r.Key = at.At, at.Key
	}
	return records
}

// minute is n minutes after the first record.
func minute(n int) time.Time { return Start.Add(time.Duration(n) * time.Minute) }

// claim returns what is known of a claim.
func (s *subject) claim(t *testing.T, claim string) (audit.State, []audit.Record) {
	t.Helper()
	state, records, err := s.Claim(t.Context(), claim)
	check.Must(t, err)
	return state, records
}

// between returns the records of a span of minutes.
func (s *subject) between(t *testing.T, from, to int, kinds ...audit.Kind) (all []audit.Record) {
	t.Helper()
	check.Must(t, s.Between(t.Context(), minute(from), minute(to), kinds, func(r *audit.Record) error { all = append(all, *r); return nil }))
	return all
}

// walked is a [audit.Walker] that wants nothing but records.
type walked func(*audit.Record) error

func (walked) Ends([]audit.Head, []audit.Head) error         { return nil }
func (w walked) Record(r *audit.Record) error                { return w(r) }
func (walked) Row(_ string, _ *audit.State, err error) error { return err }

var historyFacts = []fact{
	{"a claim has its own records, in order, through all its rounds and ends", func(t *testing.T, s *subject) {
		records := story(step{"a", audit.KindRetry}, step{"b", audit.KindRetry}, step{"a", audit.KindPermanent}, step{"A", audit.KindRetry}, step{"a", audit.KindResubmitted},
			step{"a", audit.KindRetry}, step{"a", audit.KindSubmitted}, step{"a", audit.KindDecisionRefused}, step{"a", audit.KindRetry}, step{"a", audit.KindDecisionRefused})
		results := stored(s.append(t, records...))
		more := Record(19)
		more.ClaimID, more.At = "CLM-a-1", Start.Add(-time.Hour) // a clock that went back: the order is that of the appends
		results = append(results, stored(s.append(t, more))...)
		want := []audit.Record{results[0], results[2], results[4], results[5], results[6], results[7], results[8], results[9], results[10]}
		for _, reopened := range []bool{false, true} {
			if reopened {
				s.reopen(t)
			}
			_, got := s.claim(t, "CLM-a-1")
			same(t, "records", got, want)
		}
		if state, got := s.claim(t, "CLM-%"); len(got) != 0 || !state.IsZero() {
			t.Errorf("a claim that never was: %v, %v", state, got)
		}
		s.mustVerify(t, 11)
	}},
	{"a span of time has its first instant but not its last, in the order of time", func(t *testing.T, s *subject) {
		late := Records(0, 10)
		late[3].At, late[7].At = late[7].At, late[3].At
		late[5].Kind = audit.KindSubmitted
		results := stored(s.append(t, late...))
		same(t, "records", s.between(t, 2, 8), []audit.Record{results[2], results[7], results[4], results[5], results[6], results[3]})
		same(t, "ends", s.between(t, 2, 8, audit.KindAbandoned, audit.KindSubmitted), results[5:6])
	}},
	{"the records of a span are counted by kind, policy and cause, and their courses added up", func(t *testing.T, s *subject) {
		records := story(step{"a", audit.KindRetry}, step{"b", audit.KindRetry}, step{"a", audit.KindRetry}, step{"a", audit.KindSubmitted}, step{"c", audit.KindSubmitted}, step{"d", audit.KindRetry})
		records[2].Code, records[1].At = "E503", minute(50)
		for i := 3; i < 5; i++ {
			records[i].Class, records[i].Rule, records[i].Code = "", "", ""
		}
		s.append(t, records...)
		got, want := map[audit.Total]bool{}, map[audit.Total]bool{}
		check.Must(t, s.Totals(t.Context(), minute(0), minute(5), nil, func(one *audit.Total) error { got[*one] = true; return nil }))
		for _, one := range []audit.Total{
			{Kind: audit.KindRetry, Policy: "tiss", Class: "TRANSIENT", Rule: "transient", Code: "TIMEOUT", Records: 1},
			{Kind: audit.KindRetry, Policy: "tiss", Class: "TRANSIENT", Rule: "transient", Code: "E503", Records: 1},
			{Kind: audit.KindSubmitted, Policy: "tiss", Flags: audit.CourseFailed | audit.CourseDecided | audit.CourseRetried, Minutes: 5, Records: 1, Attempts: 3, Seconds: 241},
			{Kind: audit.KindSubmitted, Policy: "tiss", Records: 1, Attempts: 1},
		} {
			want[one] = true
		}
		same(t, "totals", got, want)
		ends := int64(0)
		check.Must(t, s.Totals(t.Context(), minute(0), minute(5), []audit.Kind{audit.KindSubmitted}, func(one *audit.Total) error { ends += one.Records; return nil }))
		same(t, "ends", ends, int64(2))
	}},
	{"who visits can stop, and gets the error back", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 10)...)
		enough, n := errors.New("enough"), 0
		visit := func(*audit.Record) error { n++; return enough }
		for range 20 { // more than there are connections
			for name, err := range map[string]error{
				"between": s.Between(t.Context(), minute(0), minute(10), nil, visit),
				"walk":    s.Walk(t.Context(), walked(visit)),
				"open":    s.Open(t.Context(), func(string, *audit.State) error { n++; return enough }),
				"totals":  s.Totals(t.Context(), minute(0), minute(10), nil, func(*audit.Total) error { n++; return enough }),
			} {
				if !errors.Is(err, enough) {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		same(t, "how often it visits", n, 80)
	}},
	{"reading goes on while records are appended, and the trail holds at every moment", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 100)...)
		var appending sync.WaitGroup
		appending.Go(func() {
			for n := 100; n < 400; n += 5 {
				if _, err := s.Append(t.Context(), Entries(Records(n, n+5)...)); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
		for range 10 {
			if v, err := s.verify(t); err != nil || v.Records < 100 || v.Claims != v.Records {
				t.Errorf("%+v, %v", v, err)
			}
		}
		appending.Wait()
		s.mustVerify(t, 400)
	}},
	{"of many claims each is open once", func(t *testing.T, s *subject) {
		const n = 3_000
		check.Must(t, Fill(t.Context(), s, Records(0, n)))
		next := 0
		check.Must(t, s.Open(t.Context(), func(claim string, state *audit.State) error {
			if want := fmt.Sprintf("CLM-2015-%08d", next); claim != want || state.Opened != minute(next) {
				return fmt.Errorf("%s since %v, want %s", claim, state.Opened, want)
			}
			next++
			return nil
		}))
		same(t, "open claims", next, n)
		same(t, "records of a span", len(s.between(t, 0, n)), n)
		s.mustVerify(t, n)
	}},
}
