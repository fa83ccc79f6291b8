package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	"hospital.example/analyze-retry/internal/testing/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const model = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
<process id="P" isExecutable="true"><startEvent id="S"/><sequenceFlow id="F" sourceRef="S" targetRef="T"/>
<serviceTask id="T"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements></serviceTask>
<boundaryEvent id="B" attachedToRef="T"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>
<sequenceFlow id="G" sourceRef="B" targetRef="U"/>
<userTask id="U"><extensionElements><zeebe:userTask/></extensionElements></userTask></process></definitions>`

// must passes on a request that has to succeed, and returns its answer.
func must[A any](t *testing.T, g *Gateway, request any) A {
	t.Helper()
	answer, err := g.Do(request)
	check.Must(t, err)
	return answer.(A)
}

// withModel returns a gateway with the model above.
func withModel(t *testing.T, o Options) *Gateway {
	t.Helper()
	g := New(o)
	t.Cleanup(func() { g.Close() })
	must[*pb.DeployResourceResponse](t, g, &pb.DeployResourceRequest{
		Resources: []*pb.Resource{{Name: "p.bpmn", Content: []byte(model)}},
	})
	return g
}

func start(t *testing.T, g *Gateway, variables string) int64 {
	t.Helper()
	return must[*pb.CreateProcessInstanceResponse](t, g, &pb.CreateProcessInstanceRequest{
		BpmnProcessId: "P", Version: -1, Variables: variables,
	}).ProcessInstanceKey
}

// client returns a client over gRPC, in memory.
func client(t *testing.T, g *Gateway, options ...grpc.DialOption) pb.GatewayClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///engine", append(options,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(g.Pipe()))...)
	check.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return pb.NewGatewayClient(conn)
}

func request(wait time.Duration) *pb.ActivateJobsRequest {
	return &pb.ActivateJobsRequest{
		Type: "t", Worker: "w", Timeout: 10_000, MaxJobsToActivate: 5, RequestTimeout: wait.Milliseconds(),
	}
}

// poll polls once.
func poll(ctx context.Context, c pb.GatewayClient, r *pb.ActivateJobsRequest) (jobs []*pb.ActivatedJob, err error) {
	stream, err := c.ActivateJobs(ctx, r)
	for err == nil {
		var response *pb.ActivateJobsResponse
		response, err = stream.Recv()
		jobs = append(jobs, response.GetJobs()...)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return jobs, err
}

func TestALongPollEndsWithTheFirstJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := withModel(t, Options{})
		c := client(t, g)
		time.AfterFunc(3*time.Second, func() { start(t, g, `{}`) })
		began := time.Now()
		jobs, err := poll(t.Context(), c, request(time.Minute))
		if len(jobs) != 1 || err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("%d jobs, %v, after %v", len(jobs), err, time.Since(began))
		}
		for wait, want := range map[time.Duration]time.Duration{0: 10 * time.Second, -1 * time.Millisecond: 0, time.Second: time.Second} {
			began = time.Now()
			_, err = poll(
				t.Context(),
				c,
				&pb.ActivateJobsRequest{Type: "none", Timeout: 1, MaxJobsToActivate: 1, RequestTimeout: wait.Milliseconds()},
			)
			if err != nil || time.Since(began) != want {
				t.Errorf("a poll that waits for %v ends after %v: %v", wait, time.Since(began), err)
			}
		}
	})
}

func TestTheJobsOfAPollWhoseClientIsGoneAreReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := withModel(t, Options{})
		c := client(t, g)
		start(t, g, `{}`)
		g.Inject(ActivateJobs, Fault{Delay: time.Second}) // the client does not wait for it
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := poll(ctx, c, request(0)); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("error %v", err)
		}
		<-time.After(2 * time.Second)
		if jobs, err := poll(t.Context(), c, request(-1*time.Millisecond)); len(jobs) != 1 || jobs[0].Retries != 3 || err != nil {
			t.Errorf("jobs %v, %v", jobs, err)
		}
	})
}

func TestJobsNestedTooDeepAreLockedAndNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := withModel(t, Options{})
		c := client(t, g)
		start(t, g, `{}`)
		start(t, g, `{"deep":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := poll(ctx, c, request(time.Second)); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("error %v", err)
		}
		<-time.After(time.Second)
		r := request(-1 * time.Millisecond)
		r.FetchVariable = []string{"other"}
		if jobs, err := poll(t.Context(), c, r); len(jobs) != 2 || err != nil {
			t.Errorf("%d jobs, %v, want the whole batch after its lock", len(jobs), err)
		}
	})
}

// play starts instances, moves the clock, answers a job and a task, and returns what the engine looks like then.
func play(t *testing.T, s *Server) {
	t.Helper()
	must[*pb.DeployResourceResponse](
		t,
		s.Gateway,
		&pb.DeployResourceRequest{Resources: []*pb.Resource{{Name: "p.bpmn", Content: []byte(model)}}},
	)
	for n := range 3 {
		start(t, s.Gateway, fmt.Sprintf(`{"n":%d}`, n))
	}
	jobs := must[*pb.ActivateJobsResponse](t, s.Gateway, &pb.ActivateJobsRequest{Type: "t", Timeout: 1e9, MaxJobsToActivate: 2}).Jobs
	must[*pb.CompleteJobResponse](
		t,
		s.Gateway,
		&pb.CompleteJobRequest{JobKey: jobs[0].Key, Variables: `{"done":true}`},
	)
	s.SetClock(time.Hour)
	var task int64
	for line := range strings.Lines(string(read(t, RecordsFile(s.Dir)))) {
		var r engine.Record
		check.Must(t, json.Unmarshal([]byte(line), &r))
		if r.ValueType == "USER_TASK" && r.Intent == "CREATED" {
			task = r.Key
		}
	}
	_, err := s.Do(&engine.CompleteUserTask{Key: task, Variables: `{}`})
	check.Must(t, err)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	check.Must(t, err)
	return text
}

func TestAKilledServerComesBackAsItWas(t *testing.T) {
	s, err := Start(t.TempDir())
	check.Must(t, err)
	play(t, s)
	now, records := s.Now(), read(t, RecordsFile(s.Dir))
	check.Must(t, s.Stop())

	journal := filepath.Join(s.Dir, "journal.jsonl")
	whole := read(t, journal)
	check.Must(t, os.WriteFile(journal, append(bytes.Clone(whole), `{"at":1,"comm`...), 0o600)) // killed while it wrote a command
	check.Must(t, s.Restart())
	defer func() { check.Must(t, s.Stop()) }()
	if again := read(t, RecordsFile(s.Dir)); !bytes.Equal(records, again) {
		t.Errorf("%d bytes of records before, %d after", len(records), len(again))
	}
	check.Same(t, string(whole), string(read(t, journal)), "journal")
	if back := s.Now().Sub(now); back < 0 || back > time.Hour/2 {
		t.Errorf("the clock moved by %v", back)
	}
	start(t, s.Gateway, `{}`) // its keys go on
	if last := read(t, RecordsFile(s.Dir)); len(last) <= len(records) || !bytes.HasPrefix(last, records) {
		t.Error("no further records")
	}
}

func TestAJournalThatCannotBeReadIsRefused(t *testing.T) {
	for line, text := range map[string]string{
		"no JSON":                      "invalid character",
		`{"at":1,"command":"no.such"}`: "no.such",
		`{"at":1,"command":"gateway_protocol.CompleteJobRequest","request":{"x":1}}`: "unknown field",
	} {
		dir := t.TempDir()
		check.Must(t, os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte(line+"\n"), 0o600))
		if _, err := Start(dir); err == nil || !strings.Contains(err.Error(), "repeat the commands of") || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want one with %s", err, text)
		}
	}
}

func TestFaultsAreReadFromLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := withModel(t, Options{KeepCalls: true})
		c := client(t, g)
		topology := func() codes.Code {
			_, err := c.Topology(t.Context(), &pb.TopologyRequest{})
			return status.Code(err)
		}
		check.Must(t, g.InjectText("Topology code=UNAVAILABLE times=2\n\nTopology delay=2s\n"))
		check.Same(t, codes.Unavailable, topology(), "code")
		check.Same(t, codes.Unavailable, topology(), "code")
		began := time.Now()
		check.Same(t, codes.OK, topology(), "code")
		check.Same(t, 2*time.Second, time.Since(began), "delay")
		check.Must(t, g.InjectText("away=10s"))
		check.Same(t, codes.Unavailable, topology(), "code while it is away")
		<-time.After(10 * time.Second)
		check.Same(t, codes.OK, topology(), "code when it is back")
		check.Must(t, g.InjectText("Topology code=INTERNAL times=-1"))
		check.Same(t, codes.Internal, topology(), "code")
		check.Must(t, g.InjectText("heal"))
		check.Same(t, codes.OK, topology(), "code")
		check.Same(t, 7, len(g.Calls(Topology)), "calls")
	})
}

func TestAnAppliedFaultLosesOnlyTheAnswer(t *testing.T) {
	g := withModel(t, Options{})
	c := client(t, g)
	create := &pb.CreateProcessInstanceRequest{BpmnProcessId: "P", Version: -1}
	g.Inject("CreateProcessInstance", Fault{Code: codes.Unavailable})
	g.Inject("CreateProcessInstance", Fault{Code: codes.Unavailable, Applied: true})
	for want := range 2 {
		if _, err := c.CreateProcessInstance(t.Context(), create); status.Code(err) != codes.Unavailable {
			t.Errorf("error %v", err)
		}
		jobs, err := poll(t.Context(), c, request(-1*time.Millisecond))
		if len(jobs) != want || err != nil {
			t.Errorf("%d jobs, %v", len(jobs), err)
		}
	}
}

func TestMoreRequestsThanTheLimitAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := withModel(t, Options{})
		c := client(t, g)
		check.Must(t, g.InjectText("limit=0"))
		start(t, g, `{}`)
		g.inFlight.Add(1) // one is under way
		check.Must(t, g.InjectText("limit=1"))
		_, err := c.Topology(t.Context(), &pb.TopologyRequest{})
		check.Same(t, codes.ResourceExhausted, status.Code(err), "code")
		_, err = poll(t.Context(), c, request(0))
		check.Same(t, codes.ResourceExhausted, status.Code(err), "code of a poll")
		g.inFlight.Add(-1)
		jobs, err := poll(t.Context(), c, request(0))
		if len(jobs) != 1 || err != nil {
			t.Errorf("%d jobs, %v", len(jobs), err)
		}
	})
}

func TestAPollCanGetWhatWasNotAskedFor(t *testing.T) {
	g := withModel(t, Options{})
	start(t, g, `{}`)
	g.Deliver(func(j *pb.ActivatedJob) []*pb.ActivatedJob {
		j.Variables = "no JSON"
		return []*pb.ActivatedJob{j, j}
	})
	g.Inject(ActivateJobs, Fault{Empty: true})
	jobs, err := poll(t.Context(), client(t, g), request(0))
	if len(jobs) != 2 || jobs[1].Variables != "no JSON" || err != nil {
		t.Errorf("jobs %v, %v", jobs, err)
	}
}

// call makes a call of a handler and returns the status and the body.
func call(h http.Handler, method, path, body string) (code int, answer string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, strings.TrimSpace(w.Body.String())
}

func TestTheClockIsMovedOverTheManagementPort(t *testing.T) {
	g := withModel(t, Options{})
	h := g.Monitoring()
	start(t, g, `{}`)
	clock := func(method, path, body string) time.Time {
		code, text := call(h, method, path, body)
		var at struct{ EpochMilli int64 }
		if err := json.Unmarshal([]byte(text), &at); code != http.StatusOK || err != nil {
			t.Fatalf("%d %s", code, text)
		}
		return time.UnixMilli(at.EpochMilli)
	}
	before := clock("GET", "/actuator/clock", "")
	after := clock("POST", "/actuator/clock/add", `{"offsetMilli":3600000}`)
	if moved := after.Sub(before); moved < time.Hour || moved > 90*time.Minute {
		t.Errorf("moved by %v", moved)
	}
	if reset := clock("DELETE", "/actuator/clock", ""); reset.Sub(before) > time.Hour/2 {
		t.Errorf("reset to %v", reset)
	}
	if code, text := call(h, "POST", "/faults", "nonsense"); code != http.StatusBadRequest || !strings.Contains(text, `fault "nonsense"`) {
		t.Errorf("%d %s", code, text)
	}
}

func TestAMoveOfTheClockWakesWhatWaitsAndCutsNoPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := withModel(t, Options{})
		c := client(t, g)
		start(t, g, `{}`)
		_, err := poll(t.Context(), c, request(-1*time.Millisecond)) // locked for 10 s
		check.Must(t, err)
		began := time.Now()
		time.AfterFunc(2*time.Second, func() { g.SetClock(4 * time.Second) })
		jobs, err := poll(t.Context(), c, request(time.Minute))
		if len(jobs) != 1 || err != nil || time.Since(began) != 6*time.Second {
			t.Errorf("%d jobs, %v, after %v", len(jobs), err, time.Since(began))
		}
		time.AfterFunc(time.Second, func() { g.SetClock(time.Minute) })
		began = time.Now()
		jobs, err = poll(t.Context(), c, request(time.Minute))
		if len(jobs) != 1 || err != nil || time.Since(began) != time.Second {
			t.Errorf("%d jobs, %v, after %v", len(jobs), err, time.Since(began))
		}
	})
}

func TestAPollWithANegativeTimeOrNumberIsRefused(t *testing.T) {
	g := New(Options{})
	defer g.Close()
	for text, r := range map[string]*pb.ActivateJobsRequest{
		"zero, but it was -1": {Type: "t", Timeout: -1, MaxJobsToActivate: 1},
		"zero, but it was -2": {Type: "t", Timeout: 1, MaxJobsToActivate: -2},
	} {
		if _, err := poll(t.Context(), client(t, g), r); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %s", err, text)
		}
	}
}

func TestAJobOfTheGreatestDepthIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := withModel(t, Options{})
		deep := func(n int) string { return `{"deep":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start(t, g, deep(1000))
		if jobs, err := poll(ctx, client(t, g), request(-1*time.Millisecond)); len(jobs) != 1 || err != nil {
			t.Errorf("%d jobs, %v", len(jobs), err)
		}
		activate := func() string {
			body := strings.NewReader(`{"type":"t","timeout":10000,"maxJobsToActivate":1}`)
			w := httptest.NewRecorder()
			g.REST().ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v2/jobs/activation", body))
			return w.Body.String()
		}
		start(t, g, deep(990))
		if got := activate(); !strings.Contains(got, deep(990)) {
			t.Errorf("a job over REST is %s", got)
		}
		start(t, g, deep(991))
		began := time.Now()
		activate()
		check.Same(t, time.Second, time.Since(began), "the time until the client gave up")
	})
}

func TestAMessageHasAtMostFourMebibytes(t *testing.T) {
	g := withModel(t, Options{})
	for size, want := range map[int]codes.Code{4<<20 - 1<<10: codes.OK, 5 << 20: codes.ResourceExhausted} {
		_, err := client(t, g).CreateProcessInstance(t.Context(), &pb.CreateProcessInstanceRequest{
			BpmnProcessId: "P", Version: -1, Variables: `{"a":"` + strings.Repeat("x", size) + `"}`,
		})
		check.Same(t, want, status.Code(err), "code of a message with %d bytes", size)
		code, _ := call(g.REST(), "POST", "/v2/process-instances",
			`{"processDefinitionId":"P","variables":{"a":"`+strings.Repeat("x", size)+`"}}`)
		check.Same(t, want == codes.OK, code == http.StatusOK, "success over REST, %d bytes", size)
	}
}
