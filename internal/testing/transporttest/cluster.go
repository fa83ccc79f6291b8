package transporttest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

func allResourcesAreDeployedAtOnce(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	r.gateway.Assign("norte")
	model := func(id string) []byte {
		return fmt.Appendf(nil, `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">`+
			`<process id="%s" isExecutable="true"><startEvent id="S"/></process></definitions>`, id)
	}
	got, err := r.client.Deploy(r.Context(), "norte", []bpmn.Model{
		{Name: "a.bpmn", Content: model("a")}, {Name: "b.bpmn", Content: model("b")}, {Name: "c.form", Content: []byte(`{"id":"c"}`)},
	})
	check.Must(r, err)
	if len(got) != 3 || got[2].ID != "c" || got[2].Resource != "c.form" || got[2].Version != 1 || got[2].Key == 0 {
		r.Errorf("deployed %+v, want a form at the end", got)
	}
	if len(got) != 3 || got[0].ID != "a" || got[1].Resource != "b.bpmn" || got[0].Version != 1 || got[0].Key == 0 {
		r.Errorf("deployed %+v", got)
	}
	sent := requests[*pb.DeployResourceRequest](r.gateway, enginetest.DeployResource)
	if len(sent) != 1 || string(sent[0].Resources[1].Content) != string(model("b")) || sent[0].TenantId != "norte" {
		r.Errorf("sent %v", sent)
	}
}

func aRefusedDeploymentNamesTheFaultsOfAllModels(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	var wrong []bpmn.Model
	for i := range 20 {
		wrong = append(wrong, bpmn.Model{Name: fmt.Sprintf("model-of-the-billing-department-%d.bpmn", i), Content: []byte("no BPMN")})
	}
	_, err := r.client.Deploy(r.Context(), "<default>", wrong)
	check.Same(r, codes.InvalidArgument, transport.Code(err), "code of %v", err)
	check.Fails(r, err, wrong[0].Name, wrong[19].Name)
}

func aMessageIsSentAsItIs(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	r.gateway.Assign("norte")
	check.Must(r, r.client.PublishMessage(r.Context(), transport.Message{
		Name: "redrive-claim", CorrelationKey: "CLM-001-7", ID: "id", Variables: json.RawMessage(`{"decidedBy":"maria"}`), Tenant: "norte",
	}))
	check.Same(r, []*pb.PublishMessageRequest{{
		Name: "redrive-claim", CorrelationKey: "CLM-001-7", MessageId: "id", Variables: `{"decidedBy":"maria"}`, TenantId: "norte",
	}}, requests[*pb.PublishMessageRequest](r.gateway, enginetest.PublishMessage), "sent")
}

func longTextsOfAGatewayAreCut(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	r.gateway.Inject(enginetest.PublishMessage, enginetest.Fault{Code: codes.Unavailable}) // its text repeats the request
	err := r.client.PublishMessage(t.Context(), transport.Message{Name: strings.Repeat("ã", 15_000)})
	check.Same(t, codes.Unavailable, transport.Code(err), "code")
	if len(err.Error()) > 400 || !utf8.ValidString(err.Error()) {
		t.Errorf("an error of %d bytes: %.500q", len(err.Error()), err.Error())
	}
}

func aMessageGoesAgainOnlyToABusyGateway(t *testing.T, p Protocol) {
	t.Helper()
	for code, want := range map[codes.Code]int{codes.ResourceExhausted: 4, codes.Unavailable: 1, codes.DeadlineExceeded: 1} {
		synctest.Test(t, func(t *testing.T) {
			r := p.connect(t, transport.Config{})
			r.gateway.Inject(enginetest.PublishMessage, enginetest.Fault{Times: 3, Code: code})
			err := transport.Publish(r.Context(), r.client, transport.Message{Name: "redrive-claim"})
			if sent := len(r.gateway.Calls(enginetest.PublishMessage)); sent != want || (err == nil) != (code == codes.ResourceExhausted) {
				r.Errorf("%s: sent %d times, %v", code, sent, err)
			}
		})
	}
}

func aGatewayThatIsBackIsFoundSoon(t *testing.T, p Protocol) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		first, second := enginetest.New(), enginetest.New()
		defer first.Close()
		defer second.Close()
		var there atomic.Pointer[func(context.Context, string) (net.Conn, error)]
		set := func(g *enginetest.Gateway) { dial := p.Pipe(g); there.Store(&dial) }
		set(first)
		c, err := p.Dial(transport.Config{Cluster: config.Cluster{ZeebeAddress: p.Scheme + "://127.0.0.1:1"}, Dial: func(ctx context.Context, address string) (net.Conn, error) {
			return (*there.Load())(ctx, address)
		}})
		check.Must(t, err)
		defer func() { _ = c.Close() }()
		topology := func() codes.Code {
			_, err := c.Topology(t.Context())
			return transport.Code(err)
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
		set(second)
		const soon = 6 * time.Second // five seconds and a fifth of jitter
		for back := time.Now(); topology() != codes.OK; <-time.After(100 * time.Millisecond) {
			if away := time.Since(back); away > soon {
				t.Fatalf("not found after %v", away)
			}
		}
	})
}

func aTenantThatIsNotAssignedIsDenied(t *testing.T, p Protocol) {
	t.Helper()
	r := p.connect(t, transport.Config{})
	r.gateway.Assign("norte")
	_, deployed := r.client.Deploy(t.Context(), "leste", []bpmn.Model{{Name: "a.bpmn"}})
	for name, err := range map[string]error{
		"poll":       r.client.Activate(t.Context(), poll, func([]job.Job) {}),
		"message":    r.client.PublishMessage(t.Context(), transport.Message{Name: "m", Tenant: "leste"}),
		"deployment": deployed,
	} {
		check.Same(t, codes.PermissionDenied, transport.Code(err), "code of the %s: %v", name, err)
	}
}
