package grpc

import (
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	transporttest.Run(t, transporttest.GRPC(Dial))
}

func TestOnlyHealthyLeadersLead(t *testing.T) {
	partition := func(id int32, role pb.Partition_PartitionBrokerRole, health pb.Partition_PartitionBrokerHealth) *pb.Partition {
		return &pb.Partition{PartitionId: id, Role: role, Health: health}
	}
	got := fromTopology(&pb.TopologyResponse{
		PartitionsCount: 3,
		GatewayVersion:  "8.6.0",
		Brokers: []*pb.BrokerInfo{
			{Partitions: []*pb.Partition{
				partition(1, pb.Partition_LEADER, pb.Partition_HEALTHY),
				partition(2, pb.Partition_LEADER, pb.Partition_UNHEALTHY),
				partition(3, pb.Partition_FOLLOWER, pb.Partition_HEALTHY),
			}},
			{Partitions: []*pb.Partition{
				partition(1, pb.Partition_LEADER, pb.Partition_HEALTHY), // a change of leaders is under way
			}},
		},
	})
	check.Same(t, transport.Topology{Version: "8.6.0", Partitions: 3, Led: 1}, got, "topology")
	for topology, want := range map[transport.Topology]bool{{}: false, {Partitions: 3, Led: 2}: false, {Partitions: 3, Led: 3}: true} {
		check.Same(t, want, topology.Healthy(), "whether %+v is healthy", topology)
	}
}
