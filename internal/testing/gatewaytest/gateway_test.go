package gatewaytest_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a gateway and the stubs to call it, in a bubble: its clock moves only while everybody waits.
type rig struct {
	*testing.T
	gateway *gatewaytest.Gateway
	stubs   pb.GatewayClient
}

func inBubble(t *testing.T, test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := gatewaytest.New()
		defer g.Close()
		conn, err := grpc.NewClient("passthrough:///gateway",
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(g.Pipe()))
		check.Must(t, err)
		defer func() { _ = conn.Close() }()
		test(&rig{t, g, pb.NewGatewayClient(conn)})
	})
}

// poll activates jobs of type "t" for five seconds.
func (r *rig) poll(limit int32, wait time.Duration, fetch ...string) []*pb.ActivatedJob {
	r.Helper()
	stream, err := r.stubs.ActivateJobs(r.Context(), &pb.ActivateJobsRequest{
		Type: "t", Worker: "w", Timeout: 5000, MaxJobsToActivate: limit, FetchVariable: fetch, RequestTimeout: wait.Milliseconds(),
	})
	check.Must(r, err)
	var jobs []*pb.ActivatedJob
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return jobs
		}
		check.Must(r, err)
		jobs = append(jobs, response.Jobs...)
	}
}

func keys(jobs []*pb.ActivatedJob) []int64 {
	k := make([]int64, len(jobs))
	for i, j := range jobs {
		k[i] = j.Key
	}
	return k
}

const noWait = -time.Millisecond

func TestJobsAreActivatedLowestKeyFirstAndLocked(t *testing.T) {
	inBubble(t, func(r *rig) {
		added := r.gateway.Add(gatewaytest.Job{Type: "t"}, gatewaytest.Job{Type: "t"}, gatewaytest.Job{Type: "t"})
		check.Same(r, added[:2], keys(r.poll(2, noWait)), "difference")
		check.Same(r, added[2:], keys(r.poll(2, noWait)), "difference")
		check.Same(r, 0, len(r.poll(9, noWait)), "jobs given out twice")
		start := time.Now()
		check.Same(r, added, keys(r.poll(9, time.Minute)), "difference")
		check.Same(r, 5*time.Second, time.Since(start), "locks end after")
		if want := (gatewaytest.Counts{Locked: 3, Expired: 3}); r.gateway.Counts() != want {
			r.Errorf("jobs are at %+v", r.gateway.Counts())
		}
	})
}

func TestPollWaitsForAJobUntilItsTimeout(t *testing.T) {
	inBubble(t, func(r *rig) {
		start := time.Now()
		if jobs := r.poll(9, 3*time.Second); len(jobs) != 0 || time.Since(start) != 3*time.Second {
			r.Errorf("%d jobs after %v", len(jobs), time.Since(start))
		}
		time.AfterFunc(time.Second, func() { r.gateway.Add(gatewaytest.Job{Type: "other"}, gatewaytest.Job{Type: "t"}) })
		start = time.Now()
		if jobs := r.poll(9, 3*time.Second); len(jobs) != 1 || time.Since(start) != time.Second {
			r.Errorf("%d jobs after %v", len(jobs), time.Since(start))
		}
	})
}

func TestOnlyTheVariablesAskedForAreDelivered(t *testing.T) {
	inBubble(t, func(r *rig) {
		for _, test := range []struct {
			variables string
			fetch     []string
			want      string
		}{
			{`{"a":1, "b":2}`, nil, `{"a":1, "b":2}`},
			{`{"a":1, "b":2}`, []string{"b", "a", "c"}, `{"a":1, "b":2}`},
			{`{"a":1, "b":2}`, []string{"b"}, `{"b":2}`},
			{`{"a":1}`, []string{"none"}, `{}`},
			{`[1`, []string{"a"}, `[1`},
		} {
			r.gateway.Add(gatewaytest.Job{Type: "t", Variables: test.variables})
			check.Same(r, test.want, r.poll(1, noWait, test.fetch...)[0].Variables, "%s less all but %v", test.variables, test.fetch)
		}
	})
}

func TestTheAnswersAreThoseOfARealGateway(t *testing.T) {
	inBubble(t, func(r *rig) {
		key := r.gateway.Add(gatewaytest.Job{Type: "t"})[0]
		complete := func(variables string) error {
			_, err := r.stubs.CompleteJob(r.Context(), &pb.CompleteJobRequest{JobKey: key, Variables: variables})
			return err
		}
		fail := func(retries int32) error {
			_, err := r.stubs.FailJob(r.Context(), &pb.FailJobRequest{JobKey: key, Retries: retries, ErrorMessage: "why"})
			return err
		}
		throw := func() error {
			_, err := r.stubs.ThrowError(r.Context(), &pb.ThrowErrorRequest{JobKey: key, ErrorCode: "E"})
			return err
		}
		r.poll(1, noWait)
		for _, step := range []struct {
			what string
			err  error
			want codes.Code
		}{
			{"variables that are no object", complete(`[1]`), codes.InvalidArgument},
			{"a failure with retries left", fail(2), codes.OK},
			{"a failure without", fail(0), codes.OK},
			{"a completion of an incident", complete(""), codes.FailedPrecondition},
		} {
			check.Same(r, step.want, status.Code(step.err), "%s", step.what)
		}
		if state, retries, message := r.gateway.Job(key); state != gatewaytest.Incident || retries != 0 || message != "why" {
			r.Errorf("job is in state %v with %d retries and message %q", state, retries, message)
		}
		key = r.gateway.Add(gatewaytest.Job{Type: "t"})[0] // not locked, and answered all the same: there is no fencing
		check.Must(r, throw())
		check.Same(r, codes.NotFound, status.Code(complete("{}")), "completion of a job that is over")
		if want := (gatewaytest.Counts{Incident: 1, Thrown: 1}); r.gateway.Counts() != want {
			r.Errorf("jobs are at %+v", r.gateway.Counts())
		}
		check.Same(r, 4, len(r.gateway.Calls(gatewaytest.CompleteJob, gatewaytest.ThrowError)), "calls recorded")
	})
}

func TestJobsOfACancelledPollAreReleased(t *testing.T) {
	inBubble(t, func(r *rig) {
		ctx, cancel := context.WithCancel(r.Context())
		stream, err := r.stubs.ActivateJobs(ctx, &pb.ActivateJobsRequest{Type: "t", Timeout: 5000, MaxJobsToActivate: 1})
		check.Must(r, err)
		synctest.Wait()
		cancel()
		if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
			r.Error(err)
		}
		synctest.Wait()
		r.gateway.Add(gatewaytest.Job{Type: "t"})
		synctest.Wait()
		if want := (gatewaytest.Counts{Waiting: 1}); r.gateway.Counts() != want {
			r.Errorf("jobs are at %+v", r.gateway.Counts())
		}
	})
}

func TestJobsMayBeAnsweredWhileTheyAreDelivered(t *testing.T) { // for the race detector
	inBubble(t, func(r *rig) {
		added := r.gateway.Add(slices.Repeat([]gatewaytest.Job{{Type: "t"}}, 100)...)
		var failing sync.WaitGroup
		failing.Go(func() {
			for _, key := range added {
				if _, err := r.stubs.FailJob(r.Context(), &pb.FailJobRequest{JobKey: key, Retries: 2}); err != nil {
					r.Error(err)
				}
			}
		})
		for range 100 {
			r.poll(100, noWait)
		}
		failing.Wait()
	})
}

func TestAFaultHappensAsOftenAsItSays(t *testing.T) {
	inBubble(t, func(r *rig) {
		complete := func(key int64) codes.Code {
			ctx, cancel := context.WithTimeout(r.Context(), time.Second)
			defer cancel()
			_, err := r.stubs.CompleteJob(ctx, &pb.CompleteJobRequest{JobKey: key})
			return status.Code(err)
		}
		added := r.gateway.Add(gatewaytest.Job{Type: "t"}, gatewaytest.Job{Type: "t"}, gatewaytest.Job{Type: "t"})
		r.gateway.Inject(gatewaytest.CompleteJob, gatewaytest.Fault{Times: 2, Code: codes.Unavailable})
		r.gateway.Inject(gatewaytest.CompleteJob, gatewaytest.Fault{Code: codes.Internal, Applied: true})
		r.gateway.Inject(gatewaytest.CompleteJob, gatewaytest.Fault{Hang: true})
		r.gateway.Inject(gatewaytest.CompleteJob, gatewaytest.Fault{Delay: 500 * time.Millisecond})
		for i, want := range []codes.Code{
			codes.Unavailable, codes.Unavailable, codes.Internal, codes.DeadlineExceeded, codes.OK, codes.NotFound,
		} {
			key := added[0]
			if i >= 3 && i < 5 {
				key = added[1]
			}
			check.Same(r, want, complete(key), "answer to call %d", i+1)
		}
		r.gateway.Inject(gatewaytest.CompleteJob, gatewaytest.Fault{Times: -1, Code: codes.Unavailable})
		r.gateway.Heal()
		check.Same(r, codes.OK, complete(added[2]), "answer when healed")
	})
}
