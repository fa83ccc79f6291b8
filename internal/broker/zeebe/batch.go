package zeebe

import (
	"context"
	"runtime"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/text"
)

// A job's lock counts from when the job was received, by this host's monotonic clock, because the broker's
// clock may differ. Of JobTimeout, a twentieth is for the way from the broker and back, and a tenth for
// sending the answers.

// answerBy returns when the lock of a job ends for this worker. A later answer might hit a job that another
// worker holds by then.
func (w *Worker) answerBy(j job.Job) time.Time { return j.Received.Add(w.opt.JobTimeout * 19 / 20) }

// handlerTimeout bounds one call of the handler. Half of JobTimeout, if less, bounds it too, so that the jobs
// of a batch that hangs can be handled once more, one by one.
const handlerTimeout = 5 * time.Second

// work calls the handler with jobs that came together and queues the answers. If the handler fails, it is
// called with each job alone, so that only those suffer that are to blame.
func (w *Worker) work(jobs []job.Job) {
	o := w.call(jobs)
	failed := o.answers == nil
	if failed && w.handling.Err() == nil {
		w.opt.Observer.HandlerFailed()
	}
	switch {
	case !failed:
		for i, j := range jobs {
			w.replies <- reply{j, o.answers[i]}
		}
	case w.handling.Err() != nil:
		w.release(jobs, stopping)
	case len(jobs) > 1:
		w.log.Warn("handler_failed_on_batch", append(o.fields(), zap.Int("jobs", len(jobs)))...)
		for i := range jobs {
			w.batches.Go(func() { w.work(jobs[i : i+1 : i+1]) })
		}
	default:
		j := jobs[0]
		w.log.Error("handler_failed_on_job", append(o.fields(), jobFields(j)...)...)
		w.replies <- reply{j, job.Fail(j.Retries-1, w.words.Sprintf("the worker's handler %s", o.fault))}
	}
}

// Why jobs are released, as an operator reads it at the job.
const (
	stopping     = "released: the worker is stopping"
	clocksDiffer = "released: the clocks of worker and broker differ too much for a decision"
)

// release releases jobs, with their retries unchanged.
func (w *Worker) release(jobs []job.Job, why string) {
	for _, j := range jobs {
		w.replies <- reply{j, j.Release(why)}
	}
}

func jobFields(j job.Job) []zap.Field {
	return []zap.Field{zap.Int64("jobKey", j.Key), zap.Int64("processInstanceKey", j.ProcessInstanceKey)}
}

// outcome is what came of a call of the handler: as many answers as there were jobs, or none and what went
// wrong.
type outcome struct {
	answers []job.Answer
	fault   text.Message // for the broker, without data
	details []zap.Field  // for the log
}

func (o *outcome) fields() []zap.Field { return append(o.details, zap.Stringer("fault", o.fault)) }

// call calls the handler and waits until a little after its deadline. A handler that has not returned by then
// is left to itself, as nothing can stop it; what it answers later is not used.
func (w *Worker) call(jobs []job.Job) outcome {
	left := time.Until(w.answerBy(jobs[0])) - w.opt.JobTimeout/10
	limit := min(handlerTimeout, w.opt.JobTimeout/2, left)
	ctx, cancel := context.WithTimeout(w.handling, limit)
	defer cancel()

	returned := make(chan outcome, 1)
	go handle(ctx, w.opt.Handler, jobs, returned)
	select {
	case o := <-returned:
		return o
	case <-time.After(limit + w.opt.JobTimeout/40): // a handler may return that much later
	case <-w.handling.Done():
	}
	return outcome{fault: text.Messagef("did not return in time")}
}

// handle calls the handler and recovers its panic. The value of a panic may hold personal data: it is logged
// only if it is one of the Go runtime's; of another the type is.
func handle(ctx context.Context, handler job.Handler, jobs []job.Job, returned chan<- outcome) {
	var o outcome
	defer func() {
		if o.answers == nil {
			v := recover() // nil where the handler ended its goroutine
			o.fault, o.details = text.Messagef("panicked (%T)", v), []zap.Field{zap.StackSkip("stack", 1)}
			if err, ok := v.(runtime.Error); ok {
				o.details = append(o.details, zap.String("panic", err.Error()))
			}
		}
		returned <- o
	}()
	o.answers = handler(ctx, jobs)
}
