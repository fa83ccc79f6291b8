package worker_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/worker"
)

// crashLog counts crashes as a store does, and outlives the process that crashes.
type crashLog struct {
	ended   chan []int64 // where a test wants to know
	counted map[int64]int
	down    error
}

func (g *crashLog) Crashes(context.Context, string) (map[int64]int, error) {
	return maps.Clone(g.counted), g.down
}

func (g *crashLog) Begin(_ context.Context, _ string, keys []int64) error {
	for _, key := range keys {
		g.counted[key]++
	}
	return g.down
}

func (g *crashLog) End(_ context.Context, _ string, keys []int64) error {
	g.ended <- keys
	return g.down
}

func guarded(h job.Handler, g *crashLog, m *memory) *worker.Quarantine {
	return worker.NewQuarantine(h, g, trailOn(m), time.Hour, zap.NewNop())
}

// crasher is a handler that ends the process at one job, and records the others.
type crasher struct {
	crashing int64
	batches  [][]int64
	crashLog *crashLog
}

type crash struct{}

func (k *crasher) Handle(_ context.Context, jobs []job.Job) []job.Answer {
	var keys []int64
	answers := make([]job.Answer, len(jobs))
	for i, j := range jobs {
		keys = append(keys, j.Key)
		answers[i] = job.Complete("{}")
	}
	k.batches = append(k.batches, keys)
	if slices.Contains(keys, k.crashing) {
		panic(crash{})
	}
	for _, key := range keys { // as the store does with the records
		delete(k.crashLog.counted, key)
	}
	return answers
}

// run lets one process handle the jobs until it crashes or is done; its counts stay as they were at its crash.
func run(t *testing.T, k *crasher, jobs []job.Job) (answers []job.Answer, crashed bool) {
	t.Helper()
	defer func() {
		_, crashed = recover().(crash)
	}()
	return guarded(k, k.crashLog, newMemory()).Handle(t.Context(), jobs), false
}

func keyed(keys ...int64) []job.Job {
	jobs := make([]job.Job, len(keys))
	for i, key := range keys {
		jobs[i] = newJob(timeout)
		jobs[i].Key = key
	}
	return jobs
}

func TestAJobThatKillsThreeProcessesBecomesAnIncident(t *testing.T) {
	k := &crasher{crashing: 2, crashLog: &crashLog{counted: map[int64]int{}}}
	for n := range 3 {
		if _, crashed := run(t, k, keyed(1, 2, 3)); !crashed {
			t.Fatalf("process %d lives", n)
		}
	}
	answers, crashed := run(t, k, keyed(1, 2, 3))
	if crashed {
		t.Fatal("a fourth process crashed")
	}
	if answers[1].Kind() != job.KindFail || answers[1].Retries() != 0 {
		t.Errorf("the crashing job was answered %s, want an incident", answers[1].Kind())
	}
	for _, i := range []int{0, 2} {
		check.Same(t, job.KindComplete, answers[i].Kind(), "answer to job %d", i+1)
	}
}

func TestJobsThatCrashedTogetherAreHandledAloneNextTime(t *testing.T) {
	k := &crasher{crashing: 2, crashLog: &crashLog{counted: map[int64]int{}}}
	run(t, k, keyed(1, 2, 3))
	run(t, k, keyed(1, 2, 3, 4))
	want := [][]int64{{1, 2, 3}, {4}, {1}, {2}}
	check.Same(t, want, k.batches, "handled")
	check.Same(t, map[int64]int{2: 2, 3: 1}, k.crashLog.counted, "blamed")
}

// A batch in which a job hangs is handled once more, job by job.
func TestProcessCountsAJobOnceHoweverOftenItIsHandled(t *testing.T) {
	g := &crashLog{counted: map[int64]int{}}
	hung := handlerFunc(func(jobs []job.Job) []job.Answer { return make([]job.Answer, len(jobs)) }) // stores nothing
	d := guarded(hung, g, newMemory())
	for range 3 {
		d.Handle(t.Context(), keyed(1, 2))
	}
	check.Same(t, map[int64]int{1: 1, 2: 1}, g.counted, "counted")
}

// A store that is unavailable while workers are restarted is no crash.
func TestCountOfAReleasedJobIsCleared(t *testing.T) {
	g := &crashLog{counted: map[int64]int{}, ended: make(chan []int64, 1000)}
	unavailable := handlerFunc(func(jobs []job.Job) []job.Answer {
		return []job.Answer{job.Release("released: the audit store is not available"), job.Complete("{}")}
	})
	d := guarded(unavailable, g, newMemory())
	d.Handle(t.Context(), keyed(1, 2))
	check.Same(t, []int64{1}, <-g.ended, "cleared")
	check.Await(t, "it is counted anew", func() bool { d.Handle(t.Context(), keyed(1, 2)); return g.counted[1] > 1 })
}

type handlerFunc func([]job.Job) []job.Answer

func (f handlerFunc) Handle(_ context.Context, jobs []job.Job) []job.Answer { return f(jobs) }

// Two jobs over which a process crashed come in two batches; the first hangs.
func TestQuarantinedJobWaitsForAnotherUntilItsTimeIsOver(t *testing.T) {
	active, end := make(chan struct{}), make(chan struct{})
	hangs := handlerFunc(func(jobs []job.Job) []job.Answer {
		if jobs[0].Key == 1 {
			close(active)
			<-end
		}
		return []job.Answer{job.Complete("{}")}
	})
	g := &crashLog{counted: map[int64]int{1: 1, 2: 1}}
	d := guarded(hangs, g, newMemory())
	first, over := context.WithCancel(t.Context())
	back := make(chan struct{})
	go func() {
		defer close(back)
		d.Handle(first, keyed(1))
	}()
	<-active
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	check.Same(t, job.KindRelease, d.Handle(ended, keyed(2))[0].Kind(), "answer while the other is active")
	over()
	check.Same(t, job.KindComplete, d.Handle(t.Context(), keyed(2))[0].Kind(), "answer after the other's time")
	close(end)
	<-back
}

func TestNothingIsCountedAfterAnOrderlyStop(t *testing.T) {
	k := &crasher{crashLog: &crashLog{counted: map[int64]int{1: 2}, down: errors.New("must not be asked")}}
	afterAWhile := worker.NewQuarantine(k, k.crashLog, trailOn(newMemory()), -time.Second, zap.NewNop())
	check.Same(t, job.KindComplete, afterAWhile.Handle(t.Context(), keyed(1))[0].Kind(), "answer after a while")
	k = &crasher{crashLog: &crashLog{}} // whose nil map would panic at a count
	if answers, _ := run(t, k, keyed(1, 2)); answers[0].Kind() != job.KindComplete || len(k.batches) != 1 {
		t.Errorf("answered %s in %d batches, want complete in one", answers[0].Kind(), len(k.batches))
	}
}

func TestNoJobIsHandledUncountedWhileTheStoreIsDown(t *testing.T) {
	k := &crasher{crashLog: &crashLog{counted: map[int64]int{}, down: errors.New("down")}}
	answers, _ := run(t, k, keyed(1, 2))
	for _, a := range answers {
		check.Same(t, job.KindRelease, a.Kind(), "answer")
	}
	if k.batches != nil {
		t.Errorf("handled %v", k.batches)
	}
}

func TestQuarantinedJobIsRecordedWithUnreadVariables(t *testing.T) {
	m := newMemory()
	g := &crashLog{counted: map[int64]int{7: 3}}
	d := guarded(&crasher{crashLog: g}, g, m)
	a := d.Handle(t.Context(), keyed(7))[0]
	if record := m.only(t); record.Kind != audit.KindRejected || record.ClaimID != "" || record.Message != a.Message() {
		t.Errorf("recorded %s of %q: %q", record.Kind, record.ClaimID, record.Message)
	}
	// A batch in which another job hangs or panics is handled once more.
	if again := d.Handle(t.Context(), keyed(7))[0]; again.Kind() != a.Kind() || again.Message() != a.Message() {
		t.Errorf("handled once more, it was answered %s %q, want the same answer", again.Kind(), again.Message())
	}
	corrected := keyed(7)
	corrected[0].Variables = `{"claimId":"CLM-001-7","submissionError":"TIMEOUT"}`
	check.Same(t, job.KindComplete, d.Handle(t.Context(), corrected)[0].Kind(), "answer to the corrected job")
}
