package zeebe

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/job"
)

// batch is jobs that came together, and until when they are locked. That is reckoned from when they were received, by
// this machine's monotonic clock: the broker's clock may be another one.
type batch struct {
	jobs   []job.Job
	locked time.Time
}

func (b batch) one(i int) batch { return batch{b.jobs[i : i+1 : i+1], b.locked} }

// reportMargin is the end of the lock that is kept for the answers. It also covers the way of the jobs from the broker.
func (w *Worker) reportMargin() time.Duration { return w.JobTimeout / 10 }

// hangGrace is how much later than its deadline a handler may return.
func (w *Worker) hangGrace() time.Duration { return w.reportMargin() / 4 }

// work hands a batch to the handler and its answers on to be sent. Where the handler fails, each job of the batch is
// handed over alone, so that only those suffer that are to blame.
func (w *Worker) work(b batch) {
	answers, fault := w.call(b)
	switch {
	case fault == nil:
		for i, j := range b.jobs {
			if answers[i].Kind() == 0 {
				w.log.Error("handler gave no answer", jobFields(j)...)
				answers[i] = job.Fail(j.Retries-1, "the worker's handler gave no answer for this job")
			}
			w.reply(b, j, answers[i])
		}
	case w.handling.Err() != nil:
		w.release(b)
	case len(b.jobs) > 1:
		w.log.Warn("handler failed on a batch: its jobs are handed over one by one",
			append(fault.fields, zap.Int("jobs", len(b.jobs)), zap.String("fault", fault.text))...)
		for i := range b.jobs {
			w.keepers.Go(func() { w.work(b.one(i)) })
		}
	default:
		j := b.jobs[0]
		w.log.Error("handler failed on a job", append(append(jobFields(j), fault.fields...), zap.String("fault", fault.text))...)
		w.reply(b, j, job.Fail(j.Retries-1, "the worker's handler "+fault.text))
	}
}

// release hands all jobs of a batch back, with their retries unchanged.
func (w *Worker) release(b batch) {
	for _, j := range b.jobs {
		w.reply(b, j, job.Release("released: the worker is stopping"))
	}
}

func jobFields(j job.Job) []zap.Field {
	return []zap.Field{zap.Int64("job_key", j.Key), zap.Int64("process_instance_key", j.ProcessInstanceKey)}
}

// fault is what a handler did wrong. Its text is for the broker and holds no data; the fields are for the log.
type fault struct {
	text   string
	fields []zap.Field
}

// call lets the handler handle a batch and waits for it until its deadline and a little longer. A handler that is not
// back by then is left to itself, as nothing can stop it; what it answers later is not used.
func (w *Worker) call(b batch) ([]job.Answer, *fault) {
	deadline := time.Now().Add(w.HandlerTimeout)
	if latest := b.locked.Add(-w.reportMargin()); deadline.After(latest) {
		deadline = latest
	}
	ctx, cancel := context.WithDeadline(w.handling, deadline)
	defer cancel()

	type outcome struct {
		answers []job.Answer
		fault   *fault
	}
	returned := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() { returned <- o }()
		o.answers, o.fault = guard(ctx, w.Handler, b.jobs)
	}()
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
		text:   fmt.Sprintf("did not return within %v", w.HandlerTimeout),
		fields: []zap.Field{zap.Int64("abandoned", w.abandoned.Add(1))},
	}
}

// guard calls the handler and makes a fault of a panic. The value of a panic may hold personal data: of values, only
// those of the Go runtime are logged, and of others the type.
func guard(ctx context.Context, handler job.Handler, jobs []job.Job) (answers []job.Answer, f *fault) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover() // nil where the handler left by runtime.Goexit
		f = &fault{text: fmt.Sprintf("panicked (%T)", v), fields: []zap.Field{zap.StackSkip("stack", 1)}}
		if err, ok := v.(runtime.Error); ok {
			f.fields = append(f.fields, zap.String("panic", err.Error()))
		}
	}()
	answers = handler.Handle(ctx, jobs)
	returned = true
	if len(answers) != len(jobs) {
		// Which answer is for which job cannot be told.
		return nil, &fault{text: fmt.Sprintf("gave %d answers for %d jobs", len(answers), len(jobs))}
	}
	return answers, nil
}
