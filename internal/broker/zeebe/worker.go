// Package zeebe is the job loop: it takes jobs from a Camunda 8 cluster, calls a [job.Handler] and sends its
// answers. It knows jobs, not claims, and neither gRPC nor REST: that is behind [transport.Client].
// docs/decisions.md has the reasons for a loop of its own.
package zeebe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/ops/outage"
	"hospital.example/analyze-retry/internal/text"
)

// Options configure a worker. All are required.
type Options struct {
	// Poll says which jobs to take, for how long. It fetches exactly the variables that the handler reads: a
	// foreign one that the gateway cannot deliver would stop the whole job type. Max and Wait are the loop's.
	transport.Poll
	// Handler decides the answers. It is called for several batches at once.
	Handler job.Handler
	// MaxJobsActive is how many jobs may be active: received and not yet answered.
	MaxJobsActive int
	// ShutdownTimeout is how long Run lets handlers and answers finish when it is to stop.
	ShutdownTimeout time.Duration
	// Hold is called before each poll. It returns when jobs may be taken, and at the latest when its context
	// ends.
	Hold func(context.Context) error
	// Clock reports whether the clocks of host and broker agree well enough for a decision; the workers of a
	// process share it.
	Clock    *Clock
	Observer Observer
	// Language is the language of the incidents that the worker raises by itself.
	Language text.Language
	// Logger gets neither variables nor the gateway's own texts about answers.
	Logger *zap.Logger
}

// Observer observes what the worker and the broker exchange. Its methods must not block.
type Observer interface {
	// Polled is called for every poll that ended by itself, with the name of its gRPC code: OK if it
	// succeeded.
	Polled(code string)
	// HandlerFailed is called for every call of the handler that panicked or did not return in time.
	HandlerFailed()
	// Answered is called once for every job that is answered, with the answer and its result.
	Answered(answer job.Answer, result job.Result)
}

// releaseTimeout is how long after the shutdown timeout Run has for releasing the jobs that are still
// unanswered.
const releaseTimeout = time.Second

// Worker works the jobs of one type. It is made by NewWorker.
type Worker struct {
	opt     Options
	client  transport.Client
	log     *zap.Logger
	words   *text.Printer  // of incidents
	gateway outage.Tracker // by how the polls fare
	reached atomic.Bool    // the gateway has answered a poll
	answers outage.Tracker // by whether they get through
	slots   slots

	// Active jobs are handled and answered beyond the end of Run's context: handling is aborted after the
	// shutdown timeout, answering is cut off releaseTimeout later.
	handling, answering context.Context
	abort, cut          context.CancelFunc

	batches sync.WaitGroup // one goroutine for each
	replies chan reply     // has room for as many active jobs as are asked for
}

// NewWorker makes a worker.
func NewWorker(client transport.Client, o Options) *Worker {
	log := o.Logger.With(zap.String("jobType", o.JobType))
	w := &Worker{
		opt:    o,
		log:    log,
		words:  text.In(o.Language),
		client: client,
		gateway: outage.Tracker{
			Log:       log,
			Lost:      "gateway_lost",
			Back:      "gateway_back",
			Level:     zapcore.WarnLevel,
			Tolerance: lostAfter,
			Backoff:   pollBackoff,
			Detail:    "jobs wait at the broker until it is back; worker doctor says how the address is read",
		},
		answers: outage.Tracker{
			Log:       log,
			Lost:      "answers_lost",
			Back:      "answers_back",
			Level:     zapcore.ErrorLevel,
			Tolerance: o.JobTimeout,     // one answer that is given up may be chance
			Memory:    3 * o.JobTimeout, // jobs whose answers are lost come again sooner
			Detail:    "look for a proxy that lets only polls pass; docs/runbooks.md#what-to-look-at",
		},
		slots:   slots{max: int64(o.MaxJobsActive), freed: make(chan struct{}, 1)},
		replies: make(chan reply, o.MaxJobsActive),
	}
	w.handling, w.abort = context.WithCancel(context.Background())
	w.answering, w.cut = context.WithCancel(context.Background())
	return w
}

// Err returns nil while polls succeed: from the first poll that the gateway answers, which does not wait for
// jobs, until polls have failed for a second. [transport.Topology] shows whether the broker behind the
// gateway has a leader.
func (w *Worker) Err() error {
	if err := w.gateway.Err(); err != nil {
		return err
	}
	if !w.reached.Load() {
		return errors.New("no poll has been answered yet")
	}
	return nil
}

// AnswersErr returns an error while no answer gets through: none was taken or refused for longer than a lock
// lasts, and one was given up within the last three. Without jobs it is nil, as nothing is known then.
func (w *Worker) AnswersErr() error { return w.answers.Err() }

// ActiveJobs returns how many jobs are received and not yet answered.
func (w *Worker) ActiveJobs() int { return w.slots.inUse() }

// Run takes and works jobs until ctx ends. Then it takes no more, releases those that the handler was not
// given yet, and lets the others finish within the shutdown timeout; what is unanswered then is released
// within one second more. It returns nil if no job is left locked, and otherwise an error with their number.
// It may be called once.
func (w *Worker) Run(ctx context.Context) error {
	var answerers sync.WaitGroup
	for range min(maxAnswering, w.opt.MaxJobsActive) {
		answerers.Go(w.answerJobs)
	}
	context.AfterFunc(ctx, func() {
		time.AfterFunc(w.opt.ShutdownTimeout, w.abort)
		time.AfterFunc(w.opt.ShutdownTimeout+releaseTimeout, w.cut)
	})
	w.pollJobs(ctx)

	_, _ = w.slots.wait(w.answering, w.opt.MaxJobsActive) // for all of them, or until answering is cut off
	w.abort()
	w.cut()
	w.batches.Wait()
	close(w.replies)
	answerers.Wait()
	if n := w.slots.inUse(); n > 0 {
		const left = "stopped with %d jobs unanswered: the broker gives them out again within %v"
		return fmt.Errorf(left, n, w.opt.JobTimeout)
	}
	return nil
}

// slots counts the active jobs: received and not yet settled. One goroutine at a time may wait.
type slots struct {
	max   int64
	used  atomic.Int64
	freed chan struct{} // holds one signal, sent when one is free again
}

// acquire takes n slots, more than are free if need be.
func (s *slots) acquire(n int) { s.used.Add(int64(n)) }

// release frees one slot.
func (s *slots) release() {
	s.used.Add(-1)
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

func (s *slots) inUse() int { return int(s.used.Load()) }

// wait waits until n slots or more are free and returns how many are. It fails when ctx ends, or has ended.
func (s *slots) wait(ctx context.Context, n int) (free int, err error) {
	for ctx.Err() == nil {
		if free = int(s.max) - s.inUse(); free >= n {
			return free, nil
		}
		select {
		case <-s.freed:
		case <-ctx.Done():
		}
	}
	return 0, ctx.Err()
}
