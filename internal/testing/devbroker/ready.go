package devbroker

import (
	"context"
	"fmt"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
)

// readyInterval is how often a starting broker is asked whether it is ready.
const readyInterval = 50 * time.Millisecond

// awaitReady returns when the broker's partition has a healthy leader and its clock answers, or when ctx ends. The
// error says what was missing last.
func (b *Broker) awaitReady(ctx context.Context) error {
	conn, err := grpc.NewClient(b.Address(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// The default waits a second and more between two dials, which is most of what a start takes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: readyInterval, Multiplier: 1, MaxDelay: readyInterval},
			MinConnectTimeout: time.Second,
		}))
	if err != nil {
		return fmt.Errorf("connect to the gateway %s: %w", b.Address(), err)
	}
	defer conn.Close()
	gateway := pb.NewGatewayClient(conn)
	tick := time.NewTicker(readyInterval)
	defer tick.Stop()
	for {
		missing := healthyLeader(ctx, gateway, b.at.Ports.Command)
		if missing == nil {
			_, missing = b.Now(ctx)
		}
		if missing == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return missing
		}
	}
}

// healthyLeader tells by its error what the topology still lacks. Only the broker with our command port counts: another
// broker may have taken the gateway's port before ours did.
func healthyLeader(ctx context.Context, gateway pb.GatewayClient, commandPort int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	topology, err := gateway.Topology(ctx, &pb.TopologyRequest{})
	if err != nil {
		return err
	}
	for _, broker := range topology.GetBrokers() {
		if int(broker.GetPort()) != commandPort {
			continue
		}
		for _, partition := range broker.GetPartitions() {
			if partition.GetRole() == pb.Partition_LEADER && partition.GetHealth() == pb.Partition_HEALTHY {
				return nil
			}
		}
	}
	return fmt.Errorf("the topology shows no healthy leader yet: %v", topology.GetBrokers())
}
