package zeebe

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/job"
)

// Options say what a worker works and within which bounds. A zero duration or number stands for its default.
type Options struct {
	// JobType is the job type to work. Required.
	JobType string
	// FetchVariables names the variables to fetch: exactly those that the handler reads. Required, because a foreign
	// variable that the gateway cannot deliver would stop the whole job type.
	FetchVariables []string
	// Handler decides the answers. Required. It is called for several batches at once.
	Handler job.Handler
	// Name is the worker's name in the broker's records. Defaults to the job type.
	Name string
	// MaxJobsActive is how many jobs may be in hand: received and not yet answered. Defaults to 50.
	MaxJobsActive int
	// JobTimeout is how long the broker locks a job for this worker. Defaults to 10 seconds.
	JobTimeout time.Duration
	// RequestTimeout is how long a poll waits at the gateway for a job, and so about how long an idle worker needs to
	// stop. Defaults to 1 second: the gateway answers an empty poll without asking the broker, so that longer ones save
	// little, and each answer shows that the way to the gateway is open.
	RequestTimeout time.Duration
	// ShutdownTimeout is how long Run lets handlers and answers finish when it is to stop. Defaults to 8 seconds.
	ShutdownTimeout time.Duration
	// Hold is waited for before each poll: it returns when jobs may be taken, and at the latest when its context ends.
	// Defaults to taking jobs at any time.
	Hold func(context.Context) error
	// Clock reports whether the clocks of host and broker agree well enough for a decision; the workers of a process share
	// it. Defaults to one of its own.
	Clock *Clock
	// Observer defaults to none.
	Observer Observer
	// Logger defaults to none. What it is told holds neither variables nor the gateway's own texts about answers.
	Logger *zap.Logger
}

// Observer is told how the worker and the broker get along. Its methods must not block.
type Observer interface {
	// Polled is called for every poll that ended by itself, with the name of its gRPC code: OK where it came through.
	Polled(code string)
	// Activated is called for jobs that came together.
	Activated(jobs int)
	// HandlerFailed is called for every call of the handler that panicked, or did not come back in time.
	HandlerFailed()
	// Answered is called once for every job that is answered, with its key, the answer and the answer's result.
	Answered(jobKey int64, answer job.Answer, result job.Result)
}

// nobody is the observer of those who have none.
type nobody struct{}

func (nobody) Polled(string)                          {}
func (nobody) Activated(int)                          {}
func (nobody) HandlerFailed()                         {}
func (nobody) Answered(int64, job.Answer, job.Result) {}

// withDefaults fills in what is not given.
func (o Options) withDefaults() Options {
	switch {
	case o.JobType == "":
		panic("zeebe: Options.JobType is empty")
	case len(o.FetchVariables) == 0:
		panic("zeebe: Options.FetchVariables names no variable, which would fetch them all")
	case o.Handler == nil:
		panic("zeebe: Options.Handler is nil")
	}
	if o.Name == "" {
		o.Name = o.JobType
	}
	if o.MaxJobsActive <= 0 {
		o.MaxJobsActive = 50
	}
	if o.Hold == nil {
		o.Hold = func(ctx context.Context) error { return ctx.Err() }
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	if o.Clock == nil {
		o.Clock = NewClock(0, time.Now, o.Logger)
	}
	for _, d := range []struct {
		value     *time.Duration
		otherwise time.Duration
	}{
		{&o.JobTimeout, 10 * time.Second},
		{&o.RequestTimeout, time.Second},
		{&o.ShutdownTimeout, 8 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.otherwise
		}
	}
	return o
}

// lastCall is how long after the shutdown timeout Run has for handing back what is unanswered.
const lastCall = time.Second

// Worker works the jobs of one type. It is made by NewWorker.
type Worker struct {
	opt    Options
	client *Client
	log    *zap.Logger
	link   link
	slots  *slots

	// Jobs in hand are handled and answered beyond the end of Run's context: handling is aborted when the shutdown
	// timeout is over, answering is cut off when the last call is.
	handling, answering context.Context
	abort, cut          context.CancelFunc

	keepers   sync.WaitGroup // one goroutine for each batch
	replies   chan reply     // has room for every job in hand
	abandoned atomic.Int64   // handler calls that did not come back in time
	lately    atomic.Int32   // what the handler did since it was last asked: nothing, worked or declined
}

// NewWorker makes a worker. It panics where a required option is missing.
func NewWorker(client *Client, options Options) *Worker {
	o := options.withDefaults()
	w := &Worker{
		opt:     o,
		log:     o.Logger.With(zap.String("jobType", o.JobType)),
		client:  client,
		slots:   newSlots(o.MaxJobsActive),
		replies: make(chan reply, o.MaxJobsActive),
	}
	w.link = link{log: w.log, pause: backoff{least: pollPauseMin, most: pollPauseMax}}
	w.handling, w.abort = context.WithCancel(context.Background())
	w.answering, w.cut = context.WithCancel(context.Background())
	return w
}

// Connected reports whether the last polls came through. It turns true with the first poll that the gateway answers,
// which does not wait for jobs, and false when polls have failed for a second. Whether the broker behind the gateway
// has a leader is for Topology to say.
func (w *Worker) Connected() bool { return w.link.up.Load() }

// InHand is how many jobs are in hand: received and not yet answered.
func (w *Worker) InHand() int { return w.slots.inHand() }

// Run takes and works jobs until ctx ends. Then it takes no more, hands back those that the handler was not given yet,
// and lets the others finish within the shutdown timeout; what is unanswered then is handed back within one second more.
// It returns nil when no job is left locked, and otherwise an error that says how many are. It may be called once.
func (w *Worker) Run(ctx context.Context) error {
	var answerers sync.WaitGroup
	for range min(maxAnswering, w.opt.MaxJobsActive) {
		answerers.Go(w.answerJobs)
	}
	context.AfterFunc(ctx, func() {
		time.AfterFunc(w.opt.ShutdownTimeout, w.abort)
		time.AfterFunc(w.opt.ShutdownTimeout+lastCall, w.cut)
	})
	w.pollJobs(ctx)

	_, _ = w.slots.wait(w.answering, w.opt.MaxJobsActive) // for all slots to be free, or the last call to be over
	w.abort()
	w.cut()
	w.keepers.Wait()
	close(w.replies)
	answerers.Wait()
	if n := w.slots.inHand(); n > 0 {
		return fmt.Errorf("stopped with %d jobs unanswered: the broker gives them out again within %v", n, w.opt.JobTimeout)
	}
	return nil
}
