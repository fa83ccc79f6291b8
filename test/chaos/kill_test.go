package chaos

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Row 1. The guard is that a decision is synced to the store before it is answered, and that a job that comes
// again gets what is stored. Seen to fail without: where the new decision is answered instead of the stored
// one, jobs are answered with what the store does not hold. Between answering and storing is too little time
// for 120 kills to find an answer that came first: row 16, where the store fails in between, finds it.
func TestKilledWorkersLoseNothingAndDecideNothingTwice(t *testing.T) {
	least := either(20, 200)
	onBothStores(t, setup{row: 1, busy: true, what: "kill -9 the worker while it works"}, func(r *rig) {
		// So many are ahead of the worker that it is busy whenever it is killed.
		const ahead = 2 * chunk
		random := rand.New(rand.NewPCG(1, 1))
		kills := 0
		for ; kills < least || kills < 3*least && r.logged("decision_repeated") == 0; kills++ {
			if r.open() < ahead {
				r.submit(ahead)
			}
			done := r.done()
			w := r.launch("RETRY_JOB_TIMEOUT=2s")
			r.until("it is at work", func() bool { return r.done() > done })
			r.pass(time.Duration(random.IntN(200)) * time.Millisecond)
			w.kills()
		}
		r.start("RETRY_JOB_TIMEOUT=2s")
		invariants(r)
		r.happened(kills, "kills")
		r.happened(r.logged("decision_repeated"), "redelivered")
		r.happened(len(r.claims), "jobs")
	})
}
