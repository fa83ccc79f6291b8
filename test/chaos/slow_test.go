package chaos

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/test/chaos/proxy"
)

// slowNetwork is the network of row 8, each way.
var slowNetwork = proxy.Faults{Latency: 100 * time.Millisecond, Jitter: 200 * time.Millisecond, ResetShare: 0.01}

// Row 8. The guards are those of rows 6 and 7, here all at once: a poll that fails costs nothing, and an answer whose fate
// is unknown is sent again as it was. Seen to fail without: where each answer that finds no job counts as not delivered, 106
// decisions are recorded as undelivered that the broker has taken.
func TestSlowNetworkThatBreaksOffCostsNoJob(t *testing.T) {
	r := newRig(t, setup{row: 8, what: "100 to 300 ms each way, 1 % resets", store: inSQLite})
	r.start()
	jobs, resets := either(300, 5000), int64(either(5, 50))
	fast := r.rate(chunk)
	r.proxy.Set(slowNetwork)
	before, began := r.proxy.Counts(), time.Now()
	for len(r.claims) < chunk+jobs || r.proxy.Counts().Reset < before.Reset+resets {
		r.submit(chunk)
		r.until("most are done", func() bool { return r.open() < chunk/2 })
	}
	slow := float64(len(r.claims)-chunk) / time.Since(began).Seconds()
	r.proxy.Set(proxy.Faults{})
	after := r.proxy.Counts()
	invariants(r)
	r.happened(int(after.Delayed-before.Delayed), fmt.Sprintf("pieces of data delayed (%.0f jobs/s after %.0f)", slow, fast))
	r.happened(int(after.Reset-before.Reset), "connections reset")
	r.happened(r.ledger.again(), "answers sent again")
}

// rate submits claims and returns how many were done in a second.
func (r *rig) rate(claims int) float64 {
	r.Helper()
	began := time.Now()
	r.submit(claims)
	r.untilDone()
	return float64(claims) / time.Since(began).Seconds()
}

// Row 9. The guards are the pauses after polls that are refused, that only changes are logged, and that an answer
// that was refused is sent again. Seen to fail without: polls that do not pause are refused 1,127 times in 8 s; where each of
// them is logged too, 421 lines are about the gateway; where an answer that was refused is given up, 35 of 300 jobs are
// open after three minutes.
func TestBackPressureIsWaitedOutQuietly(t *testing.T) {
	r := newRig(t, setup{
		row: 9, busy: true, what: "back-pressure with a limit of 1", store: inSQLite,
		brokerFaults: "limit=1",
	})
	w := r.start("RETRY_JOB_TIMEOUT=1m") // an answer that is refused may have to wait
	before, began := r.dropped(), time.Now()
	// Several at a time, so that there is always something in flight.
	var submitting errgroup.Group
	for range 3 {
		submitting.Go(func() error { return r.trySubmit(either(chunk/2, 9*chunk)) })
	}
	r.must(submitting.Wait())
	r.untilDone()
	took := time.Since(began)
	refused := w.metric("retry_polls_total", `code="ResourceExhausted"`)
	changes := r.logged("gateway_lost") + r.logged("gateway_back")
	other := w.logLines() - changes - len(r.claims)
	dropped := r.dropped() - before
	invariants(r)
	// Each of the three job types pauses for 50 ms or longer, and is lost after a second without a poll that came through.
	if most := 3 * took.Seconds() / 0.05; refused > most {
		t.Errorf("%.0f polls were refused in %v, want at most %.0f", refused, took, most)
	}
	if most := 3 * 2 * took.Seconds(); float64(changes) > most || other > 20 {
		t.Errorf("in %v the log has %d lines about the gateway, want at most %.0f, and %d that are about no job", took, changes, most, other)
	}
	if n := r.ledger.timedOut(); n > 0 {
		t.Errorf("%d locks ran out", n)
	}
	r.happened(dropped, fmt.Sprintf("requests dropped in %.0f s", took.Seconds()))
	r.happened(int(refused), fmt.Sprintf("of them polls (%d log lines)", changes+other))
	r.happened(len(r.claims), "jobs")
}

// dropped is how many requests the broker has refused because it had enough to do.
func (r *rig) dropped() int {
	r.Helper()
	m, err := r.broker.Metrics(r.Context())
	r.must(err)
	return int(m.Sum("zeebe_dropped_request_count_total", nil))
}
