package audittest

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// ward draws what happens to a few claims: jobs that fail, are corrected, delivered again, and end.
type ward struct {
	jobs int
	past []audit.Record
}

// draw draws the next record, often one of a job that was there before.
func (w *ward) draw(t *rapid.T) audit.Record {
	w.jobs++
	r := Record(w.jobs)
	if len(w.past) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
		r = rapid.SampledFrom(w.past).Draw(t, "job")
		if rapid.Bool().Draw(t, "corrected") {
			copy(r.Inputs[:], fmt.Sprintf("corrected%08d", w.jobs))
		}
	} else {
		r.ClaimID = rapid.SampledFrom([]string{"CLM-a-1", "CLM-b-1", "CLM-c-1", ""}).Draw(t, "claim")
		r.ProcessInstanceKey = rapid.Int64Range(1, 7).Draw(t, "instance")
	}
	r.Kind = rapid.SampledFrom([]audit.Kind{
		audit.KindRetry, audit.KindRetry, audit.KindRetry, audit.KindExhausted, audit.KindPermanent, audit.KindRejected, audit.KindRedriven,
		audit.KindDecisionRefused, audit.KindSubmitted, audit.KindResubmitted, audit.KindAbandoned,
	}).Draw(t, "kind")
	if r.Kind != audit.KindRetry {
		r.NextRetryTime = time.Time{}
	}
	w.past = append(w.past, r)
	return r
}

// rows returns the rows of the open claims.
func (s *subject) rows(t *testing.T) map[string]audit.State {
	t.Helper()
	all := map[string]audit.State{}
	check.Must(t, s.Open(t.Context(), func(claim string, state *audit.State) error { all[claim] = *state; return nil }))
	return all
}

var claimFacts = []fact{
	{"an entry is made from all that came before it about its claim, in its batch too", func(t *testing.T, s *subject) {
		jobs := story(step{"a", audit.KindRetry}, step{"a", audit.KindRetry}, step{"b", audit.KindRetry}, step{"a", audit.KindRetry}, step{"a", audit.KindSubmitted}, step{"a", audit.KindRetry})
		var seen []string
		entries := Entries(jobs...)
		for i, r := range jobs {
			entries[i].Make = func(state audit.State) audit.Record {
				seen = append(seen, fmt.Sprintf("%d %s %d", state.Failures, state.FirstFailure.Format("4"), state.Retried(r.Key)))
				return r
			}
		}
		for _, batch := range [][]audit.Entry{entries[:2], entries[2:5], entries[5:], entries} { // the last repeats
			_, err := s.Append(t.Context(), batch)
			check.Must(t, err)
		}
		same(t, "failures, first one and retries", seen, []string{"0 0 0", "1 0 0", "0 0 0", "2 0 0", "3 0 0", "0 0 0"})
		state, _ := s.claim(t, "CLM-a-1")
		same(t, "open since", state.Opened, minute(5))
	}},
	{"the rows are what the records add up to, whatever happens", func(t *testing.T, s *subject) {
		w, all := &ward{}, []audit.Record{}
		rapid.Check(t, func(rt *rapid.T) {
			var batch []audit.Record
			for range rapid.IntRange(1, 12).Draw(rt, "jobs") {
				batch = append(batch, w.draw(rt))
			}
			for _, r := range s.append(t, batch...) {
				if !r.Repeated {
					all = append(all, r.Record)
				}
			}
			if rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
				s.reopen(t)
			}
		})
		known, of := map[string]audit.State{}, map[string][]audit.Record{}
		for _, r := range s.between(t, 0, 1<<20) { // the order of time is that of the jobs, and of the IDs only per job
			of[r.ClaimID] = append(of[r.ClaimID], r)
		}
		check.Must(t, s.Walk(t.Context(), walked(func(r *audit.Record) error {
			if state := known[r.ClaimID].Add(r); state.IsZero() {
				delete(known, r.ClaimID)
			} else {
				known[r.ClaimID] = state
			}
			return nil
		})))
		same(t, "rows", s.rows(t), known)
		delete(of, "")
		for claim, want := range of {
			_, got := s.claim(t, claim)
			same(t, "how many records "+claim+" has", len(got), len(want))
		}
		v, err := s.verify(t)
		if err != nil || v.Records != int64(len(all)) {
			t.Errorf("%d records verified of %d, %v", v.Records, len(all), err)
		}
	}},
}
