package zeebe

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/job"
)

const (
	// pollMargin is how much longer the worker waits for the gateway than it lets the gateway wait for jobs.
	pollMargin = 2 * time.Second
	// pollGrace is how late the gateway may answer a poll when the worker stops.
	pollGrace = 250 * time.Millisecond
	// pollRest keeps a gateway that answers empty polls at once, its long polling being off, from being asked without end.
	pollRest = 100 * time.Millisecond

	// With the wait between two dials (reconnectMax) this bounds how long a gateway that is back waits for its first poll: 10
	// seconds at most.
	pollPauseMin, pollPauseMax = 50 * time.Millisecond, 3 * time.Second

	// defaultTenant is where all jobs are on a cluster without tenants.
	defaultTenant = "<default>"

	// While the clocks differ too much for a decision, one job is taken now and then, to see whether they still do.
	clockPauseMin, clockPauseMax = time.Second, 10 * time.Second

	// atOnce is the patience of a poll that takes the jobs there are and does not wait for any.
	atOnce = -time.Millisecond
)

// errLost is a poll that the gateway did not answer in time, although it answers other calls.
var errLost = errors.New("poll lost")

// poll is what one poll asks for: at most so many jobs, with these variables, waited for so long, locked for so long.
type poll struct {
	max            int
	fetch          []string
	patience, lock time.Duration
}

// pollJobs takes jobs and sets them to work until ctx ends. The first poll, and the first one after a failure, does not
// wait for jobs, so that it is soon known whether the gateway answers.
func (w *Worker) pollJobs(ctx context.Context) {
	w.link.good = time.Now()
	pause := backoff{least: pollPauseMin, most: pollPauseMax}
	wrongClock := backoff{least: clockPauseMin, most: clockPauseMax}
	for patience := atOnce; ; {
		// Large batches cost the store fewer transactions and the gateway fewer polls. A third of the slots is enough
		// for the time until the next batch is there.
		free, err := w.slots.wait(ctx, max(1, w.opt.MaxJobsActive*7/10))
		if err != nil || w.opt.Hold(ctx) != nil {
			return
		}
		switch w.lately.Swap(nothing) {
		case declined:
			sleep(ctx, pause.next()) // the same jobs would come back at once, without end
		case worked:
			pause.reset()
		}
		if w.opt.Clock.Err() == nil {
			wrongClock.reset()
		} else {
			// What was handed back can be had at once. One job shows the time as well as many do.
			sleep(ctx, wrongClock.next())
			free = 1
			if ctx.Err() != nil {
				return
			}
		}
		_, err = w.ask(ctx, poll{free, w.opt.FetchVariables, patience, w.opt.JobTimeout}, w.accept)
		switch {
		case err == nil:
			patience = w.opt.RequestTimeout
		case errors.Is(err, errLost):
			w.isolate(ctx)
			patience = atOnce
		default:
			patience = atOnce
		}
	}
}

// ask polls once, takes note of how that went and, if it failed, pauses. Jobs are passed on as they come, also those of
// a poll that fails then.
func (w *Worker) ask(ctx context.Context, p poll, accept func(context.Context, []job.Job)) (received int, err error) {
	opened := time.Now()
	due := opened.Add(max(p.patience, 0))
	received, err = w.receive(ctx, p, due, accept)
	switch {
	case err == nil:
		w.opt.Observer.Polled(codes.OK.String())
		w.link.succeeded()
		if received == 0 && p.patience != atOnce {
			sleep(ctx, time.Until(opened.Add(pollRest)))
		}
		return received, nil
	case ctx.Err() != nil:
		return received, err
	}
	w.opt.Observer.Polled(status.Code(err).String())
	if status.Code(err) == codes.DeadlineExceeded && time.Since(due) > pollMargin/2 && w.gatewayAnswers(ctx) {
		return received, errLost
	}
	w.client.rest(ctx, w.link.failed(err))
	return received, err
}

// receive polls once and passes the jobs on. The poll is due when the gateway's own patience with it is over.
//
// A worker that stops does not cancel an open poll: a gateway that has just sent jobs does not notice, and they stay
// locked without anybody to work them. On a real broker under load that was so at one stop in forty.
func (w *Worker) receive(ctx context.Context, p poll, due time.Time, accept func(context.Context, []job.Job)) (n int, err error) {
	open, cancel := context.WithDeadline(context.WithoutCancel(ctx), due.Add(pollMargin))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(time.Until(due.Add(pollGrace)), cancel) })
	defer stop()

	stream, err := w.client.gateway.ActivateJobs(open, &pb.ActivateJobsRequest{
		Type:              w.opt.JobType,
		Worker:            w.opt.Name,
		Timeout:           p.lock.Milliseconds(),
		MaxJobsToActivate: int32(p.max), //nolint:gosec // a number of slots
		FetchVariable:     p.fetch,
		RequestTimeout:    p.patience.Milliseconds(),
		TenantIds:         []string{defaultTenant},
	})
	if err != nil {
		return 0, err
	}
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if len(r.Jobs) == 0 { // Camunda's test gateway sends such
			continue
		}
		n += len(r.Jobs)
		w.opt.Clock.observe(r.Jobs, p.lock)
		w.opt.Observer.Activated(len(r.Jobs))
		accept(ctx, fromWire(r.Jobs))
	}
}

// gatewayAnswers reports whether the gateway answers a question that no job can be in the way of.
func (w *Worker) gatewayAnswers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pollMargin)
	defer cancel()
	_, err := w.client.Topology(ctx)
	return err == nil
}

func fromWire(activated []*pb.ActivatedJob) []job.Job {
	jobs := make([]job.Job, len(activated))
	now := time.Now()
	for i, a := range activated {
		jobs[i] = job.Job{
			Key:                a.Key,
			ProcessInstanceKey: a.ProcessInstanceKey,
			ProcessID:          a.BpmnProcessId,
			ElementID:          a.ElementId,
			Retries:            a.Retries,
			Headers:            a.CustomHeaders,
			Variables:          a.Variables,
			Received:           now,
		}
	}
	return jobs
}

// accept takes jobs in hand and sets them to work. Those that come when the worker is to stop are handed back, and so are
// those of a broker whose clock is too far from this host's.
func (w *Worker) accept(ctx context.Context, jobs []job.Job) {
	w.slots.take(len(jobs))
	b := batch{jobs, w.answerBy(time.Now())}
	switch {
	case ctx.Err() != nil:
		w.release(b, stopping)
		return
	case w.opt.Clock.Err() != nil:
		w.release(b, clocksDiffer)
		return
	}
	w.keepers.Go(func() { w.work(b) })
}
