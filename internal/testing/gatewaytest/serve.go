package gatewaytest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// defaultLongPoll is how long a poll waits for jobs by default.
const defaultLongPoll = 10 * time.Second

// ActivateJobs answers a poll as soon as there is a job for it, or without one when its wait is over.
func (g *Gateway) ActivateJobs(r *pb.ActivateJobsRequest, stream pb.Gateway_ActivateJobsServer) error {
	switch {
	case r.Type == "":
		return status.Error(codes.InvalidArgument, "Expected to activate jobs with type to be present, but it was blank")
	case r.MaxJobsToActivate < 1 || r.Timeout < 1:
		return status.Error(codes.InvalidArgument, "Expected to activate jobs with a maximum and a timeout above zero")
	}
	if err := g.checkTenant("ActivateJobs", strings.Join(r.TenantIds, ", ")); err != nil {
		return err
	}
	taken, response := g.awaitJobs(stream.Context(), r)
	if g.poisoned(taken, r.FetchVariable) {
		if stream.Context().Value(overREST{}) != nil {
			return errUnwritten
		}
		<-stream.Context().Done()
		return status.FromContextError(stream.Context().Err()).Err()
	}
	if len(taken) == 0 {
		return nil
	}
	err := stream.Context().Err()
	if err == nil {
		err = stream.Send(response)
	}
	if err != nil { // the worker is gone: its jobs are released
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, j := range taken {
			if j.state == Locked {
				g.setState(j, Waiting)
			}
		}
	}
	return err
}

// poisoned reports whether one of the jobs has a variable that cannot be delivered.
func (g *Gateway) poisoned(jobs []*record, fetch []string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(jobs, func(j *record) bool { return j.Poison != "" && slices.Contains(fetch, j.Poison) })
}

// awaitJobs locks jobs for a poll, waiting for the first one as long as the poll allows. The response has them as they are
// then: an answer may change them any time later.
func (g *Gateway) awaitJobs(ctx context.Context, r *pb.ActivateJobsRequest) (taken []*record, response *pb.ActivateJobsResponse) {
	wait := cmp.Or(time.Duration(r.RequestTimeout)*time.Millisecond, defaultLongPoll)
	ctx, cancel := context.WithTimeout(ctx, max(wait, 0))
	defer cancel()
	for {
		g.mu.Lock()
		q := g.queue(r.Type)
		taken = g.activate(q, r)
		if len(taken) > 0 {
			response = &pb.ActivateJobsResponse{}
			for _, j := range taken {
				delivered := []*pb.ActivatedJob{g.deliver(j, r.Worker, r.FetchVariable)}
				if g.deliveries != nil {
					delivered = g.deliveries(delivered[0])
				}
				response.Jobs = append(response.Jobs, delivered...)
			}
			g.mu.Unlock()
			return taken, response
		}
		changed := g.onChange()
		var expiry <-chan time.Time
		if len(q.locks) > 0 {
			expiry = time.After(time.Until(q.locks[0].deadline))
		}
		g.mu.Unlock()
		select {
		case <-changed:
		case <-expiry:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// answer applies an answer to an open job.
func (g *Gateway) answer(key int64, then func(*record)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expireAll()
	j := g.jobs[key]
	if j == nil || j.state == Completed || j.state == Thrown {
		return status.Errorf(codes.NotFound, "Expected to find job with key '%d', but no such job was found", key)
	}
	if j.state == Incident {
		return status.Errorf(codes.FailedPrecondition, "Expected to answer job with key '%d', but it is in state 'FAILED'", key)
	}
	then(j)
	return nil
}

// checkVariables refuses variables that are no JSON object, repeating them in its text as the real gateway does.
func checkVariables(variables string) error {
	if variables != "" && object(variables) == nil {
		return status.Errorf(codes.InvalidArgument, "Invalid JSON value: %s", variables)
	}
	return nil
}

// CompleteJob completes a job.
func (g *Gateway) CompleteJob(_ context.Context, r *pb.CompleteJobRequest) (*pb.CompleteJobResponse, error) {
	if err := checkVariables(r.Variables); err != nil {
		return nil, err
	}
	err := g.answer(r.JobKey, func(j *record) { g.setState(j, Completed) })
	return &pb.CompleteJobResponse{}, err
}

// ThrowError throws a BPMN error.
func (g *Gateway) ThrowError(_ context.Context, r *pb.ThrowErrorRequest) (*pb.ThrowErrorResponse, error) {
	if err := checkVariables(r.Variables); err != nil {
		return nil, err
	}
	err := g.answer(r.JobKey, func(j *record) { g.setState(j, Thrown) })
	return &pb.ThrowErrorResponse{}, err
}

// FailJob makes a job available again, or an incident of it when it has no retries left.
func (g *Gateway) FailJob(_ context.Context, r *pb.FailJobRequest) (*pb.FailJobResponse, error) {
	if r.Retries < 0 {
		return nil, status.Error(codes.InvalidArgument, "Expected to fail job with retries of zero or more")
	}
	err := g.answer(r.JobKey, func(j *record) {
		j.Retries, j.message = r.Retries, r.ErrorMessage
		if r.Retries == 0 {
			g.setState(j, Incident)
		} else if j.state == Locked {
			g.setState(j, Waiting)
		}
	})
	return &pb.FailJobResponse{}, err
}

// UpdateJobTimeout restarts the lock of a job; it refuses one that is not locked.
func (g *Gateway) UpdateJobTimeout(_ context.Context, r *pb.UpdateJobTimeoutRequest) (*pb.UpdateJobTimeoutResponse, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expireAll()
	j := g.jobs[r.JobKey]
	switch {
	case j == nil || j.state == Completed || j.state == Thrown:
		return nil, status.Errorf(codes.NotFound, "Expected to update the timeout of job with key '%d', but no such job was found", r.JobKey)
	case j.state != Locked:
		return nil, status.Errorf(codes.FailedPrecondition, "Expected to update the timeout of job with key '%d', but it is not active", r.JobKey)
	}
	g.lock(g.queue(j.Type), j, time.Now().Add(time.Duration(r.Timeout)*time.Millisecond))
	return &pb.UpdateJobTimeoutResponse{}, nil
}

// Topology shows one broker that leads all partitions, which are healthy.
func (g *Gateway) Topology(context.Context, *pb.TopologyRequest) (*pb.TopologyResponse, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	broker := &pb.BrokerInfo{Host: "127.0.0.1", Version: "8.5.8"}
	for i := range g.partitions {
		broker.Partitions = append(broker.Partitions, &pb.Partition{
			PartitionId: int32(i) + 1, Role: pb.Partition_LEADER, Health: pb.Partition_HEALTHY,
		})
	}
	return &pb.TopologyResponse{
		GatewayVersion: "8.5.8",
		ClusterSize:    1, PartitionsCount: int32(g.partitions), ReplicationFactor: 1,
		Brokers: []*pb.BrokerInfo{broker},
	}, nil
}

// DeployResource deploys a file that ends in .form as a form, and every other one as a process. A process that has not changed
// stays as it is.
func (g *Gateway) DeployResource(_ context.Context, r *pb.DeployResourceRequest) (*pb.DeployResourceResponse, error) {
	if err := g.checkTenant("DeployResource", r.TenantId); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	response := &pb.DeployResourceResponse{Key: g.newKey()}
	for _, resource := range r.Resources {
		if id, isForm := strings.CutSuffix(resource.Name, ".form"); isForm {
			response.Deployments = append(response.Deployments, &pb.Deployment{Metadata: &pb.Deployment_Form{Form: &pb.FormMetadata{
				FormId: id, Version: 1, FormKey: g.newKey(), ResourceName: resource.Name, TenantId: r.TenantId,
			}}})
			continue
		}
		response.Deployments = append(response.Deployments, &pb.Deployment{
			Metadata: &pb.Deployment_Process{Process: g.deploy(cmp.Or(r.TenantId, "<default>"), resource)},
		})
	}
	return response, nil
}

// PublishMessage accepts a message, which no process waits for. [Gateway.Calls] shows it.
func (g *Gateway) PublishMessage(_ context.Context, r *pb.PublishMessageRequest) (*pb.PublishMessageResponse, error) {
	if r.Name == "" {
		return nil, status.Error(codes.InvalidArgument, "Expected to publish a message with a name, but it was blank")
	}
	if err := checkVariables(r.Variables); err != nil {
		return nil, err
	}
	if err := g.checkTenant("PublishMessage", r.TenantId); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return &pb.PublishMessageResponse{Key: g.newKey()}, nil
}
