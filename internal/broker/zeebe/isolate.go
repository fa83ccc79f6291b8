package zeebe

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/job"
)

// A gateway of Zeebe 8.5 cannot deliver a variable that is nested a thousand levels deep. A poll that fetches
// one is never answered, and every job of its batch stays locked until the lock ends; then all of it happens
// again. One such job stops a job type for good. Over REST the poll fails at once, and all else is the same.
//
// Isolation finds that job. Jobs are activated lowest key first, and a poll that fetches no variable is
// always answered: it shows the key of the job that is next. That job is released, and then one job is polled
// for, this time with its variables. If that poll is lost, the job that was next is locked, and can be failed
// by its key.
//
// A cluster of several partitions has as many jobs that are next, and the gateway begins each poll with
// another partition, so all of them are peeked at before the poll, and after it only the one that was taken
// is locked. Another worker may have taken a job in between, so a job is blamed only when this happens twice;
// an innocent one would have been worked by then. The job is failed when it is peeked at the next time.

const (
	// noVariable is a name that no process variable has.
	noVariable = "analyze-retry: none"
	// settleTimeout bounds the calls about one job. A broker that is slower than that may have lost a poll by
	// itself, and not because of a job.
	settleTimeout = pollMargin / 4
	// certain is how many lost polls must have locked a job for it to be to blame.
	certain = 2
	// sweep is how late a broker may notice that a lock is over.
	sweep = 2 * time.Second
)

// isolate takes jobs one by one, and peeks at each before, until all jobs that were lost have come by once
// more.
func (w *Worker) isolate(ctx context.Context) {
	w.log.Warn("poll_lost")                     // although the gateway answers
	lock := max(w.opt.JobTimeout, 2*pollMargin) // it must outlive the lost poll, to show which job it is on
	suspects := map[int64]int{}                 // how many lost polls locked a job
	end := time.Now().Add(lock + sweep)
	for time.Now().Before(end) && w.opt.Hold(ctx) == nil && w.opt.Clock.Err() == nil && ctx.Err() == nil {
		next := w.peek(ctx, suspects)
		if len(next) == 0 {
			continue
		}
		single := w.request(1, noWait)
		single.JobTimeout = lock
		err := w.poll(ctx, single, func(jobs []job.Job) { w.accept(ctx, jobs) })
		if !errors.Is(err, errLost) {
			continue
		}
		for _, j := range next {
			if j.Received = time.Now(); w.isLocked(ctx, j) {
				suspects[j.Key]++
				w.settle(j, j.Release("released: suspected of being nested too deep to be delivered"))
			}
		}
		end = time.Now().Add(lock + sweep)
	}
	w.log.Info("polling_in_batches_again")
}

// peek returns the job that is next on each partition, without its variables, and releases it. It leaves out
// those that may be another worker's by now, and those that are to blame: they become incidents.
func (w *Worker) peek(ctx context.Context, suspects map[int64]int) (released []job.Job) {
	began := time.Now()
	cluster, err := w.topology(ctx)
	if err != nil {
		w.pause(ctx, began, err)
		return nil
	}
	if _, err := w.slots.wait(ctx, 1); err != nil {
		return nil
	}
	for _, j := range w.next(ctx, cluster.Partitions) {
		if suspects[j.Key] >= certain {
			w.log.Error("job_cannot_be_delivered", jobFields(j)...)
			w.settle(j, job.Incident(w.words.Sprintf("this job cannot be delivered to a worker, most likely "+
				"because a variable is nested too deep; correct the variable, then resolve the incident")))
			delete(suspects, j.Key)
		} else if w.settle(j, j.Release("released: looked at, to find a job that cannot be delivered")) {
			released = append(released, j)
		}
	}
	return released
}

// next takes the job that is next on each partition, without its variables.
func (w *Worker) next(ctx context.Context, partitions int) (next []job.Job) {
	// A job that comes at the end of the wait must be left time to be released in.
	for wait := min(longPoll, w.opt.JobTimeout/2); len(next) < partitions; wait = noWait {
		opened, before := time.Now(), len(next)
		bare := w.request(1, wait)
		bare.Fetch = []string{noVariable}
		err := w.poll(ctx, bare, func(jobs []job.Job) {
			for _, j := range jobs {
				j.Received = opened // its lock may be that old
				next = append(next, j)
			}
		})
		if errors.Is(err, errLost) { // no variable was in the way
			w.pause(ctx, opened, err)
		}
		if len(next) == before {
			break
		}
	}
	return next
}

// isLocked reports whether some worker holds a job. The broker extends a lock only if there is one, and does
// so: it lasts for JobTimeout from now.
func (w *Worker) isLocked(ctx context.Context, j job.Job) bool {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	return w.client.ExtendLock(ctx, j, w.opt.JobTimeout) == nil
}

// settle answers a job at once, and reports whether the broker accepted that. If not, it leaves the answer to
// the answerers. Like any other it may be sent only while the lock lasts.
func (w *Worker) settle(j job.Job, a job.Answer) (accepted bool) {
	w.slots.acquire(1)
	r := reply{j, a}
	left := time.Until(w.answerBy(j))
	if left > 0 && w.send(r, min(settleTimeout, left)) == codes.OK {
		w.opt.Observer.Answered(a, job.Accepted)
		w.slots.release()
		return true
	}
	w.replies <- r
	return false
}
