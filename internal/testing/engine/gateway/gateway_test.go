package gateway

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const model = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
<process id="P" isExecutable="true"><startEvent id="S"/><sequenceFlow id="F" sourceRef="S" targetRef="T"/>
<serviceTask id="T"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements></serviceTask>
<boundaryEvent id="B" attachedToRef="T"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>
<sequenceFlow id="G" sourceRef="B" targetRef="U"/>
<userTask id="U"><extensionElements><zeebe:userTask/></extensionElements></userTask></process></definitions>`

// do passes on a request that has to succeed, and returns its answer.
func do[A any](t *testing.T, g *Gateway, request any) A {
	t.Helper()
	answer, err := g.Do(request)
	check.Must(t, err)
	return answer.(A)
}

func deploy(t *testing.T, g *Gateway) {
	t.Helper()
	do[*pb.DeployResourceResponse](t, g, &pb.DeployResourceRequest{
		Resources: []*pb.Resource{{Name: "p.bpmn", Content: []byte(model)}},
	})
}

// withModel returns a gateway with the model above.
func withModel(t *testing.T, o Options) *Gateway {
	t.Helper()
	g := New(o)
	t.Cleanup(g.Close)
	deploy(t, g)
	return g
}

func start(t *testing.T, g *Gateway, variables string) {
	t.Helper()
	do[*pb.CreateProcessInstanceResponse](t, g, &pb.CreateProcessInstanceRequest{
		BpmnProcessId: "P", Version: -1, Variables: variables,
	})
}

// poller returns what polls over gRPC, in memory, and says how many jobs came and how long it took.
func poller(t *testing.T, g *Gateway) func(context.Context, time.Duration) (int, time.Duration, error) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///engine",
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(g.Pipe()))
	check.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	client := pb.NewGatewayClient(conn)
	return func(ctx context.Context, wait time.Duration) (jobs int, took time.Duration, err error) {
		began := time.Now()
		stream, err := client.ActivateJobs(ctx, &pb.ActivateJobsRequest{
			Type: "t", Timeout: 10_000, MaxJobsToActivate: 5, RequestTimeout: wait.Milliseconds(),
		})
		for err == nil {
			var response *pb.ActivateJobsResponse
			response, err = stream.Recv()
			jobs += len(response.GetJobs())
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return jobs, time.Since(began), err
	}
}

const noWait = -time.Millisecond

func TestAPollEndsWithTheFirstJobOrItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := withModel(t, Options{})
		poll := poller(t, g)
		for wait, want := range map[time.Duration]time.Duration{
			0:           10 * time.Second,
			noWait:      0,
			time.Second: time.Second,
		} {
			jobs, took, err := poll(t.Context(), wait)
			check.Must(t, err)
			check.Same(t, want, took, "time of a poll that waits for %v", wait)
			check.Same(t, 0, jobs, "jobs")
		}
		time.AfterFunc(3*time.Second, func() { start(t, g, `{}`) })
		jobs, took, err := poll(t.Context(), time.Minute)
		check.Must(t, err)
		check.Same(t, 1, jobs, "jobs")
		check.Same(t, 3*time.Second, took, "time until the job came")
		time.AfterFunc(2*time.Second, func() { g.SetClock(4 * time.Second) }) // its lock ends after 10 s
		jobs, took, err = poll(t.Context(), time.Minute)
		check.Must(t, err)
		check.Same(t, 1, jobs, "jobs")
		check.Same(t, 6*time.Second, took, "time until the lock ended, by a clock that moved")
	})
}

func TestTheJobsOfAPollWhoseClientIsGoneAreReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := withModel(t, Options{})
		poll := poller(t, g)
		start(t, g, `{}`)
		g.Inject("ActivateJobs", Fault{Delay: time.Second}) // the client does not wait for it
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, _, err := poll(ctx, 0)
		check.Same(t, codes.DeadlineExceeded, status.Code(err), "code")
		<-time.After(2 * time.Second)
		jobs, _, err := poll(t.Context(), noWait)
		check.Must(t, err)
		check.Same(t, 1, jobs, "jobs")
	})
}

// That the API says what gRPC says is shown by the worker's client (transporttest) and by Camunda's own (test/clients).
func TestWhatTheRESTAPIDoesNotTakeIsRefused(t *testing.T) {
	g := withModel(t, Options{})
	const create = `{"processDefinitionId":"P","variables":{"n":1},"requestTimeout":0,"tags":`
	for _, call := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/v2/process-instances", create + `["t"]}`, 400, "property [tags] cannot be parsed"},
		{"POST", "/v2/process-instances", create + `[]}`, 200, `"processInstanceKey":"22`},
		{"POST", "/v2/jobs/activation", `{"withLease":true}`, 400, "property [withLease] cannot be parsed"},
		{"POST", "/v2/jobs/activation", `{"type":"t","timeout":0,"maxJobsToActivate":1}`, 400, "to be greater than zero"},
		{"POST", "/v2/jobs/activation", `{"type":"t","timeout":1,"maxJobsToActivate":0}`, 400, "to be greater than zero"},
		{"POST", "/v2/messages/publication", `{"name":"` + strings.Repeat("m", 4<<20) + `"}`, 400, "body cannot be read"},
		{"POST", "/v2/jobs/activation", `{"type":`, 400, "body cannot be read"},
		{"POST", "/v2/user-tasks/7/completion", `{}`, 404, `"title":"NOT_FOUND"`},
		{"POST", "/v2/user-tasks/x/completion", `{}`, 400, `"title":"Bad Request"`},
		{"GET", "/v2/nothing", ``, 404, "No endpoint"},
	} {
		w := httptest.NewRecorder()
		g.REST().ServeHTTP(w, httptest.NewRequest(call.method, call.path, strings.NewReader(call.body)))
		if w.Code != call.status || !strings.Contains(w.Body.String(), call.says) {
			t.Errorf("%s answers %d %s, want %d with %s", call.path, w.Code, w.Body, call.status, call.says)
		}
	}
}
