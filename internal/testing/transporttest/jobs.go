package transporttest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

const jobType = "analyze-retry"

// poll asks for ten jobs, and waits for none.
var poll = transport.Poll{
	JobType: jobType, Worker: "worker-1", Max: 10, Fetch: []string{"claimId", "retryCount"}, Wait: -time.Millisecond, JobTimeout: 10 * time.Second,
	Tenant: "<default>",
}

// requests returns what reached the gateway by a method.
func requests[R any](g *enginetest.Gateway, m enginetest.Method) []R {
	var all []R
	for _, c := range g.Calls(m) {
		all = append(all, c.Request.(any).(R))
	}
	return all
}

// activate polls once and returns the jobs.
func (r rig) activate(p transport.Poll) []job.Job {
	r.Helper()
	var jobs []job.Job
	check.Must(r, r.client.Activate(r.Context(), p, func(more []job.Job) { jobs = append(jobs, more...) }))
	return jobs
}

func jobsComeAsTheBrokerHasThem(t *testing.T, p Protocol) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := p.connect(t, transport.Config{})
		keys := r.gateway.Add(
			enginetest.Job{
				Type: jobType, Variables: `{"claimId":"CLM-1","retryCount":9007199254740993.10,"other":"x"}`, Retries: 2, ProcessID: "sub-06", ElementID: "analyze",
			},
			enginetest.Job{Type: jobType, Variables: `{}`},
			enginetest.Job{Type: "another-type", Variables: `{}`},
		)
		now := time.Now()
		jobs := r.activate(poll)
		want := job.Job{
			Key: keys[0], ProcessID: "sub-06", ElementID: "analyze", Retries: 2,
			Headers: "{}", Variables: `{"claimId":"CLM-1","retryCount":9007199254740993.10}`, Deadline: now.Add(10 * time.Second).UnixMilli(), Received: now,
		}
		if len(jobs) != 2 {
			t.Fatalf("%d jobs came", len(jobs))
		}
		if want.ProcessInstanceKey = jobs[0].ProcessInstanceKey; want.ProcessInstanceKey == 0 {
			t.Error("the job has no process instance")
		}
		check.Same(t, want, jobs[0], "the first job")
		check.Same(t, keys[1], jobs[1].Key, "the second job")
	})
}

func answersAreReadUpToALimit(t *testing.T, p Protocol) {
	t.Helper()
	for size, want := range map[int]codes.Code{
		transport.MaxAnswer / 2: codes.OK, // what a gateway sends by default
		transport.MaxAnswer:     codes.ResourceExhausted,
	} {
		r := p.connect(t, transport.Config{})
		r.gateway.Add(enginetest.Job{Type: jobType, Variables: `{"claimId":"` + strings.Repeat("x", size) + `"}`})
		got := 0
		err := r.client.Activate(t.Context(), poll, func(jobs []job.Job) { got += len(jobs[0].Variables) })
		check.Same(t, want, transport.Code(err), "code for %d bytes: %v", size, err)
		if want == codes.OK {
			check.Same(t, size+len(`{"claimId":""}`), got, "size of the variables")
		} else {
			check.Fails(t, err, "larger than") // the worker's log names it by that
		}
	}
}

func everyAnswerReachesTheBroker(t *testing.T, p Protocol) {
	t.Helper()
	for name, test := range map[string]struct {
		answer  job.Answer
		state   enginetest.State
		retries int32
		message string
		sent    any
	}{
		"complete": {
			job.Complete(`{"n":9007199254740993}`), enginetest.Completed, 3, "",
			func(key int64) any { return &pb.CompleteJobRequest{JobKey: key, Variables: `{"n":9007199254740993}`} },
		},
		"throw": {
			job.ThrowError("PERMANENT_ERROR", "não é", `{"a":1}`), enginetest.Thrown, 3, "",
			func(key int64) any {
				return &pb.ThrowErrorRequest{JobKey: key, ErrorCode: "PERMANENT_ERROR", ErrorMessage: "não é", Variables: `{"a":1}`}
			},
		},
		"incident": {
			job.Incident("claimId is missing"), enginetest.Incident, 0, "claimId is missing",
			func(key int64) any { return &pb.FailJobRequest{JobKey: key, ErrorMessage: "claimId is missing"} },
		},
		"release": {
			(&job.Job{Retries: 3}).Release("stopping"), enginetest.Waiting, 3, "stopping",
			func(key int64) any { return &pb.FailJobRequest{JobKey: key, Retries: 3, ErrorMessage: "stopping"} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := p.connect(t, transport.Config{})
			r.gateway.Add(enginetest.Job{Type: jobType, Variables: `{}`})
			j := r.activate(poll)[0]
			check.Must(t, r.client.Answer(t.Context(), j, test.answer))
			state, retries, message := r.gateway.Job(j.Key)
			if state != test.state || retries != test.retries || message != test.message {
				t.Errorf("job is in state %v with %d retries and message %q", state, retries, message)
			}
			calls := r.gateway.Calls(enginetest.CompleteJob, enginetest.ThrowError, enginetest.FailJob)
			if len(calls) != 1 {
				t.Fatalf("%d calls", len(calls))
			}
			check.Same(t, test.sent.(func(int64) any)(j.Key), any(calls[0].Request), "request")
		})
	}
}

func anAnswerOfNoKindIsRefused(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	r.gateway.Add(enginetest.Job{Type: jobType, Variables: `{}`})
	err := r.client.Answer(t.Context(), r.activate(poll)[0], job.Answer{})
	check.Same(t, codes.InvalidArgument, transport.Code(err), "code of %v", err)
}

func anAnswerThatComesTooLateIsToldWhy(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	r.gateway.Add(enginetest.Job{Type: jobType, Variables: `{}`})
	held := r.activate(poll)[0]
	check.Must(t, r.client.Answer(t.Context(), held, job.Incident("no")))
	for j, want := range map[job.Job]codes.Code{held: codes.FailedPrecondition, {Key: 4711, Retries: 3}: codes.NotFound} {
		for _, answer := range []job.Answer{job.Complete("{}"), job.ThrowError("E", "", "{}"), new(job.Job).Release("")} {
			err := r.client.Answer(t.Context(), j, answer)
			check.Same(t, want, transport.Code(err), "code of %v", err)
		}
	}
}

func aLockIsExtendedOnlyWhereThereIsOne(t *testing.T, p Protocol) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := p.connect(t, transport.Config{})
		r.gateway.Add(enginetest.Job{Type: jobType, Variables: `{}`})
		j := r.activate(poll)[0]
		<-time.After(9 * time.Second)
		check.Must(t, r.client.ExtendLock(t.Context(), j, 10*time.Second))
		<-time.After(9 * time.Second)
		check.Same(t, 1, r.gateway.Counts().Locked, "locked jobs")
		<-time.After(2 * time.Second)
		err := r.client.ExtendLock(t.Context(), j, 10*time.Second)
		check.Same(t, codes.FailedPrecondition, transport.Code(err), "code of %v", err)
		check.Same(t, codes.NotFound, transport.Code(r.client.ExtendLock(t.Context(), job.Job{Key: 4711}, time.Second)), "code")
	})
}

// calls are all calls of a client, by their methods.
var calls = map[enginetest.Method]func(context.Context, transport.Client) error{
	enginetest.ActivateJobs: func(ctx context.Context, c transport.Client) error { return c.Activate(ctx, poll, func([]job.Job) {}) },
	enginetest.CompleteJob: func(ctx context.Context, c transport.Client) error {
		return c.Answer(ctx, job.Job{Key: 1}, job.Complete("{}"))
	},
	enginetest.ThrowError: func(ctx context.Context, c transport.Client) error {
		return c.Answer(ctx, job.Job{Key: 1}, job.ThrowError("E", "", "{}"))
	},
	enginetest.FailJob: func(ctx context.Context, c transport.Client) error {
		return c.Answer(ctx, job.Job{Key: 1}, job.Incident(""))
	},
	enginetest.UpdateJobTimeout: func(ctx context.Context, c transport.Client) error {
		return c.ExtendLock(ctx, job.Job{Key: 1}, time.Second)
	},
	enginetest.Topology: func(ctx context.Context, c transport.Client) error { _, err := c.Topology(ctx); return err },
	enginetest.DeployResource: func(ctx context.Context, c transport.Client) error {
		_, err := c.Deploy(ctx, "", []bpmn.Model{{Name: "a.bpmn"}})
		return err
	},
	enginetest.PublishMessage: func(ctx context.Context, c transport.Client) error {
		return c.PublishMessage(ctx, transport.Message{Name: "m"})
	},
}

func everyFailureKeepsItsCode(t *testing.T, p Protocol) {
	t.Helper()
	for _, code := range []codes.Code{
		codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.NotFound, codes.FailedPrecondition, codes.ResourceExhausted,
		codes.Unavailable, codes.DeadlineExceeded, codes.Internal,
	} {
		r := p.connect(t, transport.Config{})
		for method, call := range calls {
			r.gateway.Inject(method, enginetest.Fault{Code: code})
			err := call(t.Context(), r.client)
			check.Same(t, code, transport.Code(err), "code of %s: %v", method, err)
		}
	}
}

func aCallEndsWithItsContext(t *testing.T, p Protocol) {
	t.Helper()
	for method, call := range calls {
		t.Run(string(method), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := p.connect(t, transport.Config{})
				r.gateway.Inject(method, enginetest.Fault{Times: -1, Hang: true})
				late, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				check.Same(t, codes.DeadlineExceeded, transport.Code(call(late, r.client)), "code at the deadline")
				ended, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				check.Same(t, codes.Canceled, transport.Code(call(ended, r.client)), "code when it is cancelled")
			})
		})
	}
}
