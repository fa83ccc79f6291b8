package zeebe

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/broker/transport/grpc"
	"hospital.example/analyze-retry/internal/broker/transport/rest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/testing/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testType = "analyze-retry"

// protocols are those that the loop is tested over.
var protocols = []transporttest.Protocol{
	transporttest.GRPC(grpc.Dial),
	transporttest.REST(rest.Dial),
}

// rig is a gateway and a worker on it, in a bubble: its clock moves only while everybody waits.
type rig struct {
	*testing.T
	protocol transporttest.Protocol
	gateway  *enginetest.Gateway
	client   transport.Client
	worker   *Worker
	logs     *observer.ObservedLogs

	stop    context.CancelFunc
	stopped chan struct{} // closed when Run has returned
	err     error         // by Run
	over    chan struct{} // closed at the end of the test, for what hangs until then
}

// inBubble runs a test over each protocol, with a gateway and a client of it.
func inBubble(t *testing.T, test func(*rig)) {
	t.Helper()
	for _, protocol := range protocols {
		t.Run(protocol.Scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &rig{T: t, protocol: protocol, gateway: enginetest.New(), stopped: make(chan struct{}), over: make(chan struct{})}
				defer close(r.over)
				defer r.gateway.Close()
				r.connect(transport.Config{})
				defer func() { _ = r.client.Close() }()
				defer func() {
					if r.stop != nil {
						_, _ = r.end()
					}
				}()
				test(r)
			})
		})
	}
}

// connect makes the client.
func (r *rig) connect(c transport.Config) {
	r.Helper()
	c.ZeebeAddress, c.Dial = r.protocol.Scheme+"://127.0.0.1:1", r.protocol.Pipe(r.gateway)
	var err error
	r.client, err = r.protocol.Dial(c)
	check.Must(r, err)
}

// run starts a worker and lets it get as far as it can without time passing.
func (r *rig) run(o Options) {
	core, logs := observer.New(zapcore.DebugLevel)
	r.logs = logs
	r.worker = NewWorker(r.client, o.withDefaults(zap.New(core)))
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() {
		defer close(r.stopped)
		r.err = r.worker.Run(ctx)
	}()
	synctest.Wait()
}

// withDefaults returns the options with what a test does not set.
func (o Options) withDefaults(log *zap.Logger) Options {
	o.JobType, o.Logger, o.Worker = testType, log, cmp.Or(o.Worker, testType)
	o.MaxJobsActive = cmp.Or(o.MaxJobsActive, 50)
	o.JobTimeout = cmp.Or(o.JobTimeout, 10*time.Second)
	o.ShutdownTimeout = cmp.Or(o.ShutdownTimeout, 8*time.Second)
	o.Clock = cmp.Or(o.Clock, NewClock(days, log))
	if o.Fetch == nil {
		o.Fetch = []string{"a"}
	}
	o.Tenant = cmp.Or(o.Tenant, "<default>")
	if o.Handler == nil {
		o.Handler = each(complete)
	}
	if o.Hold == nil {
		o.Hold = func(ctx context.Context) error { return ctx.Err() }
	}
	if o.Observer == nil {
		o.Observer = &watcher{}
	}
	return o
}

// advance lets time pass.
func (r *rig) advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// end stops the worker and returns how long that took and what Run returned.
func (r *rig) end() (time.Duration, error) {
	began := time.Now()
	r.stop()
	<-r.stopped
	return time.Since(began), r.err
}

// add puts n jobs into the queue.
func (r *rig) add(n int) []int64 {
	return r.gateway.Add(slices.Repeat([]enginetest.Job{{Type: testType, Variables: `{"a":1}`}}, n)...)
}

func (r *rig) wantCounts(want enginetest.Counts) {
	r.Helper()
	check.Same(r, want, r.gateway.Counts(), "jobs")
}

// wantJob wants a job in this state, with so many retries left and this in the message of its last failure.
func (r *rig) wantJob(key int64, state enginetest.State, retries int32, message string) {
	r.Helper()
	gotState, gotRetries, gotMessage := r.gateway.Job(key)
	if gotState != state || gotRetries != retries || !strings.Contains(gotMessage, message) {
		r.Errorf("job is in state %v with %d retries and message %q; want %v, %d and %q", gotState, gotRetries, gotMessage, state, retries, message)
	}
}

// wantStop wants Run to return nil after so long.
func (r *rig) wantStop(after time.Duration) {
	r.Helper()
	if took, err := r.end(); took != after || err != nil {
		r.Errorf("Run returned %v after %v, want nil after %v", err, took, after)
	}
}

func (r *rig) wantActive(want int) {
	r.Helper()
	check.Same(r, want, r.worker.ActiveJobs(), "active jobs")
}

func (r *rig) wantLogged(level zapcore.Level, text string, times int) {
	r.Helper()
	check.Same(r, times, r.logged(level, text), "lines with %q", text)
}

// polls are the requests of all polls so far.
func (r *rig) polls() []*pb.ActivateJobsRequest {
	return requests[*pb.ActivateJobsRequest](r.gateway, enginetest.ActivateJobs)
}

func requests[R any](g *enginetest.Gateway, m enginetest.Method) []R {
	var all []R
	for _, c := range g.Calls(m) {
		all = append(all, c.Request.(any).(R))
	}
	return all
}

// logged is how often something was logged at this level with this text in the message.
func (r *rig) logged(level zapcore.Level, text string) int {
	return r.logs.Filter(func(e observer.LoggedEntry) bool {
		return e.Level == level && strings.Contains(e.Message, text)
	}).Len()
}

// wantNowhere fails where a text is found in the log or in the message of a failure that was sent to the gateway.
func (r *rig) wantNowhere(secret string) {
	r.Helper()
	if log := logText(r); strings.Contains(log, secret) {
		r.Errorf("log holds %q: %s", secret, log)
	}
	for _, f := range requests[*pb.FailJobRequest](r.gateway, enginetest.FailJob) {
		if strings.Contains(f.ErrorMessage, secret) {
			r.Errorf("a failure's message holds %q: %s", secret, f.ErrorMessage)
		}
	}
}

// logText is the log as it would be written.
func logText(r *rig) string {
	r.Helper()
	var text strings.Builder
	encoder := zapcore.NewConsoleEncoder(zap.NewProductionEncoderConfig())
	for _, e := range r.logs.All() {
		line, err := encoder.EncodeEntry(e.Entry, e.Context)
		check.Must(r, err)
		text.WriteString(line.String())
	}
	return text.String()
}

// each answers every job of a batch by itself.
func each(answer func(job.Job) job.Answer) job.Handler {
	return func(_ context.Context, jobs []job.Job) []job.Answer {
		answers := make([]job.Answer, len(jobs))
		for i, j := range jobs {
			answers[i] = answer(j)
		}
		return answers
	}
}

func complete(job.Job) job.Answer { return job.Complete(`{"done":true}`) }

// gate is a handler that holds all batches until it is opened. It is made inside of the bubble.
type gate struct {
	open    chan struct{}
	batches chan []job.Job // as they came
}

func newGate() gate { return gate{make(chan struct{}), make(chan []job.Job, 1000)} }

func (g gate) hold(ctx context.Context, jobs []job.Job) []job.Answer {
	g.batches <- jobs
	select {
	case <-g.open:
	case <-ctx.Done():
	}
	return each(complete)(ctx, jobs)
}

// watcher is an Observer that keeps everything. It is read when the worker has stopped.
type watcher struct {
	mu      sync.Mutex
	polls   map[string]int
	failed  int
	answers []job.Answer
	results []job.Result
}

func (w *watcher) Polled(code string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.polls == nil {
		w.polls = map[string]int{}
	}
	w.polls[code]++
}

func (w *watcher) HandlerFailed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
}

func (w *watcher) Answered(answer job.Answer, result job.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers, w.results = append(w.answers, answer), append(w.results, result)
}
