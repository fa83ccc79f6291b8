package devbroker

import (
	"context"
	"net"
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/testing/check"
)

// gateway answers Topology calls with one broker of one partition.
type gateway struct {
	pb.UnimplementedGatewayServer
	port      int32
	partition pb.Partition
}

func (g *gateway) Topology(context.Context, *pb.TopologyRequest) (*pb.TopologyResponse, error) {
	return &pb.TopologyResponse{Brokers: []*pb.BrokerInfo{{Port: g.port, Partitions: []*pb.Partition{&g.partition}}}}, nil
}

func TestOnlyAHealthyLeaderOfOurOwnBrokerCounts(t *testing.T) {
	const ours, another = 26501, 26502
	for name, c := range map[string]struct {
		port   int32
		role   pb.Partition_PartitionBrokerRole
		health pb.Partition_PartitionBrokerHealth
		ready  bool
	}{
		"a healthy leader":             {ours, pb.Partition_LEADER, pb.Partition_HEALTHY, true},
		"a leader that is not healthy": {ours, pb.Partition_LEADER, pb.Partition_UNHEALTHY, false},
		"a follower":                   {ours, pb.Partition_FOLLOWER, pb.Partition_HEALTHY, false},
		"the leader of another broker": {another, pb.Partition_LEADER, pb.Partition_HEALTHY, false},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			check.Must(t, err)
			server := grpc.NewServer()
			pb.RegisterGatewayServer(server, &gateway{port: c.port, partition: pb.Partition{Role: c.role, Health: c.health}})
			go func() { _ = server.Serve(listener) }()
			defer server.Stop()
			conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
			check.Must(t, err)
			defer conn.Close()
			if err := healthyLeader(t.Context(), pb.NewGatewayClient(conn), ours); (err == nil) != c.ready {
				t.Errorf("ready: %v, want %v (%v)", err == nil, c.ready, err)
			}
		})
	}
}
