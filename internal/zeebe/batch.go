package zeebe

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/job"
)

// batch is jobs that came together, and until when their answers are of use.
type batch struct {
	jobs     []job.Job
	answerBy time.Time
}

// one is the batch of the i-th job alone.
func (b batch) one(i int) batch { return batch{b.jobs[i : i+1 : i+1], b.answerBy} }

// The lock of a job is reckoned from when the job was received, by this machine's monotonic clock, because the broker's
// clock may tell another time. Of JobTimeout, a twentieth is for the way from the broker and back, and a tenth for
// sending the answers.

// answerBy is when the lock of jobs received at a time ends for this worker. Later than that, an answer might hit a
// job that another worker holds by then.
func (w *Worker) answerBy(received time.Time) time.Time {
	return received.Add(w.opt.JobTimeout * 19 / 20)
}

// handlerTimeout bounds one call of the handler. It is cut to half of JobTimeout where that is less, so that a batch that
// hangs can be handed over once more, job by job.
const handlerTimeout = 5 * time.Second

// handleBy is when a handler that is called now must be back.
func (w *Worker) handleBy(b batch) time.Time {
	own, latest := time.Now().Add(min(handlerTimeout, w.opt.JobTimeout/2)), b.answerBy.Add(-w.opt.JobTimeout/10)
	if own.Before(latest) {
		return own
	}
	return latest
}

// hangGrace is how much later than its deadline a handler may be back.
func (w *Worker) hangGrace() time.Duration { return w.opt.JobTimeout / 40 }

// What a handler did with a batch: it handed jobs back, or not.
const (
	nothing = iota
	worked
	declined
)

// work hands a batch to the handler and its answers on to be sent. Where the handler fails, each job of the batch is
// handed over alone, so that only those suffer that are to blame.
func (w *Worker) work(b batch) {
	answers, fault := w.call(b)
	if fault != nil && w.handling.Err() == nil {
		w.opt.Observer.HandlerFailed()
	}
	switch {
	case fault == nil:
		w.lately.Store(verdict(answers)) // before the first of them is there again
		for i, j := range b.jobs {
			a := answers[i]
			if a.Kind() == 0 {
				w.log.Error("handler_gave_no_answer", jobFields(j)...)
				a = job.Fail(j.Retries-1, "the worker's handler gave no answer for this job")
			}
			w.reply(b, j, a)
		}
	case w.handling.Err() != nil:
		w.release(b, stopping)
	case len(b.jobs) > 1:
		w.log.Warn("handler_failed_on_batch",
			append(fault.fields, zap.String("fault", fault.text), zap.Int("handedOverOneByOne", len(b.jobs)))...)
		for i := range b.jobs {
			w.keepers.Go(func() { w.work(b.one(i)) })
		}
	default:
		j := b.jobs[0]
		w.log.Error("handler_failed_on_job", append(append(jobFields(j), zap.String("fault", fault.text)), fault.fields...)...)
		w.reply(b, j, job.Fail(j.Retries-1, "the worker's handler "+fault.text))
	}
}

// verdict is what the handler did with a batch.
func verdict(answers []job.Answer) int32 {
	if slices.ContainsFunc(answers, func(a job.Answer) bool { return a.Kind() == job.KindRelease }) {
		return declined
	}
	return worked
}

// Why jobs are handed back, as an operator reads it at the job.
const (
	stopping     = "released: the worker is stopping"
	clocksDiffer = "released: the clocks of worker and broker differ too much for a decision"
)

// release hands all jobs of a batch back, with their retries unchanged.
func (w *Worker) release(b batch, why string) {
	for _, j := range b.jobs {
		w.reply(b, j, job.Release(why))
	}
}

func jobFields(j job.Job) []zap.Field {
	return []zap.Field{zap.Int64("jobKey", j.Key), zap.Int64("processInstanceKey", j.ProcessInstanceKey)}
}

// fault is what a handler did wrong. Its text is for the broker and holds no data; the fields are for the log.
type fault struct {
	text   string
	fields []zap.Field
}

// call lets the handler handle a batch and waits for it until its deadline and a little longer. A handler that is not
// back by then is left to itself, as nothing can stop it; what it answers later is not used.
func (w *Worker) call(b batch) ([]job.Answer, *fault) {
	ctx, cancel := context.WithDeadline(w.handling, w.handleBy(b))
	defer cancel()

	returned := make(chan outcome, 1)
	go handle(ctx, w.opt.Handler, b.jobs, returned)
	select {
	case o := <-returned:
		return o.answers, o.fault
	case <-ctx.Done():
	}
	select {
	case o := <-returned:
		return o.answers, o.fault
	case <-time.After(w.hangGrace()):
	case <-w.handling.Done():
	}
	return nil, &fault{
		text:   "did not return in time",
		fields: []zap.Field{zap.Int64("abandoned", w.abandoned.Add(1))},
	}
}

// outcome is what a call of the handler came to: as many answers as there were jobs, or a fault.
type outcome struct {
	answers []job.Answer
	fault   *fault
}

// handle calls the handler and makes a fault of a panic. The value of a panic may hold personal data: it is logged
// where it is one of the Go runtime's; of another the type is told.
func handle(ctx context.Context, handler job.Handler, jobs []job.Job, returned chan<- outcome) {
	var o outcome
	back := false
	defer func() {
		if !back {
			v := recover() // nil where the handler ended its goroutine
			o.fault = &fault{text: fmt.Sprintf("panicked (%T)", v), fields: []zap.Field{zap.StackSkip("stack", 1)}}
			if err, ok := v.(runtime.Error); ok {
				o.fault.fields = append(o.fault.fields, zap.String("panic", err.Error()))
			}
		}
		returned <- o
	}()
	o.answers = handler.Handle(ctx, jobs)
	back = true
	if len(o.answers) != len(jobs) { // which answer is for which job cannot be told
		o.fault = &fault{text: fmt.Sprintf("gave %d answers for %d jobs", len(o.answers), len(jobs))}
	}
}
