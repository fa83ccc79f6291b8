package audittest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/check"
)

// tiss is the policy of every record that [Record] makes.
const tiss = "tiss"

// story makes records of claims from kinds, a minute apart, each of a job of its own. A claim is named by a letter.
func story(kinds ...step) []audit.Record {
	records := Records(0, len(kinds))
	for i, k := range kinds {
		r := &records[i]
		r.ClaimID, r.Kind, r.RetryCount = "CLM-"+k.claim+"-1", k.kind, k.retries
		if k.kind != audit.KindRetry {
			r.NextRetryTime = time.Time{}
		}
	}
	return records
}

type step struct {
	claim   string
	kind    audit.Kind
	retries int
}

// rounds asks both questions about claims, which must agree.
func (s *subject) rounds(t *testing.T, claims ...string) []audit.Round {
	t.Helper()
	rounds, err := s.Rounds(t.Context(), claims)
	check.Must(t, err)
	first, err := s.FirstFailures(t.Context(), claims)
	if err != nil || len(first) != len(rounds) {
		t.Fatalf("%d first failures of %d claims: %v", len(first), len(rounds), err)
	}
	for i := range rounds {
		same(t, "first failure of "+claims[i], first[i], rounds[i].FirstFailure)
		rounds[i].Opened, rounds[i].Resubmitted = time.Time{}, false // a fact of their own
	}
	return rounds
}

// openClaims returns the open claims.
func (s *subject) openClaims(t *testing.T) (all []audit.OpenClaim) {
	t.Helper()
	check.Must(t, s.OpenClaims(t.Context(), func(c *audit.OpenClaim) error { all = append(all, *c); return nil }))
	return all
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

var historyFacts = []fact{
	{"a claim has its own records, in order", func(t *testing.T, s *subject) {
		results := s.append(t, story(step{"a", audit.KindRetry, 0}, step{"b", audit.KindRetry, 0}, step{"a", audit.KindRetry, 1}, step{"A", audit.KindRetry, 1})...)
		more := Record(9)
		more.ClaimID, more.At = "CLM-a-1", Start.Add(-time.Hour) // a clock that went back: the order is that of the appends
		results = append(results, s.append(t, more)...)
		got, err := s.Claim(t.Context(), "CLM-a-1")
		check.Must(t, err)
		same(t, "records", got, []audit.Record{results[0].Record, results[2].Record, results[4].Record})
		if got, err = s.Claim(t.Context(), "CLM-%"); err != nil || len(got) != 0 {
			t.Errorf("a claim that never was: %v, %v", got, err)
		}
	}},
	{"a span of time has its first instant but not its last, in the order of time", func(t *testing.T, s *subject) {
		late := Records(0, 10)
		late[3].At, late[7].At = late[7].At, late[3].At
		results := stored(s.append(t, late...))
		var got []audit.Record
		err := s.Between(t.Context(), minute(2), minute(8), func(r *audit.Record) error { got = append(got, *r); return nil })
		check.Must(t, err)
		same(t, "records", got, []audit.Record{results[2], results[7], results[4], results[5], results[6], results[3]})
	}},
	{"who visits can stop, and gets the error back", func(t *testing.T, s *subject) {
		first := s.append(t, Records(0, 10)...)[0].Record
		enough, n := errors.New("enough"), 0
		visit := func(*audit.Record) error { n++; return enough }
		for range 20 { // more than there are connections
			if err := s.Between(t.Context(), minute(0), minute(10), visit); !errors.Is(err, enough) {
				t.Fatalf("between: %v", err)
			}
			if err := s.Walk(t.Context(), first.Chain, 0, visit); !errors.Is(err, enough) {
				t.Fatalf("walk: %v", err)
			}
		}
		same(t, "how many records are visited", n, 40)
	}},
	{"reading goes on while records are appended", func(t *testing.T, s *subject) {
		s.append(t, Records(0, 50)...)
		err := s.Between(t.Context(), minute(0), minute(50), func(r *audit.Record) error {
			next := Record(int(r.JobKey-FirstJobKey) + 1000)
			_, err := s.Append(t.Context(), []audit.Record{next}, nil)
			return err
		})
		check.Must(t, err)
		s.mustVerify(t, 100)
	}},
	{"the retries of a process instance in the present round are counted, each job once", func(t *testing.T, s *subject) {
		const instance, other = 77, 78
		kinds := []struct {
			kind     audit.Kind
			job      int64
			instance int64
			want     int // for another job of the instance, behind it
		}{
			{audit.KindRetry, 1, instance, 1},
			{audit.KindRetry, 1, instance, 1}, // its inputs were corrected
			{audit.KindRejected, 2, instance, 1},
			{audit.KindRetry, 2, instance, 2},
			{audit.KindRetry, 3, other, 2},
			{audit.KindRedriven, 4, instance, 2},
			{audit.KindUndelivered, 2, instance, 2},
			{audit.KindRetry, 5, instance, 3},
			{audit.KindExhausted, 6, instance, 0},
			{audit.KindRetry, 7, instance, 1}, // moved by hand, with a count that a person has chosen
			{audit.KindPermanent, 8, other, 1},
			{audit.KindPermanent, 9, instance, 0},
			{audit.KindRetry, 10, instance, 1},
			{audit.KindResubmitted, 11, other, 0},
			{audit.KindRetry, 12, instance, 1},
		}
		job := audit.RoundJob{ClaimID: "CLM-a-1", Cluster: "production", ProcessInstanceKey: instance, JobKey: 99}
		own, elsewhere, never := job, job, job
		own.JobKey, elsewhere.Cluster, never.ClaimID = 12, "another", "CLM-never-1"
		for i, k := range kinds {
			r := Record(i)
			r.ClaimID, r.Kind, r.JobKey, r.ProcessInstanceKey = job.ClaimID, k.kind, k.job, k.instance
			if k.kind != audit.KindRetry {
				r.NextRetryTime = time.Time{}
			}
			s.append(t, r)
			counts, err := s.Retried(t.Context(), []audit.RoundJob{never, job})
			check.Must(t, err)
			same(t, fmt.Sprintf("retries behind record %d, %s", i, k.kind), counts, []int{0, k.want})
		}
		counts, err := s.Retried(t.Context(), []audit.RoundJob{own, elsewhere, job})
		check.Must(t, err)
		same(t, "without the job's own, and of another cluster", counts, []int{0, 0, 1})
		if counts, err = s.Retried(t.Context(), nil); err != nil || len(counts) != 0 {
			t.Errorf("no jobs: %v, %v", counts, err)
		}
	}},
	{"a claim is open from its first failure until it is accepted or given up, with its last record", func(t *testing.T, s *subject) {
		records := story(
			step{"retried", audit.KindRetry, 0}, step{"accepted", audit.KindRetry, 0}, step{"given-up", audit.KindExhausted, 5},
			step{"again", audit.KindPermanent, 0}, step{"undelivered", audit.KindRetry, 0}, step{"at-once", audit.KindSubmitted, 0},
			step{"retried", audit.KindExhausted, 1}, step{"undelivered", audit.KindUndelivered, 0}, step{"given-up", audit.KindAbandoned, 5},
			step{"nameless", audit.KindRejected, 0}, step{"accepted", audit.KindSubmitted, 1}, step{"again", audit.KindResubmitted, 0}, step{"given-up", audit.KindRejected, 0},
			step{"given-up", audit.KindRedriven, 0}, step{"A", audit.KindUndelivered, 0},
		)
		records[9].ClaimID = ""
		var results []audit.Record
		for i := range records { // a batch each, as a process makes them
			results = append(results, stored(s.append(t, records[i]))...)
		}
		want := []audit.OpenClaim{
			{Record: results[6], Opened: minute(0)},
			{Record: results[11], Opened: minute(3)},
			{Record: results[4], Opened: minute(4)},
			{Record: results[13], Opened: minute(12)},
		}
		same(t, "open claims", s.openClaims(t), want)
		for i, claim := range []string{"retried", "again", "undelivered", "accepted", "never-failed"} {
			s.append(t, later(15+i, story(step{claim, audit.KindDecisionRefused, 0}))...)
			same(t, "open claims after a decision about "+claim+" was refused", s.openClaims(t), want)
		}
		s.append(t, later(20, story(step{"retried", audit.KindSubmitted, 1}, step{"retried", audit.KindPermanent, 0}))...)
		same(t, "when a claim that ended fails again", s.openClaims(t)[3].Opened, minute(21))
	}},
	{"open claims are returned page by page, the oldest first", func(t *testing.T, s *subject) {
		const claims = 5001 // more than a page
		var ids []string
		for some := range slices.Chunk(Records(0, claims), 1000) {
			for i := range some {
				some[i].At = Start // so that only the claim tells them apart
				ids = append(ids, some[i].ClaimID)
			}
			s.append(t, some...)
		}
		got := s.openClaims(t)
		slices.Sort(ids)
		same(t, "claims", len(got), claims)
		for i := range got {
			if got[i].ClaimID != ids[i] {
				t.Fatalf("claim %d is %s, want %s", i, got[i].ClaimID, ids[i])
			}
		}
	}},
	{"a round begins behind the claim's last outcome and counts jobs", func(t *testing.T, s *subject) {
		records := story(
			step{"a", audit.KindRetry, 0}, step{"a", audit.KindExhausted, 5}, step{"a", audit.KindAbandoned, 1},
			step{"b", audit.KindRetry, 0},
			step{"a", audit.KindRejected, 0}, step{"a", audit.KindRetry, 0}, step{"a", audit.KindRetry, 1}, step{"a", audit.KindUndelivered, 1},
			step{"a", audit.KindPermanent, 2},
		)
		corrected := records[6]
		corrected.At, corrected.Inputs[0] = minute(7), corrected.Inputs[0]+1
		s.append(t, append(records, corrected)...)
		ofA, ofB := audit.Round{Failures: 3, Retries: 2, FirstFailure: minute(5), Policy: tiss}, audit.Round{Failures: 1, Retries: 1, FirstFailure: minute(3), Policy: tiss}
		same(t, "round of a", s.rounds(t, "CLM-a-1"), []audit.Round{ofA})
		same(t, "round of b", s.rounds(t, "CLM-b-1"), []audit.Round{ofB})
		same(t, "round of a claim that never failed", s.rounds(t, "CLM-c-1"), []audit.Round{{}})
		same(t, "rounds of none", len(s.rounds(t)), 0)
		same(t, "rounds of several, one of them twice", s.rounds(t, "CLM-b-1", "CLM-a-1", "CLM-c-1", "CLM-b-1"), []audit.Round{ofB, ofA, {}, ofB})
	}},
	{"the first failure is the one that was recorded first", func(t *testing.T, s *subject) {
		records := story(step{"a", audit.KindSubmitted, 0}, step{"a", audit.KindRejected, 0}, step{"a", audit.KindRetry, 0}, step{"a", audit.KindExhausted, 1})
		records[3].At = minute(-100)
		s.append(t, records...)
		same(t, "round", s.rounds(t, "CLM-a-1"), []audit.Round{{Failures: 2, Retries: 1, FirstFailure: minute(2), Policy: tiss}})
	}},
	{"a round has the policy of its last decision", func(t *testing.T, s *subject) {
		records := story(
			step{"a", audit.KindRetry, 0}, step{"a", audit.KindAbandoned, 1}, step{"a", audit.KindRetry, 0}, step{"a", audit.KindExhausted, 1},
			step{"a", audit.KindUndelivered, 1}, step{"a", audit.KindRedriven, 1}, step{"b", audit.KindPermanent, 0},
		)
		for i, name := range []string{"before", "", "first", "last", "behind", "behind", ""} {
			records[i].Variables = strings.Replace(records[i].Variables, `"policy":"tiss"`, `"policy":"`+name+`"`, 1)
		}
		records[6].Variables, records[6].Detail = `{"shouldRetry":false}`, `{"retryDecision":{"policy":"of-backoff-jobs"}}`
		s.append(t, records...)
		same(t, "of a", s.rounds(t, "CLM-a-1")[0].Policy, "last")
		same(t, "of b, whose answer has no explanation", s.rounds(t, "CLM-b-1")[0].Policy, "of-backoff-jobs")
		again := later(20, story(step{"b", audit.KindResubmitted, 0}))
		again[0].Variables, again[0].Detail = "{}", `{"policy":"of-before"}`
		s.append(t, again...)
		same(t, "of b, that a person submitted again", s.rounds(t, "CLM-b-1")[0].Policy, "of-before")
	}},
	{"a round knows since when its claim is open, also before a resubmission", func(t *testing.T, s *subject) {
		records := story(
			step{"a", audit.KindSubmitted, 0}, step{"a", audit.KindRejected, 0}, step{"a", audit.KindExhausted, 5}, step{"a", audit.KindResubmitted, 5},
			step{"b", audit.KindRetry, 0}, step{"c", audit.KindRetry, 0}, step{"c", audit.KindAbandoned, 1},
		)
		for i := range records {
			s.append(t, records[i])
		}
		rounds, err := s.Rounds(t.Context(), []string{"CLM-a-1", "CLM-b-1", "CLM-c-1", "CLM-d-1"})
		check.Must(t, err)
		for i, want := range []struct {
			opened      time.Time
			resubmitted bool
		}{{minute(1), true}, {minute(4), false}, {}, {}} {
			same(t, fmt.Sprintf("opened %d", i), rounds[i].Opened, want.opened)
			same(t, fmt.Sprintf("resubmitted %d", i), rounds[i].Resubmitted, want.resubmitted)
		}
	}},
	{"a very long round is counted in part", func(t *testing.T, s *subject) {
		steps := []step{{"a", audit.KindRetry, 0}, {"a", audit.KindAbandoned, 1}, {"a", audit.KindRejected, 0}, {"a", audit.KindExhausted, 9}}
		for range audit.MaxRound - len(steps) + 1 {
			steps = append(steps, step{"a", audit.KindRetry, 0})
		}
		s.append(t, story(steps...)...)
		want := audit.Round{Failures: audit.MaxRound - 2, Retries: audit.MaxRound - 3, FirstFailure: minute(3), Policy: tiss}
		same(t, "one record less", s.rounds(t, "CLM-a-1"), []audit.Round{want})
		more := story(append(steps, slices.Repeat([]step{{"a", audit.KindRetry, 0}}, 10)...)...)[len(steps):]
		s.append(t, more...)
		want.Failures, want.Retries, want.AtLeast = want.Failures+1, want.Retries+1, true
		same(t, "ten records more", s.rounds(t, "CLM-a-1"), []audit.Round{want})
		end := Record(len(steps) + 10)
		end.ClaimID, end.Kind = "CLM-a-1", audit.KindSubmitted
		s.append(t, end)
		same(t, "behind its end", s.rounds(t, "CLM-a-1"), []audit.Round{{Policy: tiss}})
	}},
	{"a first failure is looked for in as many records", func(t *testing.T, s *subject) {
		s.append(t, story(append(slices.Repeat([]step{{"a", audit.KindRedriven, 0}}, audit.MaxRound), step{"a", audit.KindRetry, 0})...)...)
		same(t, "round", s.rounds(t, "CLM-a-1"), []audit.Round{{AtLeast: true}})
	}},
	{"a re-drive ends no round", func(t *testing.T, s *subject) {
		s.append(t, story(
			step{"a", audit.KindRetry, 0}, step{"a", audit.KindRedriven, 1}, step{"a", audit.KindRetry, 1}, step{"b", audit.KindRedriven, 0},
		)...)
		want := []audit.Round{{Failures: 2, Retries: 2, FirstFailure: minute(0), Policy: tiss}, {}}
		same(t, "rounds", s.rounds(t, "CLM-a-1", "CLM-b-1"), want)
	}},
	{"rounds of any number of claims are returned in the order of the claims", func(t *testing.T, s *subject) {
		var steps []step
		var claims []string
		var want []audit.Round
		for n := range 100 {
			name := strconv.Itoa(n)
			steps, claims = append(steps, step{name, audit.KindRetry, 0}), append(claims, "CLM-"+name+"-1")
			want = append(want, audit.Round{Failures: 1, Retries: 1, FirstFailure: minute(n), Policy: tiss})
		}
		s.append(t, story(steps...)...)
		slices.Reverse(claims)
		slices.Reverse(want)
		same(t, "rounds", s.rounds(t, claims...), want)
	}},
}

// LongHistory is a way in which a claim gets very many records.
type LongHistory struct {
	// Name says how. NoFailure reports that the claim never failed.
	Name      string
	NoFailure bool
	change    func(n int, r *audit.Record)
}

// Histories are the ways in which a claim can get very many records.
var Histories = []LongHistory{
	{Name: "one round without end", change: func(int, *audit.Record) {}},
	{Name: "very many rounds", change: func(n int, r *audit.Record) {
		if n%2 == 1 {
			r.Kind, r.RetryCount = audit.KindAbandoned, 1
		}
	}},
	{Name: "outcomes only", change: func(_ int, r *audit.Record) { r.Kind, r.RetryCount = audit.KindSubmitted, 0 }},
	{Name: "re-drives only", NoFailure: true, change: func(_ int, r *audit.Record) { r.Kind = audit.KindRedriven }},
}

// Record makes the nth record of the claim.
func (h LongHistory) Record(claim string, n int) audit.Record {
	r := Record(n)
	r.ClaimID = claim
	h.change(n, &r)
	return r
}

// Append appends so many records of the claim.
func (h LongHistory) Append(ctx context.Context, store audit.Log, claim string, records int) error {
	const batch = 100 // more than a worker appends at once by default
	for from := 0; from < records; from += batch {
		some := make([]audit.Record, batch)
		for i := range some {
			some[i] = h.Record(claim, from+i)
		}
		if _, err := store.Append(ctx, some, nil); err != nil {
			return err
		}
	}
	return nil
}
