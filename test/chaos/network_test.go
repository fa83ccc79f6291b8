package chaos

import (
	"testing"
	"time"

	"hospital.example/analyze-retry/test/chaos/proxy"
)

// losesReplies has a proxy swallow what comes back, while something is done, until it has swallowed some. It returns how many
// bytes that were. Their connections are reset.
func (r *rig) losesReplies(p *proxy.Proxy, meanwhile func()) int {
	r.Helper()
	before := p.Counts().Swallowed[proxy.ToClient]
	p.Set(proxy.Faults{Swallow: [2]bool{proxy.ToClient: true}})
	meanwhile()
	r.until("replies are swallowed", func() bool { return p.Counts().Swallowed[proxy.ToClient] > before })
	p.Set(proxy.Faults{})
	p.ResetAll()
	return int(p.Counts().Swallowed[proxy.ToClient] - before)
}

// cutsReply has a connection to the broker cut after so many bytes of its replies.
func (r *rig) cutsReply(after int64) {
	r.Helper()
	before := r.proxy.Counts().Cut[proxy.ToClient]
	r.proxy.Set(proxy.Faults{CutAfter: [2]int64{proxy.ToClient: after}})
	r.proxy.ResetAll() // bytes are counted from the beginning of a connection
	r.until("a reply is cut", func() bool { return r.proxy.Counts().Cut[proxy.ToClient] > before })
	r.proxy.Set(proxy.Faults{})
}

// losesPolls has the broker give jobs to connections that look open, and returns when it has.
func (r *rig) losesPolls(meanwhile func()) {
	r.Helper()
	activated, before := r.jobEvents("activated"), r.proxy.Counts().BlackHoled[proxy.ToClient]
	r.proxy.Set(proxy.Faults{BlackHole: [2]bool{proxy.ToClient: true}})
	meanwhile()
	r.until("the broker gives jobs to the dead connection", func() bool { return r.jobEvents("activated") > activated })
	r.until("what it gave is stopped", func() bool { return r.proxy.Counts().BlackHoled[proxy.ToClient] > before })
}

// leavesBlackHole resets the connections, so that what was stopped does not arrive after all.
func (r *rig) leavesBlackHole() {
	r.proxy.ResetAll()
	r.proxy.Set(proxy.Faults{})
}

// Row 5. The guard is the deadline of every poll: the connection looks open to the worker, and the broker has given it
// jobs that never arrive. Seen to fail without: a poll without a deadline waits for ever, and so do the jobs.
func TestJobsFromADeadConnectionComeBack(t *testing.T) {
	const lock = 2 * time.Second
	r := newRig(t, setup{row: 5, what: "connection half-open in a long poll", store: inSQLite})
	w := r.start("RETRY_JOB_TIMEOUT=" + lock.String())
	r.until("it polls", func() bool { return w.metric("retry_gateway_up") == 1 })
	cuts, slowest := either(4, 50), time.Duration(0)
	for range cuts {
		r.losesPolls(func() { r.submit(5) })
		r.leavesBlackHole()
		slowest = max(slowest, r.until("the jobs are done", func() bool { return r.open() == 0 }))
	}
	pollErrors := int(w.metric("retry_polls_total") - w.metric("retry_polls_total", `code="OK"`))
	invariants(r)
	r.happened(cuts, "dead connections, jobs back within "+slowest.Round(time.Millisecond).String())
	r.happened(r.ledger.timedOut(), "locks ran out")
	r.happened(pollErrors, "poll errors")
}

// Row 6. The guard is that a poll that fails costs nothing: jobs which came through before the cut are worked, the others
// come again, and the worker has as many hands as before. Seen to fail without: where each failed poll keeps a slot, it
// stops polling after the twentieth.
func TestNoJobIsLostInAReplyThatIsCut(t *testing.T) {
	r := newRig(t, setup{row: 6, what: "reset after n = 1 to 2,000 bytes of a reply", store: inSQLite})
	r.submit(4 * chunk)
	r.until("the jobs are there", func() bool { return len(r.look().jobs) == len(r.claims) })
	w := r.start("RETRY_JOB_TIMEOUT=1s", "RETRY_MAX_JOBS_ACTIVE=20")
	for n := 1; n <= 2000; n += either(100, 10) {
		if r.open() < chunk {
			r.submit(2 * chunk)
		}
		r.cutsReply(int64(n))
		completed := r.jobEvents("completed")
		r.until("it works again", func() bool { return r.jobEvents("completed") > completed })
	}
	pollErrors := int(w.metric("retry_polls_total") - w.metric("retry_polls_total", `code="OK"`))
	invariants(r)
	r.happened(int(r.proxy.Counts().Cut[proxy.ToClient]), "connections cut")
	r.happened(r.ledger.timedOut(), "locks ran out")
	r.happened(pollErrors, "poll errors")
}

// Row 7. The guard is that an answer whose fate is unknown is sent again as it was, and that a job which is gone by then
// counts as answered. Seen to fail without: where each answer that finds no job counts as not delivered, 106 decisions are
// recorded as undelivered that the broker has taken.
func TestAnswerWhoseReplyIsLostIsSentAgainUnchanged(t *testing.T) {
	r := newRig(t, setup{row: 7, what: "replies to answers swallowed", store: inSQLite})
	w := r.start("RETRY_JOB_TIMEOUT=5s")
	want, swallows := either(100, 1000), 0
	for r.look().again() < want {
		if r.open() < chunk {
			r.submit(4 * chunk)
		}
		completed := r.jobEvents("completed")
		r.until("it is at work", func() bool { return r.jobEvents("completed") > completed })
		r.losesReplies(r.proxy, func() {})
		swallows++
	}
	taken := int(w.metric("retry_job_answers_total", `result="accepted"`))
	if gone := int(w.metric("retry_job_answers_total", `result="not_found"`)); gone > 0 {
		t.Errorf("%d answers count as gone, although the broker has taken them", gone)
	}
	invariants(r)
	r.happened(r.ledger.again(), "answers sent again")
	r.happened(swallows, "connections swallowed")
	r.happened(taken, "answers taken")
}
