package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/retry"
)

// Row 13. The guard is that a lock is reckoned by the worker's own monotonic clock and a decision by its own wall clock,
// never by the broker's. Seen to fail without: where a lock lasts until the time that the broker names, a broker that is an
// hour behind gets no answer, because every lock seems to be over; where a job counts as received when its lock at the
// broker says so, a decision takes an hour by its steps.
//
// A broker of 8.5.8 whose clock is set back goes on handing out jobs and taking answers. But it ends no lock before its
// clock is where it was: locks of 5 s that were taken after the jump still held 41 s later, and ended when the clock went
// forward again. So the jobs of a worker that dies then wait for that long, whatever the worker does.
func TestBrokerWhoseClockJumpsChangesNoDecision(t *testing.T) {
	r := newRig(t, setup{row: 13, what: "the broker's clock jumps between -1 h and +1 h", store: inSQLite})
	r.start("RETRY_JOB_TIMEOUT=5s")
	began := time.Now()
	r.moves(-time.Hour)
	// The last jump is forward: a lock that a poll has lost on its way would last for two hours more.
	jumps, least := 0, either(3, 21)
	for ; jumps < least || jumps < 3*least && (r.look().timedOut() == 0 || jumps%2 == 0); jumps++ {
		if r.open() < chunk {
			r.submit(3 * chunk)
		}
		done := r.done()
		r.until("it is at work", func() bool { return r.done() > done+20 })
		by := 2 * time.Hour
		if jumps%2 == 1 {
			by = -by
		}
		r.moves(by)
	}
	records := invariants(r)
	for _, decided := range records {
		r.decidedAt(&decided[0], began, time.Now())
	}
	r.happened(jumps, "jumps")
	r.happened(r.ledger.timedOut(), "locks ran out")
	r.happened(len(r.claims), "jobs")
}

// moves moves the broker's clock, back too.
func (r *rig) moves(by time.Duration) {
	r.Helper()
	before, err := r.broker.Now(r.Context())
	r.must(err)
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	body := strings.NewReader(fmt.Sprintf(`{"offsetMilli":%d}`, by.Milliseconds()))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.broker.MonitoringURL()+"/actuator/clock/add", body)
	r.must(err)
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	r.must(err)
	r.must(response.Body.Close())
	after, err := r.broker.Now(r.Context())
	r.must(err)
	if moved := after.Sub(before); response.StatusCode != http.StatusOK || moved < by || moved > by+patience {
		r.Fatalf("the broker's clock moved by %v, want %v: %s", moved, by, response.Status)
	}
}

// Row 13. The guard is the same. The clock that is wrong is the wall clock by which jobs are decided; the monotonic one is
// right, as on a machine whose clock was set. All else reads the machine's own clock, which no single process can have
// moved: Go reads it without the C library, where libfaketime sits. Seen to fail without: where a lock is reckoned by the
// wall clock that decides, a worker that is an hour behind answers nothing; where the time of a decision has no monotonic
// clock, it takes an hour by its steps.
func TestWorkerWhoseClockIsWrongDecidesTheSame(t *testing.T) {
	r := newRig(t, setup{row: 13, what: "the worker's clock is wrong by +1 h, by -1 h", store: inSQLite})
	known := map[int64]bool{}
	for _, wrong := range []time.Duration{time.Hour, -time.Hour, 0} {
		began := time.Now().Add(wrong)
		r.submit(either(1, 20) * chunk)
		w := r.start(fmt.Sprintf("ANALYZE_RETRY_FAILPOINTS=clock=%s", wrong))
		r.untilDone()
		w.stops()
		decided := 0
		for _, record := range r.records() {
			if !known[record.ID] {
				r.decidedAt(&record, began, time.Now().Add(wrong))
				known[record.ID] = true
				decided++
			}
		}
		r.happened(decided, fmt.Sprintf("decisions by a clock that is wrong by %v", wrong))
	}
	invariants(r)
	if n := r.ledger.timedOut(); n > 0 {
		t.Errorf("%d locks ran out", n)
	}
	for key, job := range r.ledger.jobs {
		if len(job.answers) != 1 {
			t.Errorf("job %d got %d answers", key, len(job.answers))
		}
	}
}

// decidedAt holds that a decision was taken between two times on the worker's clock, and is the rule's for its time.
func (r *rig) decidedAt(record *audit.Record, from, to time.Time) {
	r.Helper()
	if record.At.Before(from.Truncate(time.Microsecond)) || record.At.After(to) {
		r.Errorf("job %d was decided at %v, by another clock than the worker's", record.JobKey, record.At)
	}
	if record.Kind == audit.KindRejected {
		return
	}
	c := r.claims[record.ClaimID]
	want, err := policy.BuiltIn("tiss").Decide(retry.Request{
		ClaimID: c.ID, SubmissionError: c.Error, RetryCount: c.RetryCount, ProcessInstanceKey: record.ProcessInstanceKey,
	}, record.At)
	r.must(err)
	if !record.NextRetryTime.Equal(want.NextRetryTime) {
		r.Errorf("job %d is to wait until %v, want %v", record.JobKey, record.NextRetryTime, want.NextRetryTime)
	}
	var detail contract.Detail
	r.must(json.Unmarshal([]byte(record.Detail), &detail))
	if took := time.Duration(detail.Steps.AfterMicros[5]) * time.Microsecond; took < 0 || took > patience {
		r.Errorf("job %d took %v by its steps", record.JobKey, took)
	}
}

// ahead and behind are clocks that are wrong by years: 5.1 years ahead, and 463 days behind.
const (
	ahead  = 44676 * time.Hour
	behind = -463 * 24 * time.Hour
)

// Row 35. The guard is that no job is decided while the clocks of host and broker are more than a day apart. Seen to fail
// without: jobs are decided, with a nextRetryTime that has been over for a year.
func TestWorkerWhoseClockIsDaysOffDecidesNothing(t *testing.T) {
	r := newRig(t, setup{row: 35, what: "the worker's clock is 463 days behind, then 5.1 years ahead", store: inSQLite})
	r.submit(chunk)
	for _, wrong := range []time.Duration{behind, ahead} {
		w := r.start(fmt.Sprintf("ANALYZE_RETRY_FAILPOINTS=clock=%v", wrong))
		r.until("it is not ready for its clock", func() bool {
			status, text := w.get("/readyz")
			return status == http.StatusServiceUnavailable && strings.Contains(text, "the clocks differ too much")
		})
		r.pass(3 * time.Second)
		if n := len(w.lines("clock_wrong")); n != 1 {
			t.Errorf("logged %d times", n)
		}
		released := int(w.metric("retry_job_answers_total", `answer="release"`))
		if released > 3*chunk {
			t.Errorf("jobs were released %d times", released)
		}
		r.happened(released, fmt.Sprintf("jobs released by a clock that is wrong by %v", wrong))
		w.stops()
		if n := len(r.records()); n > 0 {
			t.Fatalf("%d decisions are recorded by a clock that is wrong by %v", n, wrong)
		}
	}
	began := time.Now()
	r.start()
	records := invariants(r)
	for _, decided := range records {
		r.decidedAt(&decided[0], began, time.Now())
	}
}
