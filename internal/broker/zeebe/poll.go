package zeebe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/ops/outage"
)

const (
	// longPoll is how long a poll waits at the gateway for a job, and so about how long an idle worker needs
	// to stop. The gateway answers an empty poll without asking the broker, so a longer wait saves little.
	longPoll = time.Second
	// pollMargin is how much longer the worker waits for the gateway than it lets the gateway wait for jobs.
	pollMargin = 2 * time.Second
	// pollGrace is how late the gateway may answer a poll when the worker stops.
	pollGrace = 250 * time.Millisecond
	// pollRest is the least time between empty polls, for a gateway whose long polling is off.
	pollRest = 100 * time.Millisecond
	// lostAfter is how long polls must fail for the gateway to count as lost: a busy one refuses a poll now
	// and then.
	lostAfter = time.Second
	// triesEvery is the time between polls while clocks that differ send each job back at once, or no answer
	// gets through.
	triesEvery = 3 * time.Second

	// noWait is the wait of a poll that takes the jobs there are and does not wait for any.
	noWait = -time.Millisecond
)

// pollBackoff, with the wait between two dials, bounds how long a gateway that is back waits for its first
// poll: 10 seconds at most.
var pollBackoff = outage.Backoff{Min: 50 * time.Millisecond, Max: 3 * time.Second}

// errLost is a poll that the gateway did not answer, or not in time, although it answers other calls.
var errLost = errors.New("poll lost")

// request returns a poll for at most so many jobs.
func (w *Worker) request(most int, wait time.Duration) transport.Poll {
	p := w.opt.Poll
	p.Max, p.Wait = most, wait
	return p
}

// pollJobs takes jobs and sets them to work until ctx ends. The first poll, and the first one after a
// failure, does not wait for jobs, so that it is soon known whether the gateway answers.
func (w *Worker) pollJobs(ctx context.Context) {
	for wait := noWait; ; {
		// Large batches cost the store fewer transactions and the gateway fewer polls. With half of the slots
		// there are two: while the store syncs one, the other is polled, decided or answered.
		free, err := w.slots.wait(ctx, max(1, w.opt.MaxJobsActive/2))
		if err != nil || w.opt.Hold(ctx) != nil {
			return
		}
		if w.opt.Clock.Err() != nil || w.answers.Err() != nil {
			free = 1 // one job shows as well as many do whether that is over
			outage.Sleep(ctx, triesEvery)
		}
		if ctx.Err() != nil {
			return
		}
		err = w.poll(ctx, w.request(free, wait), func(jobs []job.Job) { w.accept(ctx, jobs) })
		wait = noWait
		switch {
		case err == nil:
			wait = longPoll
		case errors.Is(err, errLost):
			w.isolate(ctx)
		}
	}
}

// poll polls once, notes how that went and, if it failed, pauses. It passes jobs on as they come, also those
// of a poll that fails later.
func (w *Worker) poll(ctx context.Context, p transport.Poll, take func([]job.Job)) error {
	opened := time.Now()
	due := opened.Add(max(p.Wait, 0)) // when the gateway's own wait for jobs is over
	received, err := w.receive(ctx, p, due, take)
	if err != nil && ctx.Err() != nil {
		return err
	}
	code := transport.Code(err)
	w.opt.Observer.Polled(code.String())
	if err == nil {
		if back, reached := w.gateway.Succeeded(), w.reached.Swap(true); !back && !reached {
			w.log.Info("gateway_connected")
		}
		if received == 0 && p.Wait != noWait {
			outage.Sleep(ctx, time.Until(opened.Add(pollRest)))
		}
		return nil
	}
	late := code == codes.DeadlineExceeded && time.Since(due) > pollMargin/2
	if late || errors.Is(err, transport.ErrLost) {
		if _, away := w.topology(ctx); away == nil {
			return errLost
		}
	}
	w.pause(ctx, opened, err)
	return err
}

// pause notes that the gateway failed a call that began at this time, and pauses.
func (w *Worker) pause(ctx context.Context, began time.Time, err error) {
	outage.Sleep(ctx, w.gateway.Failed(began, loggable(err)))
}

// loggable returns the error of a poll with the gateway's text only where that is about the connection or the
// worker's request, never about a job.
func loggable(err error) error {
	code, message := transport.Code(err), status.Convert(err).Message()
	switch code {
	case codes.ResourceExhausted:
		if !strings.Contains(message, "larger than") { // the client's own: the answer to the poll is
			break
		}
		fallthrough
	case codes.Unavailable, codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument:
		return fmt.Errorf("%s: %s", code, message)
	}
	return errors.New(code.String())
}

// receive polls once and passes the jobs on. It returns how many they were.
//
// A worker that stops does not cancel an open poll: a gateway that has just sent jobs does not notice, and
// they stay locked without anybody to work them. On a real broker under load that was so at one stop in
// forty.
func (w *Worker) receive(
	ctx context.Context, p transport.Poll, due time.Time, take func([]job.Job),
) (n int, err error) {
	open, cancel := context.WithDeadline(context.WithoutCancel(ctx), due.Add(pollMargin))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(time.Until(due.Add(pollGrace)), cancel) })
	defer stop()

	err = w.client.Activate(open, p, func(jobs []job.Job) {
		if len(jobs) == 0 {
			return // Camunda's test gateway sends messages without jobs
		}
		n += len(jobs)
		w.opt.Clock.observe(jobs[0], p.JobTimeout)
		take(jobs)
	})
	return n, err
}

// topology makes a call that no job can be in the way of.
func (w *Worker) topology(ctx context.Context) (transport.Topology, error) {
	ctx, cancel := context.WithTimeout(ctx, pollMargin) // REST ends no call on a dead connection by itself
	defer cancel()
	return w.client.Topology(ctx)
}

// accept sets jobs to work. It releases those that come when the worker is to stop, and those of a broker
// whose clock differs too much from this host's.
func (w *Worker) accept(ctx context.Context, jobs []job.Job) {
	w.slots.acquire(len(jobs))
	switch {
	case ctx.Err() != nil:
		w.release(jobs, stopping)
	case w.opt.Clock.Err() != nil:
		w.release(jobs, clocksDiffer)
	default:
		w.batches.Go(func() { w.work(jobs) })
	}
}
