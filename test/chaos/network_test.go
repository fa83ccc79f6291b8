package chaos

import (
	"net/http"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/proxy"
)

// The guards are the job loop, which takes any failure of a poll or an answer for one that passes, and the growing pauses
// between dials. Seen to fail without: a loop that ends when the gateway is lost does not work again; pauses that do not grow
// make 1,035 dials in a minute.
func TestAbsentGatewayIsWaitedForQuietly(t *testing.T) {
	r := newRig(t, inSQLite, false, "")
	w := r.warm()
	refused, began := r.proxy.Did().Refused, time.Now()
	r.proxy.Set(proxy.Faults{Refuse: true})
	r.happened(r.proxy.ResetAll(), "connections reset")
	w.answersStatus("/readyz", http.StatusServiceUnavailable)
	w.answersStatus("/healthz", http.StatusOK)
	r.pass(10 * time.Second)
	// The first dials follow one another from 50 ms up; from 5 s on it is one every 4 to 6 s.
	dials := r.proxy.Did().Refused - refused
	if most := int(12 + time.Since(began)/(4*time.Second)); dials > most {
		t.Errorf("%d dials, want at most %d", dials, most)
	}
	r.happened(dials, "dials refused")
	r.proxy.Set(proxy.Faults{})
	w.answersStatus("/readyz", http.StatusOK)

	r.untilAtWork(2 * chunk)
	r.must(r.broker.Kill())
	w.answersStatus("/readyz", http.StatusServiceUnavailable)
	r.must(r.broker.Restart())
	r.broker.Conn.ResetConnectBackoff()
	invariants(r)
}

// The guard is the deadline of every poll: the connection looks open to the worker, and the broker has given it jobs that
// never arrive. Seen to fail without: a poll without a deadline waits for ever, and so do the jobs.
func TestJobsFromADeadConnectionComeBack(t *testing.T) {
	r := newRig(t, inSQLite, false, "")
	r.start("RETRY_JOB_TIMEOUT=2s")
	for range 3 {
		r.losesPolls()
		r.untilDone()
	}
	invariants(r)
	r.happened(r.ledger.timedOut(), "locks ran out")
}

// The guard is that an answer whose reply is lost is sent again as it was, and that a job which is gone by then counts as
// answered. Seen to fail without: 106 decisions are recorded as undelivered that the broker has taken.
func TestAnswerWhoseReplyIsLostIsSentAgainUnchanged(t *testing.T) {
	r := newRig(t, inSQLite, false, "")
	r.start()
	for r.look().again() < 100 {
		r.untilAtWork(chunk)
		r.losesReplies(r.proxy)
	}
	invariants(r)
	r.happened(r.ledger.again(), "answers sent again")
}
