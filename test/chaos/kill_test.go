package chaos

import (
	"testing"
	"time"
)

// Row 1. The guard is that a decision is synced to the store before it is answered, and that a job that comes again gets
// what is stored. Seen to fail without: where the new decision is answered instead of the stored one, jobs are answered
// with what the store does not hold. Between answering and storing is too little time for 120 kills to find an answer that
// came first: row 16, where the store fails in between, finds it.
func TestKilledWorkersLoseNothingAndDecideNothingTwice(t *testing.T) {
	jobs, least := either(8_000, 20_000), either(20, 40)
	onBothStores(t, setup{row: 1, busy: true, what: "kill -9 the worker every 2 s", ownBroker: true}, func(r *rig) {
		// So many are ahead of the worker that it is busy whenever it is killed.
		const ahead = 1_000
		r.submit(3 * ahead)
		submitted := make(chan error, 1)
		go func() { submitted <- r.trySubmit(jobs - 3*ahead) }()
		kills := 0
		for ; kills < least || kills < 3*least && r.logged("decision_repeated") == 0; kills++ {
			w := r.launch("RETRY_JOB_TIMEOUT=5s")
			r.pass(2 * time.Second)
			w.kills()
			if r.open() < ahead {
				r.must(<-submitted)
				go func() { submitted <- r.trySubmit(ahead) }()
			}
		}
		r.must(<-submitted)
		r.start("RETRY_JOB_TIMEOUT=5s")
		for n := r.open(); n > ahead; n = r.open() { // patience is for each thousand: a busy machine may take long over all
			r.until("it works on", func() bool { return r.open() <= n-ahead })
		}
		invariants(r)
		r.happened(kills, "kills")
		r.happened(r.logged("decision_repeated"), "redelivered")
		r.happened(len(r.claims), "jobs")
	})
}
