package zeebe

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
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
		check.Must(r, r.client.PublishMessage(r.Context(), &Message{Name: "redrive-claim", CorrelationKey: "CLM-001-7", MessageId: "id", Variables: `{"decidedBy":"maria"}`}))
		want := []*pb.PublishMessageRequest{{Name: "redrive-claim", CorrelationKey: "CLM-001-7", MessageId: "id", Variables: `{"decidedBy":"maria"}`}}
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

// goodOAuth is a configuration without a fault.
var goodOAuth = OAuthConfig{ClientID: "id", ClientSecret: secret, TokenURL: "https://login.example/token", Audience: "zeebe"}

func TestDialNamesEveryFaultOfTheConfiguration(t *testing.T) {
	withTokenURL := func(tokenURL string) *OAuthConfig {
		o := goodOAuth
		o.TokenURL = tokenURL
		return &o
	}
	const (
		ca, pair, token = "ZEEBE_CA_CERTIFICATE_PATH: ", "ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH: open ", "refusing to send a token over plaintext"
		client          = "ZEEBE_AUTHORIZATION_SERVER_URL: refusing to send the client secret"
		gateway         = "zeebe:26500"
	)
	for name, test := range map[string]struct {
		config Config
		want   []string
	}{
		"authority that is no file":        {Config{Address: gateway, CACertPath: "testdata/none.pem"}, []string{ca + "open testdata/none.pem"}},
		"authority that is no certificate": {Config{Address: gateway, CACertPath: "client_test.go"}, []string{ca + "client_test.go holds no certificate in PEM"}},
		"certificate without key":          {Config{Address: gateway, ClientCertPath: "client_test.go"}, []string{pair + ": "}},
		"key without certificate":          {Config{Address: gateway, ClientKeyPath: "client_test.go"}, []string{pair + ": "}},
		"certificate that is no file":      {Config{Address: gateway, ClientCertPath: "testdata/c.pem", ClientKeyPath: "testdata/k.pem"}, []string{pair + "testdata/c.pem"}},
		"token over plaintext": {
			Config{Address: "zeebe.example:26500", Plaintext: true, OAuth: &goodOAuth},
			[]string{token + " to a host that is not loopback (zeebe.example)"},
		},
		"token over plaintext to a private address": {
			Config{Address: "10.0.0.1:26500", Plaintext: true, OAuth: &goodOAuth},
			[]string{token + " to a host that is not loopback (10.0.0.1)"},
		},
		"token over plaintext to what is no address": {Config{Address: "127.0.0.1", Plaintext: true, OAuth: &goodOAuth}, []string{token}},
		"secret over plaintext":                      {Config{Address: gateway, OAuth: withTokenURL("http://login.example/token")}, []string{client}},
		"URL that is none":                           {Config{Address: gateway, OAuth: withTokenURL("login:" + secret)}, []string{client}},
		"many at once": {
			Config{Address: gateway, CACertPath: "none.pem", ClientKeyPath: "k.pem", OAuth: withTokenURL(secret + "%")},
			[]string{ca, "\n" + pair, "\n" + client},
		},
		"many at once, in plaintext": {
			Config{Address: gateway, Plaintext: true, OAuth: &OAuthConfig{}},
			[]string{"ZEEBE_INSECURE_CONNECTION", "\n" + client},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Dial(test.config)
			if err == nil {
				t.Fatal("no fault found")
			}
			check.Contains(t, err.Error(), test.want...)
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the secret stands in %q", err)
			}
		})
	}
}

func TestTokenMayGoOverPlaintextToThisMachine(t *testing.T) {
	for _, host := range []string{"localhost", "127.9.9.9", "::1"} {
		c, err := Dial(Config{Address: net.JoinHostPort(host, "26500"), Plaintext: true, OAuth: &goodOAuth})
		if err != nil {
			t.Error(err)
			continue
		}
		_ = c.Close()
	}
}

func TestAGatewayThatIsBackIsFoundSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := gatewaytest.New(), gatewaytest.New()
		defer first.Close()
		defer second.Close()
		var there atomic.Pointer[gatewaytest.Gateway]
		there.Store(first)
		c, err := dial(Config{Address: "127.0.0.1:1", Plaintext: true},
			grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
				return there.Load().Pipe()(ctx, address)
			}))
		check.Must(t, err)
		defer func() { _ = c.Close() }()
		topology := func() codes.Code {
			_, err := c.Topology(t.Context())
			return status.Code(err)
		}
		if code := topology(); code != codes.OK {
			t.Fatalf("gateway answers %v", code)
		}
		first.Close()
		for range 540 { // long enough for the pauses between tries to have grown
			if code := topology(); code != codes.Unavailable {
				t.Fatalf("a gateway that is away answers %v", code)
			}
			<-time.After(time.Second)
		}
		there.Store(second)
		const jitter = reconnectMax / 5
		for back := time.Now(); topology() != codes.OK; <-time.After(100 * time.Millisecond) {
			if away := time.Since(back); away > reconnectMax+jitter {
				t.Fatalf("not found after %v", away)
			}
		}
	})
}
