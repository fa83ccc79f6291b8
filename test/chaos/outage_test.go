package chaos

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/test/chaos/proxy"
)

// Row 3. The guard is the job loop, which takes any failure of a poll or an answer for one that passes. Seen to fail
// without: a loop that ends when the gateway is lost does not work again.
func TestWorkerOutlivesAKilledBroker(t *testing.T) {
	r := newRig(t, setup{row: 3, busy: true, what: "kill -9 the broker, same data", store: inSQLite})
	w := r.start("RETRY_JOB_TIMEOUT=5s")
	kills, slowest := either(2, 10), time.Duration(0)
	for range kills {
		r.submit(2 * chunk)
		r.until("it is at work", func() bool { return r.open() < 2*chunk-20 })
		if r.open() == 0 {
			t.Fatal("all was done before the broker was killed: the row shows nothing")
		}
		r.must(r.broker.Kill())
		r.until("the metrics say that the gateway is away", func() bool { return w.metric("retry_gateway_up") == 0 })
		r.must(r.broker.Restart())
		r.broker.Conn.ResetConnectBackoff()
		slowest = max(slowest, r.until("it works again", func() bool { return r.jobEvents("completed") > 0 }))
		r.until("the metrics say that the gateway is back", func() bool { return w.metric("retry_gateway_up") == 1 })
	}
	if !w.Alive() {
		t.Fatalf("the worker ended: %v", w.Err())
	}
	invariants(r)
	r.happened(kills, "kills, at work again within "+slowest.Round(time.Millisecond).String())
	r.happened(len(r.claims), "jobs")
}

// Row 4. The guards are the pauses between polls and between dials, and that only changes are logged. Seen to fail
// without: pauses that do not grow make 1,035 dials in a minute.
func TestAbsentGatewayIsWaitedForQuietly(t *testing.T) {
	r := newRig(t, setup{row: 4, what: "gateway unreachable", store: inSQLite})
	w := r.warm(chunk)
	away := time.Duration(either(15, 300)) * time.Second
	before, began := r.proxy.Counts(), time.Now()
	logged := w.logLines()
	r.proxy.Set(proxy.Faults{Refuse: true})
	r.happened(r.proxy.ResetAll(), "connections reset")
	r.until("the metrics say that the gateway is away", func() bool { return w.metric("retry_gateway_up") == 0 })
	r.submit(chunk) // it is the worker's way to the broker that is closed
	for range 10 {
		r.pass(away / 10)
		if status, text := w.get("/healthz"); status != http.StatusOK {
			t.Errorf("/healthz: %d %s", status, text)
		}
		if status, text := w.get("/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("/readyz: %d %s", status, text)
		}
	}
	away = time.Since(began)
	dials, lines := r.proxy.Counts().Refused-before.Refused, w.logLines()-logged
	r.proxy.Set(proxy.Faults{})
	invariants(r)
	// The first dials follow one another from 50 ms up; from 5 s on it is one every 4 to 6 s. Each of the three job types
	// says once that the gateway is lost.
	if most := int64(12 + away/(4*time.Second)); dials > most {
		t.Errorf("%d dials in %v, want at most %d", dials, away, most)
	}
	if most := 3 + int(2*away/time.Minute); lines > most {
		t.Errorf("%d log lines in %v, want at most %d", lines, away, most)
	}
	r.happened(int(dials), fmt.Sprintf("dials refused in %.0f s (%d log lines)", away.Seconds(), lines))
}

// logLines is how many lines the worker has logged.
func (w *worker) logLines() int {
	w.rig.Helper()
	return strings.Count(w.printed(), "\n")
}
