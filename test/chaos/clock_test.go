package chaos

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// movesClock moves the broker's clock, back too.
func (r *rig) movesClock(by time.Duration) {
	r.Helper()
	body := strings.NewReader(fmt.Sprintf(`{"offsetMilli":%d}`, by.Milliseconds()))
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, r.broker.MonitoringURL()+"/actuator/clock/add", body)
	r.must(err)
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	r.must(err)
	r.must(response.Body.Close())
	if response.StatusCode != http.StatusOK {
		r.Fatal(response.Status)
	}
}

// The guard is that a lock is reckoned by the worker's monotonic clock and a decision by its wall clock, never by the
// broker's. Seen to fail without: a broker that is an hour behind gets no answer, because every lock seems to be over; a
// decision takes an hour by its steps.
func TestBrokerWhoseClockJumpsChangesNoDecision(t *testing.T) {
	r := newRig(t, inSQLite, false, "")
	r.start()
	began := time.Now().Truncate(time.Microsecond)
	r.movesClock(-time.Hour)
	for _, by := range []time.Duration{2 * time.Hour, -2 * time.Hour, 2 * time.Hour} { // forward at last, so that locks end
		r.untilAtWork(3 * chunk)
		r.movesClock(by)
	}
	for _, record := range invariants(r) {
		if record.At.Before(began) || record.At.After(time.Now()) {
			t.Errorf("job %d was decided at %v, by another clock than the worker's", record.JobKey, record.At)
		}
		wait := record.NextRetryTime.Sub(record.At)
		if !record.NextRetryTime.IsZero() && (wait < 4*time.Minute || wait > 2*time.Hour) {
			t.Errorf("job %d waits %v", record.JobKey, wait)
		}
	}
	r.happened(r.ledger.timedOut(), "locks ran out")
}

// The guard is that no job is decided while the clocks of host and broker are more than a day apart. Seen to fail without:
// jobs are decided, with a next try that has been over for a year.
func TestNothingIsDecidedWhileTheClocksAreDaysApart(t *testing.T) {
	r := newRig(t, inSQLite, false, "")
	r.submit(chunk)
	for _, apart := range []time.Duration{463 * 24 * time.Hour, -1000 * 24 * time.Hour} {
		r.movesClock(apart)
		w := r.launch()
		w.serves()
		r.until("the worker is not ready for its clock", func() bool {
			status, text := w.get("/readyz")
			return status == http.StatusServiceUnavailable && strings.Contains(text, "clocks")
		})
		r.pass(3 * time.Second)
		if n := len(r.records()); n > 0 {
			t.Fatalf("%d decisions are recorded while the clocks are %v apart", n, apart)
		}
		w.kills()
		r.movesClock(-apart)
	}
	r.happened(r.look().activated, "jobs given out meanwhile")
	r.start()
	invariants(r)
}
