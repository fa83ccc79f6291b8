package grpc

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	transporttest.Run(t, transporttest.GRPC(func(c transport.Config) (transport.Client, error) { return Dial(c) }))
}

func TestPortThatSpeaksNoGRPCIsQuestioned(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure2 := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure2.EnableHTTP2 = true
	secure2.StartTLS()
	defer secure2.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	check.Must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600))
	const want = "does the address fit the port? grpc:// is for gRPC, http:// for the REST API"
	for _, test := range []struct{ scheme, url string }{
		{transport.GRPC, plain.URL}, {transport.GRPC, secure.URL}, {transport.GRPCS, secure.URL}, {transport.GRPCS, secure2.URL},
	} {
		c, err := Dial(transport.Config{Scheme: test.scheme, Address: test.url[strings.LastIndex(test.url, "/")+1:], CACertPath: ca})
		check.Must(t, err)
		_, err = c.Topology(t.Context())
		check.Fails(t, err, want)
		check.Fails(t, c.Activate(t.Context(), transport.Poll{JobType: "t", Max: 1, Tenant: "<default>"}, func([]job.Job) {}), want)
		check.Must(t, c.Close())
	}
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
