// Package grpc connects to a Camunda 8 cluster by gRPC, through the generated stubs of Zeebe's client.
package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
)

const (
	// The gateway cuts connections that ping it more often than every 30 seconds; the rest is for pings that
	// travel at different speeds. The polls, which end every few seconds, notice a dead connection sooner.
	keepAlive = 35 * time.Second
	// A gateway that is back is noticed within reconnectMax. The library's own limit is two minutes.
	reconnectMax = 5 * time.Second
)

// client implements [transport.Client].
type client struct {
	conn       *grpc.ClientConn
	gateway    pb.GatewayClient
	authorizer *transport.Authorizer
}

// Dial prepares the connection to a gateway. It does not wait for the gateway, which may come up later. Its
// error names everything that is wrong with the configuration, one fault a line.
func Dial(c transport.Config) (transport.Client, error) {
	secured, err := c.TLS()
	if err != nil {
		return nil, err
	}
	security := insecure.NewCredentials()
	if secured != nil {
		security = credentials.NewTLS(secured)
	}
	reconnect := backoff.DefaultConfig
	reconnect.MaxDelay = reconnectMax
	authorizer := c.Authorizer()
	conn, err := grpc.NewClient("dns:///"+c.Address().Host,
		grpc.WithTransportCredentials(security),
		grpc.WithPerRPCCredentials(authorizer),
		grpc.WithContextDialer(c.Dial),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAlive, Timeout: 10 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: reconnectMax}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(transport.MaxAnswer)),
		grpc.WithDisableServiceConfig(), // no look-up of TXT records, and no tries but the job loop's
		grpc.WithUnaryInterceptor(func(
			ctx context.Context, method string, request, reply any,
			conn *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption,
		) error {
			return failed(call(ctx, method, request, reply, conn, o...), authorizer)
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to the Zeebe gateway: %w", err)
	}
	return &client{conn, pb.NewGatewayClient(conn), authorizer}, nil
}

func (c *client) Close() error { return c.conn.Close() }

func (c *client) Activate(ctx context.Context, p transport.Poll, received func([]job.Job)) error {
	request := &pb.ActivateJobsRequest{
		Type:              p.JobType,
		Worker:            p.Worker,
		Timeout:           p.JobTimeout.Milliseconds(),
		MaxJobsToActivate: int32(p.Max), //nolint:gosec // a number of slots
		FetchVariable:     p.Fetch,
		RequestTimeout:    p.Wait.Milliseconds(),
		TenantIds:         []string{p.Tenant},
	}
	stream, err := c.gateway.ActivateJobs(ctx, request)
	for err == nil {
		var r *pb.ActivateJobsResponse
		if r, err = stream.Recv(); err == nil {
			received(fromWire(r.Jobs))
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return failed(err, c.authorizer)
}

func fromWire(activated []*pb.ActivatedJob) []job.Job {
	jobs := make([]job.Job, len(activated))
	now := time.Now()
	for i, a := range activated {
		jobs[i] = job.Job{
			Key:                a.Key,
			ProcessInstanceKey: a.ProcessInstanceKey,
			ProcessID:          a.BpmnProcessId,
			ElementID:          a.ElementId,
			Retries:            a.Retries,
			Headers:            a.CustomHeaders,
			Variables:          a.Variables,
			Deadline:           a.Deadline,
			Received:           now,
		}
	}
	return jobs
}

func (c *client) Answer(ctx context.Context, j job.Job, a job.Answer) (err error) {
	switch a.Kind {
	case job.KindComplete:
		_, err = c.gateway.CompleteJob(ctx, &pb.CompleteJobRequest{JobKey: j.Key, Variables: a.Variables})
	case job.KindThrowError:
		_, err = c.gateway.ThrowError(ctx, &pb.ThrowErrorRequest{
			JobKey: j.Key, ErrorCode: a.Code, ErrorMessage: a.Message, Variables: a.Variables,
		})
	case job.KindFail, job.KindRelease:
		_, err = c.gateway.FailJob(ctx, &pb.FailJobRequest{
			JobKey: j.Key, Retries: a.Retries, ErrorMessage: a.Message,
		})
	default:
		err = status.Error(codes.InvalidArgument, "an answer of no kind")
	}
	return err
}

func (c *client) ExtendLock(ctx context.Context, j job.Job, lock time.Duration) error {
	_, err := c.gateway.UpdateJobTimeout(ctx, &pb.UpdateJobTimeoutRequest{
		JobKey: j.Key, Timeout: lock.Milliseconds(),
	})
	return err
}

func (c *client) Topology(ctx context.Context) (transport.Topology, error) {
	r, err := c.gateway.Topology(ctx, &pb.TopologyRequest{})
	if err != nil {
		return transport.Topology{}, err
	}
	return fromTopology(r), nil
}

func fromTopology(r *pb.TopologyResponse) transport.Topology {
	led := map[int32]bool{}
	for _, broker := range r.Brokers {
		for _, p := range broker.Partitions {
			if p.Role == pb.Partition_LEADER && p.Health == pb.Partition_HEALTHY {
				led[p.PartitionId] = true
			}
		}
	}
	return transport.Topology{Version: r.GatewayVersion, Partitions: int(r.PartitionsCount), Led: len(led)}
}

func (c *client) Deploy(
	ctx context.Context, tenant string, models []bpmn.Model,
) (deployed []transport.Deployed, err error) {
	request := &pb.DeployResourceRequest{TenantId: tenant}
	for _, r := range models {
		request.Resources = append(request.Resources, &pb.Resource{Name: r.Name, Content: r.Content})
	}
	r, err := c.gateway.DeployResource(ctx, request)
	if err != nil {
		return nil, err
	}
	for _, d := range r.Deployments {
		if p := d.GetProcess(); p != nil {
			deployed = append(deployed, transport.Deployed{
				ID:       p.BpmnProcessId,
				Resource: p.ResourceName,
				Version:  p.Version,
				Key:      p.ProcessDefinitionKey,
			})
		}
		if f := d.GetForm(); f != nil {
			deployed = append(deployed, transport.Deployed{
				ID: f.FormId, Resource: f.ResourceName, Version: f.Version, Key: f.FormKey,
			})
		}
	}
	return deployed, nil
}

func (c *client) PublishMessage(ctx context.Context, m transport.Message) error {
	_, err := c.gateway.PublishMessage(ctx, &pb.PublishMessageRequest{
		Name:           m.Name,
		CorrelationKey: m.CorrelationKey,
		MessageId:      m.ID,
		Variables:      string(m.Variables),
		TenantId:       m.Tenant,
	})
	return err
}

// failed returns the error of a call as it may be logged.
func failed(err error, a *transport.Authorizer) error {
	if err == nil {
		return nil
	}
	return a.Fail(status.Code(err), status.Convert(err).Message())
}
