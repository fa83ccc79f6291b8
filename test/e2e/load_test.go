package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/cmd/sandbox/demo"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/devqueue"
)

// hospitalDay is a stage on which the claims of the demo are played: a broker, a queue, a worker, and a Prometheus that looks on.
type hospitalDay struct {
	*scene
	queue      *devqueue.Server
	queueAway  bool
	worker     *worker
	prometheus *promServer
	began      time.Time
}

func onAHospitalDay(t *testing.T) *hospitalDay {
	t.Helper()
	lanes.Take(t, true)
	d := &hospitalDay{scene: onOwnBroker(t, devbroker.Options{Records: true})}
	ctx, cancel := d.within(patience)
	defer cancel()
	var err error
	d.queue, err = devqueue.StartNATS(ctx)
	d.must(err)
	t.Cleanup(func() {
		if err := d.queue.Close(); err != nil {
			t.Error(err)
		}
	})
	d.forgetsAJob()
	d.worker = d.startWorker("RETRY_EVENTS_URL="+d.queue.URL(), "GOMEMLIMIT=102MiB") // as the chart sets it
	d.worker.answers("/healthz", http.StatusOK)
	d.prometheus = d.startPrometheus(d.worker)
	// What grows before the second look at it has not grown for Prometheus.
	d.prometheus.has(`min(count_over_time(up[1m])) > 1 and min(up) == 1`)
	d.began = time.Now()
	return d
}

// forgetsAJob lets another worker take a job and not answer it, so that it times out.
func (d *hospitalDay) forgetsAJob() {
	d.Helper()
	job := d.start("OneTask", vars{"claimId": "CLM-DASHBOARD-1", "submissionError": "TIMEOUT"})
	job.task(analyzeRetry)
	d.advance(2 * time.Hour) // another worker's lock is an hour
	job.next("the end of the lock", "JOB", "TIMED_OUT", anyEvent)
}

// others plays what the demo has not: the older rule, and e-mails.
func (d *hospitalDay) others() {
	d.Helper()
	d.example("submission-backoff.bpmn")
	older := d.start("SubmissionBackoffProcess", vars{"claimId": "CLM-DASHBOARD-2"})
	older.submissionFails("CONNECTION_ERROR")
	older.waits(5, 6).passes()
	older.submission().complete(nil)
	older.endsAt("EndEvent_Done")

	d.example("email.bpmn")
	d.isMailed("MSG-DASHBOARD-2", "451 4.3.0 try again later", time.Second)
	mail := d.start("EmailProcess", vars{"claimId": "MSG-DASHBOARD-1"})
	mail.isRefusedFor("421 4.3.2 Service not available, closing transmission channel", time.Second, 2*time.Second)
	mail.task(sendEmail).fails("550 5.1.1 User unknown")
	mail.notifies("admin")
	mail.asks("Task_HandleDeadLetter").complete(discarded)
	mail.endsAt("EndEvent_Discarded")
}

// isMailed sends an e-mail that is refused a few times, with these delays, before it is accepted.
func (d *hospitalDay) isMailed(id, reply string, delays ...time.Duration) {
	d.Helper()
	mail := d.start("EmailProcess", vars{"claimId": id})
	mail.isRefusedFor(reply, delays...)
	mail.task(sendEmail).complete(nil)
	mail.endsAt("EndEvent_Done")
}

// claims are the n-th set of the demo's claims; each set has numbers of its own.
func (d *hospitalDay) claims(n int) []script.Claim {
	d.Helper()
	text, err := os.ReadFile("../../examples/claims.csv")
	d.must(err)
	claims, err := script.Parse(strings.NewReader(strings.ReplaceAll(string(text), "-2026-", fmt.Sprintf("-%d-", 2026+n))))
	d.must(err)
	return claims
}

// plays brings claims to their ends.
func (d *hospitalDay) plays(claims []script.Claim) {
	d.Helper()
	play := demo.Play{
		Cluster: d.broker.Cluster, Models: demo.Bundled(), Progress: func(demo.Status) {},
		Check: func() error { return d.worker.Err() },
	}
	results, err := play.Run(d.Context(), claims)
	d.must(err)
	for _, r := range results {
		for _, fault := range r.Faults {
			d.Errorf("claim %s: %s", r.Claim.ID, fault)
		}
	}
}

// Which of the demo's claims a round of a longer day has, by their lines in the file, and how often. Most claims are
// accepted at once; the others take turns.
var (
	ordinary = []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}
	rarer    = []int{4, 2, 1, 8, 1, 3, 11, 1, 5, 2, 4, 12, 1, 9, 7, 2, 1, 4, 6, 15, 1}
)

// replies are those of mail servers that e-mails meet in turns.
var replies = []string{"451 4.3.0 try again later", "421 4.7.0 too many connections", "450 4.2.1 mailbox busy", "451 4.7.1 greylisted"}

// goesOn plays such rounds for so long, with an hour in which an insurer is away and a moment in which the queue is.
func (d *hospitalDay) goesOn(whole time.Duration) {
	d.Helper()
	const calm = 90 * time.Second // for a minute after its clock was moved the broker calls its partition unhealthy
	set := 0
	part := func(line int) script.Claim {
		set++
		return d.claims(set)[line]
	}
	for round := 0; time.Since(d.began) < whole-calm; round++ {
		passed := time.Since(d.began).Seconds() / whole.Seconds()
		var claims []script.Claim
		for _, line := range ordinary {
			claims = append(claims, part(line))
		}
		claims = append(claims, part(rarer[round%len(rarer)]))
		if passed > 0.35 && passed < 0.5 { // the insurer is away
			for _, line := range []int{2, 2, 3, 2, 13, 4} {
				claims = append(claims, part(line))
			}
		}
		d.queueIs(passed > 0.55 && passed < 0.62)
		d.plays(claims)
		if delays := []time.Duration{time.Second, 2 * time.Second}; round%8 == 0 {
			d.isMailed(fmt.Sprintf("MSG-DAY-%d", round), replies[round/8%len(replies)], delays[:1+round/8%len(delays)]...)
		}
		pauseFor(d.Context(), 2*time.Second)
	}
	d.queueIs(false)
	d.must(d.broker.ResetClock(d.Context())) // no claim waits any more: what the tiles show at the end is a clock that is right
	for time.Since(d.began) < whole {
		d.plays([]script.Claim{part(0), part(0), part(0)})
		pauseFor(d.Context(), 2*time.Second)
	}
}

// queueIs stops the queue or starts it again.
func (d *hospitalDay) queueIs(away bool) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), patience)
	defer cancel()
	switch {
	case away && !d.queueAway:
		d.must(d.queue.Stop())
	case !away && d.queueAway:
		d.must(d.queue.Restart(ctx))
	}
	d.queueAway = away
}
