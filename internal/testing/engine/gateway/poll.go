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
	// How deep variables may nest in an answer. A real gateway breaks on deeper ones, and never answers.
	maxDepth, maxDepthOfREST = 1000, 990
)

// ActivateJobs answers a poll.
func (g *Gateway) ActivateJobs(r *pb.ActivateJobsRequest, stream pb.Gateway_ActivateJobsServer) error {
	return g.poll(stream.Context(), r, maxDepth, stream.Send)
}

// poll sends jobs as soon as there are some, or none when the poll's wait is over. Faults happen to it.
func (g *Gateway) poll(
	ctx context.Context, r *pb.ActivateJobsRequest, deepest int, send func(*pb.ActivateJobsResponse) error,
) error {
	fault := g.arrive(ctx, r)
	if fault.lost() {
		return fault.outcome(ctx, r, nil)
	}
	for fault.Endless {
		if err := send(&pb.ActivateJobsResponse{}); err != nil {
			return err
		}
		if sleep(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return status.FromContextError(ctx.Err()).Err()
		}
	}
	if fault.Empty {
		if err := send(&pb.ActivateJobsResponse{}); err != nil {
			return err
		}
	}
	err := g.deliver(ctx, r, deepest, func(response *pb.ActivateJobsResponse) error {
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
	ctx context.Context, r *pb.ActivateJobsRequest, deepest int, send func(*pb.ActivateJobsResponse) error,
) error {
	if err := g.checkPoll(r); err != nil {
		return err
	}
	jobs, err := g.await(ctx, r)
	if err != nil || len(jobs) == 0 {
		return err
	}
	if slices.ContainsFunc(jobs, func(j *pb.ActivatedJob) bool { return depth(j.Variables) > deepest }) {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	if err = send(&pb.ActivateJobsResponse{Jobs: g.faults.delivered(jobs)}); err != nil {
		for _, j := range jobs { // the worker is gone: its jobs are released
			_, _ = g.Do(&pb.FailJobRequest{JobKey: j.Key, Retries: j.Retries})
		}
	}
	return err
}

func (g *Gateway) checkPoll(r *pb.ActivateJobsRequest) error {
	switch {
	case r.Type == "":
		return status.Error(codes.InvalidArgument, "Expected to activate jobs with type to be present, but it was blank")
	case r.Timeout < 1:
		return status.Errorf(codes.InvalidArgument,
			"Expected to activate jobs with timeout to be greater than zero, but it was %d", r.Timeout)
	case r.MaxJobsToActivate < 1:
		return status.Errorf(codes.InvalidArgument,
			"Expected to activate jobs with maxJobsToActivate to be greater than zero, but it was %d", r.MaxJobsToActivate)
	}
	var err error
	g.Locked(func(e *engine.Engine) { err = e.CheckTenants(string(ActivateJobs), r.TenantIds...) })
	return err
}

// await activates jobs for a poll, and waits for the first one as long as the poll allows.
func (g *Gateway) await(ctx context.Context, r *pb.ActivateJobsRequest) ([]*pb.ActivatedJob, error) {
	wait := cmp.Or(time.Duration(r.RequestTimeout)*time.Millisecond, defaultWait)
	over := time.NewTimer(max(wait, 0))
	defer over.Stop()
	for {
		if limit := g.faults.most(); limit > 0 && g.inFlight.Load() >= limit {
			return nil, status.Errorf(codes.ResourceExhausted, "Expected to activate jobs of type '%s', but no jobs "+
				"available and at least one broker returned 'RESOURCE_EXHAUSTED'. Please try again later.", r.Type)
		}
		jobs, changed, err := g.activate(ctx, r)
		if err != nil || len(jobs) > 0 {
			return jobs, err
		}
		select {
		case <-changed:
		case <-over.C:
			return nil, nil
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
}

// activate activates the jobs that there are now; without one it returns a channel that is closed at the next change.
func (g *Gateway) activate(
	ctx context.Context, r *pb.ActivateJobsRequest,
) (jobs []*pb.ActivatedJob, changed <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, nil, errClosed
	}
	now := g.tick()
	if ctx.Err() != nil || !g.engine.Available(r.Type) {
		return nil, g.changed, nil // a poll that finds nothing is no command
	}
	sleep(ctx, g.faults.pause())
	g.note(now, entry{Request: r})
	answer, err := g.engine.Do(now, r)
	g.change()
	g.flush()
	if err != nil {
		return nil, nil, err
	}
	return answer.(*pb.ActivateJobsResponse).Jobs, g.changed, nil
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
