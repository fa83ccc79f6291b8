package chaos

import (
	"syscall"
	"testing"
	"time"
)

// Row 10. The guards are that a worker does not answer when the lock of a job is over, and that the next one answers
// what is stored. Seen to fail without: a worker that answers however late releases jobs that another one holds;
// where the next one answers its own decision, jobs are answered with another time of the next retry than the store holds.
func TestStoppedWorkerDoesNotSpoilAnothersAnswers(t *testing.T) {
	const lock = 3 * time.Second
	r := newRig(t, setup{row: 10, what: "worker stopped (SIGSTOP) for longer than its locks", store: inPostgres, brokerFaults: slowBroker})
	// The handler is slow, so that it is stopped in the midst of a batch too, and comes to its deadline when it goes on.
	settings := []string{"RETRY_JOB_TIMEOUT=" + lock.String(), "RETRY_MAX_JOBS_ACTIVE=32", "ANALYZE_RETRY_FAILPOINTS=decided=20ms"}
	workers := []*worker{r.start(settings...), r.start(settings...)}
	stops, least := 0, either(3, 30)
	for ; stops < least || stops < 5*least && r.logged("decision_repeated") == 0; stops++ {
		if r.open() < 2*chunk {
			r.submit(4 * chunk)
		}
		done := r.done()
		r.until("they are at work", func() bool { return r.done() > done+20 })
		late := workers[stops%2]
		r.must(late.Signal(syscall.SIGSTOP))
		stopped := time.Now()
		r.until("locks run out", func() bool { return time.Since(stopped) > lock+time.Second })
		r.must(late.Signal(syscall.SIGCONT))
	}
	invariants(r)
	late := 0
	for key, job := range r.ledger.jobs {
		for _, a := range job.answers {
			if a.late && len(decisions([]answer{a})) == 0 {
				t.Errorf("job %d was failed by a worker that was too late: %s", key, a.payload)
			}
		}
		if job.timedOut > 0 {
			late++
		}
	}
	r.happened(stops, "stops")
	r.happened(len(r.claims), "jobs")
	r.happened(late, "jobs whose lock ran out")
	r.happened(r.logged("decision_repeated"), "redelivered")
}

// Row 11. The guard is the store's own: a job that both replicas hold is decided by the one that stores first, and the
// other answers what is stored. Seen to fail without: where each answers its own decision, jobs are answered with what the
// store does not hold.
func TestTwoReplicasThatShareJobsDecideEachOnce(t *testing.T) {
	r := newRig(t, setup{row: 11, busy: true, what: "two replicas, locks of 1 s that run out", store: inPostgres, brokerFaults: slowBroker})
	jobs := either(1_000, 20_000)
	// More active than the broker can take answers for before the locks are over. 1 s is the shortest lock there is.
	settings := []string{"RETRY_JOB_TIMEOUT=1s", "RETRY_MAX_JOBS_ACTIVE=200"}
	for range 2 {
		r.start(settings...)
	}
	r.submit(jobs)
	invariants(r)
	r.happened(len(r.claims), "jobs")
	r.happened(r.ledger.timedOut(), "locks ran out")
	r.happened(r.logged("decision_repeated"), "redelivered")
}
