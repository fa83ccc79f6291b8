// Package zeebe is the worker's side of a Zeebe broker: it connects, takes jobs, calls a [job.Handler], sends its answers,
// deploys models and queries the cluster's state. It knows jobs, not claims.
//
// It calls the gateway by the generated stubs and has its own job loop; docs/decisions.md says why.
package zeebe

import (
	"context"
	"fmt"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/outage"
)

// Client is a connection to a Zeebe gateway. It is safe for concurrent use.
type Client struct {
	conn    *grpc.ClientConn
	gateway pb.GatewayClient
}

// Close ends the connection. Calls under way fail.
func (c *Client) Close() error {
	return c.conn.Close()
}

// awaitConnection waits for d, or until a lost connection is back, or ctx ends. It waits for the shortest pause at least:
// the first call of a connection can fail before the connection counts as ready.
func (c *Client) awaitConnection(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	state := c.conn.GetState()
	if state == connectivity.Ready {
		<-ctx.Done()
		return
	}
	outage.Sleep(ctx, pollBackoff.Min)
	for state = c.conn.GetState(); state != connectivity.Ready && c.conn.WaitForStateChange(ctx, state); {
		state = c.conn.GetState()
	}
}

// Topology is the state of a cluster as its gateway knows it.
type Topology struct {
	// Partitions is how many partitions the cluster is set up with, Led how many of them have a healthy leader.
	Partitions, Led int
}

// Healthy reports whether every partition has a healthy leader, so that jobs of all of them can be worked.
func (t Topology) Healthy() bool { return t.Partitions > 0 && t.Led == t.Partitions }

// Topology queries the gateway for the state of its cluster.
func (c *Client) Topology(ctx context.Context) (Topology, error) {
	r, err := c.gateway.Topology(ctx, &pb.TopologyRequest{})
	if err != nil {
		return Topology{}, fmt.Errorf("ask the gateway for its topology: %w", err)
	}
	return fromTopology(r), nil
}

func fromTopology(r *pb.TopologyResponse) Topology {
	led := map[int32]bool{}
	for _, broker := range r.Brokers {
		for _, p := range broker.Partitions {
			if p.Role == pb.Partition_LEADER && p.Health == pb.Partition_HEALTHY {
				led[p.PartitionId] = true
			}
		}
	}
	return Topology{Partitions: int(r.PartitionsCount), Led: len(led)}
}

// Resource is a BPMN model to deploy, by the name of its file.
type Resource = pb.Resource

// Deployed is one process definition that a deployment created, or found unchanged.
type Deployed struct {
	// ID is the process id, Resource the name of the file it came from.
	ID, Resource string
	// Version counts from 1 and stays as it was when the resource did not change.
	Version int32
	// Key identifies this version of the definition.
	Key int64
}

// Deploy deploys resources together: all of them or none.
func (c *Client) Deploy(ctx context.Context, resources []*Resource) ([]Deployed, error) {
	r, err := c.gateway.DeployResource(ctx, &pb.DeployResourceRequest{Resources: resources})
	if err != nil {
		return nil, fmt.Errorf("deploy %d resources: %w", len(resources), err)
	}
	var deployed []Deployed
	for _, d := range r.Deployments {
		if p := d.GetProcess(); p != nil {
			deployed = append(deployed, Deployed{p.BpmnProcessId, p.ResourceName, p.Version, p.ProcessDefinitionKey})
		}
	}
	return deployed, nil
}

// Message is something that happened outside of the processes. Name and CorrelationKey say which process instances it is
// for; Variables is a JSON object that the process gets.
type Message = pb.PublishMessageRequest

// PublishMessage delivers a message to the process instances that wait for it at this moment; if none does, it is lost
// without an error. It tries again until ctx ends while the gateway is too busy, and after no other failure, because the
// message may have been delivered.
func (c *Client) PublishMessage(ctx context.Context, m *Message) error {
	backoff := answerBackoff
	for {
		_, err := c.gateway.PublishMessage(ctx, m)
		if err == nil {
			return nil
		}
		if status.Code(err) != codes.ResourceExhausted || ctx.Err() != nil {
			return fmt.Errorf("publish the message %s: %w", m.Name, err)
		}
		outage.Sleep(ctx, backoff.Next())
	}
}
