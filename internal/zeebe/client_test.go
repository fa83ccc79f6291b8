package zeebe

import (
	"context"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

func TestOnlyHealthyLeadersLead(t *testing.T) {
	partition := func(id int32, role pb.Partition_PartitionBrokerRole, health pb.Partition_PartitionBrokerHealth) *pb.Partition {
		return &pb.Partition{PartitionId: id, Role: role, Health: health}
	}
	got := fromTopology(&pb.TopologyResponse{
		PartitionsCount: 3,
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
	if want := (Topology{Partitions: 3, Led: 1}); got != want {
		t.Errorf("topology is %+v, want %+v", got, want)
	}
	for topology, want := range map[Topology]bool{{}: false, {Partitions: 3, Led: 2}: false, {Partitions: 3, Led: 3}: true} {
		check.Same(t, want, topology.Healthy(), "whether %+v is healthy", topology)
	}
}

func TestDeployPutsAllResourcesOnTheBrokerAtOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		got, err := r.client.Deploy(r.Context(), []*Resource{{Name: "a.bpmn", Content: []byte("<a/>")}, {Name: "b.bpmn", Content: []byte("<b/>")}})
		check.Must(r, err)
		if len(got) != 2 || got[0].ID != "a.bpmn" || got[1].Resource != "b.bpmn" || got[0].Version != 1 || got[0].Key == 0 {
			r.Errorf("deployed %+v", got)
		}
		sent := requests[*pb.DeployResourceRequest](r.gateway, gatewaytest.DeployResource)
		if len(sent) != 1 || string(sent[0].Resources[1].Content) != "<b/>" {
			r.Errorf("sent %v", sent)
		}
	})
}

func TestMessageIsNotKept(t *testing.T) {
	inBubble(t, func(r *rig) {
		check.Must(r, r.client.PublishMessage(r.Context(), &Message{Name: "redrive-claim", CorrelationKey: "CLM-001-7", MessageId: "id", Variables: `{"operator":"maria"}`}))
		want := []*pb.PublishMessageRequest{{Name: "redrive-claim", CorrelationKey: "CLM-001-7", MessageId: "id", Variables: `{"operator":"maria"}`}}
		check.Same(r, want, requests[*pb.PublishMessageRequest](r.gateway, gatewaytest.PublishMessage), "sent")
	})
}

func TestAMessageIsSentAgainToABusyGatewayOnly(t *testing.T) {
	for code, want := range map[codes.Code]int{codes.ResourceExhausted: 4, codes.Unavailable: 1, codes.DeadlineExceeded: 1} {
		inBubble(t, func(r *rig) {
			r.gateway.Inject(gatewaytest.PublishMessage, gatewaytest.Fault{Times: 3, Code: code})
			err := r.client.PublishMessage(r.Context(), &Message{Name: "redrive-claim"})
			if sent := len(r.gateway.Calls(gatewaytest.PublishMessage)); sent != want || (err == nil) != (code == codes.ResourceExhausted) {
				r.Errorf("%s: sent %d times, %v", code, sent, err)
			}
		})
	}
}

func TestABusyGatewayIsGivenUpWithTheContext(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(gatewaytest.PublishMessage, gatewaytest.Fault{Times: -1, Code: codes.ResourceExhausted})
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
		defer cancel()
		err := r.client.PublishMessage(ctx, &Message{Name: "redrive-claim"})
		if code := status.Code(err); code != codes.ResourceExhausted && code != codes.DeadlineExceeded {
			r.Errorf("error %v", err)
		}
	})
}

func TestAFailedCallKeepsItsCode(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(gatewaytest.DeployResource, gatewaytest.Fault{Code: codes.InvalidArgument})
		r.gateway.Inject(gatewaytest.Topology, gatewaytest.Fault{Code: codes.Unavailable})
		_, deploy := r.client.Deploy(r.Context(), []*Resource{{Name: "a.bpmn"}})
		_, topology := r.client.Topology(r.Context())
		if status.Code(deploy) != codes.InvalidArgument || status.Code(topology) != codes.Unavailable {
			r.Errorf("errors are %v and %v", deploy, topology)
		}
	})
}
