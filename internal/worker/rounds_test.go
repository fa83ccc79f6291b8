package worker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestUsedUpRetriesAreRecordedWithTheFirstFailure(t *testing.T) {
	m := newMemory()
	since := now.Add(-3 * time.Hour)
	m.rounds = map[string]audit.Round{"CLM-001-1": {Failures: 5, Retries: 5, FirstFailure: since}}
	handlerOn(m).
		Handle(t.Context(), []job.Job{newJob(`{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":5}`)})
	facts := m.facts(t)
	if facts.Attempts != 6 || facts.FirstFailureTime == nil || !facts.FirstFailureTime.Equal(since) {
		t.Errorf("%d attempts since %v, want 6 since %v", facts.Attempts, facts.FirstFailureTime, since)
	}
}

func TestBatchQueriesItsRoundsOnce(t *testing.T) {
	one, three := now.Add(-time.Hour), now.Add(-3*time.Hour)
	for form, other := range map[string]string{
		`{"claimId":"%s","submissionError":"TIMEOUT","retryCount":5}`: `{"claimId":"CLM-001-2","submissionError":"TIMEOUT"}`, // exhausted, but for the second
		`{"claimId":"%s","outcome":"SUBMITTED"}`:                      `{"claimId":"CLM-001-2"}`,
	} {
		m := newMemory()
		m.rounds = map[string]audit.Round{"CLM-001-1": {FirstFailure: one}, "CLM-001-3": {FirstFailure: three}}
		var h job.Handler = handlerOn(m)
		if strings.Contains(form, "outcome") {
			h = outcomesOn(m, &counts{})
		}
		jobs := batchOf(fmt.Sprintf(form, "CLM-001-1"), other, fmt.Sprintf(form, "CLM-001-3"), fmt.Sprintf(form, "CLM-001-1"))
		h.Handle(t.Context(), jobs)
		check.Same(t, [][]string{{"CLM-001-1", "CLM-001-3", "CLM-001-1"}}, m.asked, "%s: asked about", form)
		check.Same(t, []*time.Time{&one, nil, &three, &one}, m.firstFailures(t, jobs), "%s: first failures", form)
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
		check.Must(t, err)
		times[slices.IndexFunc(jobs, func(j job.Job) bool { return j.Key == key.JobKey })] = facts.FirstFailureTime
	}
	return times
}
