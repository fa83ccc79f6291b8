package worker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
)

func TestUsedUpRetriesAreRecordedWithTheFirstFailure(t *testing.T) {
	m := newMemory()
	since := now.Add(-3 * time.Hour)
	m.rounds = map[string]audit.Round{"CLM-001-1": {Failures: 5, Retries: 5, FirstFailure: since}}
	handlerOn(t, m, &counts{}, func() time.Time { return now }).
		Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`)})
	facts, err := new(m.only(t)).Facts()
	if err != nil {
		t.Fatal(err)
	}
	if facts.Attempts != 6 || facts.FirstFailureTime == nil || !facts.FirstFailureTime.Equal(since) {
		t.Errorf("%d attempts since %v, want 6 since %v", facts.Attempts, facts.FirstFailureTime, since)
	}
}

func TestExhaustedBatchQueriesItsRoundsOnce(t *testing.T) {
	m := newMemory()
	m.rounds = map[string]audit.Round{"CLM-001-1": {FirstFailure: now.Add(-time.Hour)}, "CLM-001-3": {FirstFailure: now.Add(-3 * time.Hour)}}
	used := func(claim string) string {
		return `{"claimId":"` + claim + `","submissionError":"TIMEOUT","retryCount":5}`
	}
	jobs := batchOf(used("CLM-001-1"), `{"claimId":"CLM-001-2","submissionError":"TIMEOUT"}`, used("CLM-001-3"), used("CLM-001-1"))
	handlerOn(t, m, &counts{}, func() time.Time { return now }).Handle(t.Context(), jobs)
	if diff := cmp.Diff([][]string{{"CLM-001-1", "CLM-001-3", "CLM-001-1"}}, m.asked); diff != "" {
		t.Errorf("asked about (-want +got):\n%s", diff)
	}
	one, three := now.Add(-time.Hour), now.Add(-3*time.Hour)
	if diff := cmp.Diff([]*time.Time{&one, nil, &three, &one}, m.firstFailures(t, jobs)); diff != "" {
		t.Errorf("first failures (-want +got):\n%s", diff)
	}
}

func TestOutcomeBatchQueriesItsRoundsOnce(t *testing.T) {
	m := newMemory()
	one, three := now.Add(-time.Hour), now.Add(-3*time.Hour)
	m.rounds = map[string]audit.Round{"CLM-001-1": {FirstFailure: one}, "CLM-001-3": {FirstFailure: three}}
	submitted := func(claim string) string { return `{"claimId":"` + claim + `","outcome":"SUBMITTED"}` }
	jobs := batchOf(submitted("CLM-001-1"), `{"claimId":"CLM-001-2"}`, submitted("CLM-001-3"), submitted("CLM-001-1"))
	outcomesOn(m, &counts{}).Handle(t.Context(), jobs)
	if diff := cmp.Diff([][]string{{"CLM-001-1", "CLM-001-3", "CLM-001-1"}}, m.asked); diff != "" {
		t.Errorf("asked about (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]*time.Time{&one, nil, &three, &one}, m.firstFailures(t, jobs)); diff != "" {
		t.Errorf("first failures (-want +got):\n%s", diff)
	}
}

// batchOf makes jobs of process instances of their own.
func batchOf(variables ...string) []job.Job {
	jobs := make([]job.Job, len(variables))
	for i, v := range variables {
		jobs[i] = newJob(v)
		jobs[i].Key += int64(i)
		jobs[i].ProcessInstanceKey += int64(i)
	}
	return jobs
}

// firstFailures are those recorded of the jobs.
func (m *memory) firstFailures(t *testing.T, jobs []job.Job) []*time.Time {
	t.Helper()
	times := make([]*time.Time, len(jobs))
	for key, record := range m.byKey {
		facts, err := record.Facts()
		if err != nil {
			t.Fatal(err)
		}
		times[slices.IndexFunc(jobs, func(j job.Job) bool { return j.Key == key.JobKey })] = facts.FirstFailureTime
	}
	return times
}
