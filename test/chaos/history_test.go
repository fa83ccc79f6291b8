package chaos

import (
	"fmt"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/testing/audittest"
)

// Row 41. The guard is that a decision asks for the first failure only, which an index of the claim's outcomes finds. Seen to
// fail without: where all records of the claim are read, a question takes longer than the store may, and the store is lost
// three times. PostgreSQL reads them fast enough for that; how little it reads is shown by the store's own test.
func TestClaimWithALongHistoryHoldsNobodyUp(t *testing.T) {
	const stored = 100_000
	r := newRig(t, setup{row: 41, what: "a claim with 100,000 records", store: inSQLite})
	r.oddClaims = true // many jobs of one claim
	long := claim{ID: "CLM-" + r.name + "-1000000", Error: passing[0], RetryCount: 5}
	r.prepares(long.ID, stored)
	r.start()
	of := map[int64]bool{}
	for i := range either(100, 1000) {
		key, err := r.createInstance(oneTask, long)
		r.must(err)
		of[key] = true
		r.claims[fmt.Sprintf("%s, job %d", long.ID, i)] = long
	}
	r.submit(chunk)
	r.untilDone()
	exhausted, slowest := 0, time.Duration(0)
	for _, job := range r.look().jobs {
		if of[job.instance] && job.fate == "ERROR_THROWN" {
			exhausted++
		} else if !of[job.instance] {
			slowest = max(slowest, time.Duration(job.ended-job.created)*time.Millisecond)
		}
	}
	if n := r.logged("store_lost"); n > 0 {
		t.Errorf("the store was lost %d times", n)
	}
	r.historyKept(long.ID, stored+len(of))
	r.happened(exhausted, "exhausted decisions of the claim")
	r.happened(chunk, "others, each done within "+slowest.Round(100*time.Millisecond).String())
}

// prepares writes records of one claim, a round without end, into the store that no worker has yet.
func (r *rig) prepares(claimID string, records int) {
	r.Helper()
	s, err := sqlite.Open(r.Context(), r.store.path(), r.store.secret, sqlite.Options{})
	r.must(err)
	began := time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond) // too young to be removed
	for from := 0; from < records; from += 2000 {
		some := audittest.Records(from, from+2000)
		for i := range some {
			some[i].ClaimID, some[i].Variables, some[i].Detail = claimID, "{}", "{}"
			some[i].At, some[i].JobKey = began.Add(time.Duration(from+i)*time.Microsecond), int64(from+i) // a broker's keys are greater
		}
		_, err := s.Append(r.Context(), some, nil)
		r.must(err)
	}
	r.must(s.Close())
}

// historyKept holds, after the workers have stopped, that the chain is in order and the claim has so many records.
func (r *rig) historyKept(claimID string, records int) {
	r.Helper()
	r.stopAll()
	all := r.records()
	r.chainHolds(len(all))
	byJob := map[int64][]audit.Record{}
	of := 0
	for _, record := range all {
		if record.ClaimID == claimID {
			of++
		}
		byJob[record.JobKey] = append(byJob[record.JobKey], record)
	}
	if of != records {
		r.Errorf("the claim has %d records, want %d", of, records)
	}
	r.eachJobHasItsEnd(byJob)
	r.eventsAreKept(all)
}
