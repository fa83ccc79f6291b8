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
	// pollMargin is how much longer than the gateway may wait the worker waits for the gateway.
	pollMargin = 2 * time.Second
	// pollGrace is how long a fresh poll is let finish when the worker stops: jobs that the gateway has sent already
	// would be lost with a cancelled poll. An old poll waits for jobs that are not there yet.
	pollGrace = 250 * time.Millisecond
	// pollRest keeps a gateway from being asked without a pause that answers empty polls at once: one whose long
	// polling is switched off.
	pollRest = 100 * time.Millisecond

	pollPauseMin, pollPauseMax = 50 * time.Millisecond, 5 * time.Second

	// atOnce, as the patience of a poll, asks for the jobs there are.
	atOnce = time.Duration(-1)
)

// pollJobs takes jobs and sets them to work until ctx ends. The first poll, and the first after a failure, waits for
// no jobs, so that it is soon known whether the gateway answers.
func (w *Worker) pollJobs(ctx context.Context) {
	pause := backoff{least: pollPauseMin, most: pollPauseMax}
	patience := atOnce
	w.link.good = time.Now()
	for {
		free, err := w.slots.wait(ctx, max(1, w.MaxJobsActive/3))
		if err != nil {
			return
		}
		opened := time.Now()
		n, err := w.poll(ctx, poll{free, w.FetchVariables, patience}, func(jobs []job.Job) { w.accept(ctx, jobs) })
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			w.link.succeeded()
			pause.reset()
			if n == 0 && patience != atOnce && time.Since(opened) < pollRest {
				sleep(ctx, pollRest)
			}
			patience = w.RequestTimeout
		case w.lost(ctx, err):
			w.isolate(ctx)
			patience = atOnce
		default:
			w.link.failed(err)
			if status.Code(err) == codes.Unauthenticated {
				w.client.renewToken()
			}
			patience = atOnce
			sleep(ctx, pause.pause())
		}
	}
}

// poll is what one poll asks for: at most so many jobs, with these variables, waited for so long.
type poll struct {
	max      int
	fetch    []string
	patience time.Duration
}

// errLost is a poll that was not answered although its time was up.
var errLost = errors.New("the gateway did not answer the poll")

// poll asks the gateway once. Jobs that come are handed on as they come, also those of a poll that fails then.
func (w *Worker) poll(ctx context.Context, p poll, accept func([]job.Job)) (received int, err error) {
	limit := max(p.patience, 0) + pollMargin
	open, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	opened := time.Now()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(time.Until(opened.Add(pollGrace)), cancel) })
	defer stop()

	stream, err := w.polls.ActivateJobs(open, &pb.ActivateJobsRequest{
		Type:              w.JobType,
		Worker:            w.Name,
		Timeout:           w.JobTimeout.Milliseconds(),
		MaxJobsToActivate: int32(p.max),
		FetchVariable:     p.fetch,
		RequestTimeout:    max(p.patience.Milliseconds(), -1),
	})
	for err == nil {
		var r *pb.ActivateJobsResponse
		if r, err = stream.Recv(); err == nil && len(r.Jobs) > 0 {
			received += len(r.Jobs)
			accept(fromWire(r.Jobs))
		}
	}
	switch {
	case err == io.EOF:
		return received, nil
	case time.Since(opened) >= limit:
		return received, errLost
	default:
		return received, err
	}
}

func fromWire(activated []*pb.ActivatedJob) []job.Job {
	jobs := make([]job.Job, len(activated))
	for i, a := range activated {
		jobs[i] = job.Job{
			Key:                a.Key,
			ProcessInstanceKey: a.ProcessInstanceKey,
			ProcessID:          a.BpmnProcessId,
			ElementID:          a.ElementId,
			Retries:            a.Retries,
			Variables:          a.Variables,
		}
	}
	return jobs
}

// accept takes jobs in hand. Those that come when the worker is to stop are handed back.
func (w *Worker) accept(ctx context.Context, jobs []job.Job) {
	w.slots.take(len(jobs))
	b := batch{jobs: jobs, locked: time.Now().Add(w.JobTimeout)}
	if ctx.Err() != nil {
		w.release(b)
		return
	}
	w.keepers.Go(func() { w.work(b) })
}
