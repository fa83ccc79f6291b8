package chaos

import (
	"testing"
	"time"
)

// Row 13. The guard is that a lock is reckoned by the worker's own monotonic clock and a decision by its own wall clock,
// never by the broker's. The broker's clock can only be moved forward; a Go program's own cannot be moved at all without
// moving the machine's. Seen to fail without: where a job counts as received when its lock at the broker says so, decisions
// are dated up to five hours ahead.
func TestABrokerWhoseClockJumpsChangesNoDecision(t *testing.T) {
	r := newRig(t, setup{row: 13, what: "the broker's clock jumps by +1 h", store: inSQLite, ownBroker: true})
	r.start("RETRY_JOB_TIMEOUT=5s")
	jumps := either(3, 20)
	for range jumps {
		if r.open() < chunk {
			r.submit(3 * chunk)
		}
		done := r.done()
		r.until("it is at work", func() bool { return r.done() > done+20 })
		_, err := r.broker.Advance(r.Context(), time.Hour)
		r.must(err)
	}
	records := invariants(r)
	for key, decided := range records {
		at, job := decided[0].At, r.ledger.jobs[key]
		if ahead := time.UnixMilli(job.ended).Sub(at); ahead < -time.Minute || ahead > time.Duration(jumps)*time.Hour+patience {
			t.Errorf("job %d was decided %v before it ended", key, ahead)
		}
		if wait := decided[0].NextRetryTime.Sub(at); !decided[0].NextRetryTime.IsZero() && (wait < 4*time.Minute || wait > 241*time.Minute) {
			t.Errorf("job %d is to wait %v", key, wait)
		}
		if time.Since(at) > time.Hour || time.Since(at) < 0 {
			t.Errorf("job %d was decided at %v, by another clock than the worker's", key, at)
		}
	}
	r.happened(jumps, "jumps")
	r.happened(r.ledger.timedOut(), "locks ran out")
	r.happened(len(r.claims), "jobs")
}
