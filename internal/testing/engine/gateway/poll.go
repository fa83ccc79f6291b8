package gateway

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/engine"
)

const (
	// defaultWait is how long a poll waits for jobs by default.
	defaultWait = 10 * time.Second
	// maxDepth is how deep variables may nest in an answer. A real gateway breaks on deeper ones, and never answers.
	maxDepth = 1000
)

// ActivateJobs answers a poll.
func (g *Gateway) ActivateJobs(r *pb.ActivateJobsRequest, stream pb.Gateway_ActivateJobsServer) error {
	return g.poll(stream.Context(), r, stream.Send)
}

// poll sends jobs as soon as there are some, or none when the poll's wait is over. Faults happen to it.
func (g *Gateway) poll(
	ctx context.Context, r *pb.ActivateJobsRequest, send func(*pb.ActivateJobsResponse) error,
) error {
	fault := g.arrive(ctx, r)
	if fault.lost() {
		return fault.outcome(ctx, r, nil)
	}
	err := g.deliver(ctx, r, func(response *pb.ActivateJobsResponse) error {
		sleep(ctx, fault.Delay)
		if ctx.Err() != nil {
			return status.FromContextError(ctx.Err()).Err()
		}
		return send(response)
	})
	fault.Delay = 0 // it has passed
	return fault.outcome(ctx, r, err)
}

// deliver sends the jobs for a poll, if there are any in time.
func (g *Gateway) deliver(
	ctx context.Context, r *pb.ActivateJobsRequest, send func(*pb.ActivateJobsResponse) error,
) error {
	var err error
	g.Locked(func(e *engine.Engine) { err = e.CheckTenants("ActivateJobs", r.TenantIds...) })
	if err == nil && (r.Timeout < 1 || r.MaxJobsToActivate < 1) {
		err = status.Error(codes.InvalidArgument, "Expected timeout and maximum of jobs to be greater than zero")
	}
	if err != nil {
		return err
	}
	jobs, err := g.await(ctx, r)
	if err != nil || len(jobs) == 0 {
		return err
	}
	if slices.ContainsFunc(jobs, func(j *pb.ActivatedJob) bool { return depth(j.Variables) > maxDepth }) {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	g.faults.delivers(jobs)
	if err = send(&pb.ActivateJobsResponse{Jobs: jobs}); err != nil {
		for _, j := range jobs { // the worker is gone: its jobs are released
			_, _ = g.Do(&pb.FailJobRequest{JobKey: j.Key, Retries: j.Retries})
		}
	}
	return err
}

// await activates jobs for a poll, and waits for the first one as long as the poll allows.
func (g *Gateway) await(ctx context.Context, r *pb.ActivateJobsRequest) ([]*pb.ActivatedJob, error) {
	wait := cmp.Or(time.Duration(r.RequestTimeout)*time.Millisecond, defaultWait)
	over := time.NewTimer(max(wait, 0))
	defer over.Stop()
	for {
		var there, closed bool
		changed := g.Locked(func(e *engine.Engine) { there, closed = e.Available(r.Type), g.closed })
		switch {
		case closed:
			return nil, errClosed
		case ctx.Err() != nil:
			return nil, status.FromContextError(ctx.Err()).Err()
		case there: // a poll that finds nothing is no command
			answer, err := g.Do(r)
			if err != nil {
				return nil, err
			}
			if jobs := answer.(*pb.ActivateJobsResponse).Jobs; len(jobs) > 0 {
				return jobs, nil
			}
			continue // another poll was faster
		}
		select {
		case <-changed:
		case <-over.C:
			return nil, nil
		case <-ctx.Done():
		}
	}
}

// depth returns how deep a JSON text nests.
func depth(text string) (deepest int) {
	n, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			n++
			deepest = max(deepest, n)
		case c == '}' || c == ']':
			n--
		}
	}
	return deepest
}
