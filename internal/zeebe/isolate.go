package zeebe

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/job"
)

// A gateway of Zeebe 8.5 cannot deliver a variable that is nested a thousand levels deep. A poll that fetches one is
// never answered, and every job of its batch stays locked until the lock ends; then all of it happens again. One such
// job stops a job type for good.
//
// Isolation finds that job. Jobs are activated lowest key first, and a poll that fetches no variable is always
// answered: it tells the key of the job that is next. That job is handed back and polled for once more, this time with
// its variables. Where that poll is lost, the job is known that is to blame, and it can be failed by its key.
//
// Another worker, or another partition, may come between the two polls. So a job is blamed only when this happens
// twice with the same key; an innocent one would have been worked in between.

const (
	// noVariable is a name that no process variable has.
	noVariable = "analyze-retry: none"
	// prompt is how quick the broker must be just before a poll is lost for the loss to be a job's fault.
	prompt = pollMargin / 4
	// sweep is how late a broker may notice that a lock is over.
	sweep = 2 * time.Second
)

// isolate takes jobs one by one, and looks at each before, until all jobs that were lost have come by once more.
func (w *Worker) isolate(ctx context.Context) {
	w.log.Warn("poll_lost", zap.String("detail",
		"the gateway answers, but not this poll: jobs are taken one by one to find the one that it cannot deliver"))
	comeBack := w.opt.JobTimeout + sweep
	suspects := map[int64]bool{}
	for end := time.Now().Add(comeBack); time.Now().Before(end) && ctx.Err() == nil; {
		next, found := w.peek(ctx)
		if !found {
			continue
		}
		if _, err := w.ask(ctx, poll{1, w.opt.FetchVariables, atOnce}, w.accept); errors.Is(err, errLost) {
			w.blame(next, suspects)
			end = time.Now().Add(comeBack)
		}
	}
	w.log.Info("polling_in_batches_again")
}

// peek returns the job that is next, without its variables, and leaves it where it was.
func (w *Worker) peek(ctx context.Context) (next job.Job, found bool) {
	if _, err := w.slots.wait(ctx, 1); err != nil {
		return next, false
	}
	n, err := w.ask(ctx, poll{1, []string{noVariable}, w.opt.RequestTimeout}, func(_ context.Context, jobs []job.Job) { next = jobs[0] })
	if errors.Is(err, errLost) { // no variable was in the way
		sleep(ctx, w.link.failed(err))
	}
	return next, n > 0 && w.settle(next, job.Release("released: looked at, to find a job that cannot be delivered"))
}

// blame hands a job back that was next when a poll was lost, or makes an incident of it when it was so before.
func (w *Worker) blame(next job.Job, suspects map[int64]bool) {
	if !suspects[next.Key] {
		suspects[next.Key] = true
		w.settle(next, job.Release("released: suspected of being nested too deep to be delivered"))
		return
	}
	w.log.Error("job_cannot_be_delivered", jobFields(next)...)
	w.settle(next, job.Incident("a variable of this job is nested too deep to be delivered to a worker; "+
		"correct the variable, then resolve the incident"))
}

// settle answers a job here and now, and tells whether that worked. If not, the answer is left to the answerers.
func (w *Worker) settle(j job.Job, a job.Answer) bool {
	w.slots.take(1)
	r := reply{j, a, w.answerBy(time.Now())}
	if code := w.send(r, prompt); code != codes.OK {
		w.log.Debug("answer_not_taken_at_once", append(jobFields(j), zap.Stringer("code", code))...)
		w.replies <- r
		return false
	}
	w.slots.give()
	return true
}
