package chaos

import (
	"testing"
	"time"
)

// Row 2. The guard is that a stop releases what it does not finish, and lets the open poll come to its end. Seen to fail
// without: where jobs that come when the worker stops are dropped, they stay locked.
func TestStopUnderLoadLeavesNoJobLocked(t *testing.T) {
	r := newRig(t, setup{row: 2, busy: true, what: "SIGTERM under load", store: inSQLite})
	before := r.locked()
	slowest := time.Duration(0)
	stops := either(10, 100)
	for range stops {
		if r.open() < 2*chunk {
			r.submit(4 * chunk)
		}
		done := r.done()
		w := r.start("RETRY_JOB_TIMEOUT=1m") // far longer than the row may take: a lock that is left would show
		r.until("jobs are done", func() bool { return r.done() > done+20 })
		if r.open() == 0 {
			t.Fatal("the worker was done before it was stopped: the row shows nothing")
		}
		slowest = max(slowest, w.stops())
		r.until("no job is locked", func() bool { return r.locked() <= before })
	}
	r.start()
	invariants(r)
	r.releases()
	if n := r.ledger.timedOut(); n > 0 {
		t.Errorf("%d locks ran out", n)
	}
	r.happened(stops, "stops, the slowest in "+slowest.Round(time.Millisecond).String())
	r.happened(len(r.claims), "jobs")
}

// open is how many claims have not come to an end.
func (r *rig) open() int {
	r.Helper()
	done := r.done()
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.claims) - done
}

// jobEvents is the broker's own count of what happened to jobs of ours since it started.
func (r *rig) jobEvents(action string) int {
	r.Helper()
	m, err := r.broker.Metrics(r.Context())
	r.must(err)
	return int(m.Sum("zeebe_job_events_total", map[string]string{"type": jobType, "action": action}))
}

// locked is how many jobs some worker holds, by the broker's count.
func (r *rig) locked() int {
	r.Helper()
	m, err := r.broker.Metrics(r.Context())
	r.must(err)
	count := func(action string) int {
		return int(m.Sum("zeebe_job_events_total", map[string]string{"type": jobType, "action": action}))
	}
	return count("activated") - count("completed") - count("failed") - count("error thrown") - count("timed out")
}
