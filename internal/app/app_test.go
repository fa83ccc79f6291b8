package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/zeebe/gatewaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client keeps no connections, so that none is left when a test ends.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}

// enough is how long a test waits for what should come at once.
const enough = 20 * time.Second

// gateway serves a gateway on a free port; its address is host:port.
func gateway(t *testing.T, options ...grpc.ServerOption) (g *gatewaytest.Gateway, address string) {
	t.Helper()
	g = gatewaytest.New(options...)
	t.Cleanup(g.Close)
	return g, serve(t, g, "127.0.0.1:0")
}

func serve(t *testing.T, g *gatewaytest.Gateway, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	g.Serve(listener)
	return listener.Addr().String()
}

// freeAddress is an address that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

func settings(zeebeAddress string) config.Config {
	return config.Config{
		WorkerName: "test", MaxJobsActive: 8, JobTimeout: 10 * time.Second, ShutdownTimeout: 5 * time.Second,
		HTTPAddress: "127.0.0.1:0", LogLevel: "debug", LogFormat: "json",
		ZeebeAddress: zeebeAddress, ZeebeInsecure: true, GCPercent: 200,
	}
}

// running is an app that runs.
type running struct {
	t    *testing.T
	url  string
	stop context.CancelFunc
	done chan error // what Run returned
	logs *observer.ObservedLogs
}

func start(t *testing.T, cfg config.Config) *running {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	a, err := app.New(cfg, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r := &running{t: t, url: "http://" + a.Addr(), stop: stop, done: make(chan error, 1), logs: logs}
	go func() { r.done <- a.Run(ctx); close(r.done) }()
	t.Cleanup(func() {
		stop()
		_ = r.awaitStop() // a test that minds how it ends has looked already
	})
	return r
}

func (r *running) get(path string) (status int, body string) {
	r.t.Helper()
	response, err := client.Get(r.url + path)
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// awaitReadiness asks until /readyz answers with the status, and returns what it says then.
func (r *running) awaitReadiness(status int) string {
	r.t.Helper()
	deadline := time.After(enough)
	for {
		got, body := r.get("/readyz")
		if got == status {
			return body
		}
		select {
		case <-deadline:
			r.t.Fatalf("/readyz answers %d %q, want %d", got, body, status)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (r *running) awaitStop() error {
	r.t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(enough):
		r.t.Fatal("the worker does not stop")
		return nil
	}
}

func await(t *testing.T, g *gatewaytest.Gateway, until func(gatewaytest.Counts) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	if err := g.Wait(ctx, until); err != nil {
		t.Fatal(err)
	}
}

func jobs(n int, errorText string) []gatewaytest.Job {
	list := make([]gatewaytest.Job, n)
	for i := range list {
		list[i] = gatewaytest.Job{Type: "analyze-retry", ProcessInstanceKey: int64(i + 1), Variables: fmt.Sprintf(
			`{"claimId":"CLM-001-%d","submissionError":%q,"retryCount":1,"other":"not fetched"}`, i, errorText)}
	}
	return list
}

func TestAWorkerAnswersJobsAndShowsIt(t *testing.T) {
	g, address := gateway(t)
	g.Add(jobs(3, "TIMEOUT")...)
	g.Add(jobs(2, "INSURANCE_EXPIRED")...)
	g.Add(gatewaytest.Job{Type: "analyze-retry", Variables: `{}`})
	r := start(t, settings(address))
	await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == 3 && c.Thrown == 2 && c.Incident == 1 })
	if body := r.awaitReadiness(200); body != "ready\n" {
		t.Errorf("readyz says %q", body)
	}
	_, metrics := r.get("/metrics")
	for _, line := range []string{
		`retry_scheduled_total{classification="TRANSIENT"} 3`,
		`permanent_errors_total{code="INSURANCE_EXPIRED"} 2`,
		`retry_analysis_duration_seconds_count 6`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	if n := r.logs.FilterMessage("retry_scheduled").Len(); n != 3 {
		t.Errorf("%d lines about retries, want 3", n)
	}
}

func TestABrokerThatIsNotThereIsWaitedFor(t *testing.T) {
	address := freeAddress(t)
	r := start(t, settings(address))
	body := r.awaitReadiness(503)
	if !strings.HasPrefix(body, "not ready: gateway "+address) || !strings.Contains(body, "refused") {
		t.Errorf("readyz says %q", body)
	}
	if status, _ := r.get("/healthz"); status != 200 {
		t.Errorf("healthz answers %d: a broker that is away is no reason to restart the worker", status)
	}
	g := gatewaytest.New()
	t.Cleanup(g.Close)
	g.Add(jobs(1, "TIMEOUT")...)
	serve(t, g, address)
	await(t, g, func(c gatewaytest.Counts) bool { return c.Completed == 1 })
	r.awaitReadiness(200)
}

func TestAStopFinishesTheJobsInHandAndCanBeWatched(t *testing.T) {
	g, address := gateway(t)
	g.Add(jobs(8, "TIMEOUT")...)
	g.Inject(gatewaytest.CompleteJob, gatewaytest.Fault{Times: -1, Delay: 500 * time.Millisecond, Applied: true})
	r := start(t, settings(address))
	await(t, g, func(c gatewaytest.Counts) bool { return c.Locked == 8 })
	r.awaitReadiness(200)
	r.stop()
	if body := r.awaitReadiness(503); body != "not ready: the worker is stopping\n" {
		t.Errorf("readyz says %q", body)
	}
	if err := r.awaitStop(); err != nil {
		t.Errorf("Run = %v", err)
	}
	if c := g.Counts(); c.Locked != 0 || c.Completed+c.Waiting != 8 {
		t.Errorf("after the stop: %+v; no job may stay locked or get lost", c)
	}
	if response, err := client.Get(r.url + "/healthz"); err == nil {
		_ = response.Body.Close()
		t.Error("the HTTP server is still there")
	}
	if r.logs.FilterMessage("worker_stopping").Len() != 1 {
		t.Error("no log line tells that the worker stops")
	}
}

func TestTheGatewayCanBeLostWhileTheWorkerRuns(t *testing.T) {
	g, address := gateway(t)
	r := start(t, settings(address))
	r.awaitReadiness(200)
	g.Close()
	r.awaitReadiness(503)
	r.stop()
	if err := r.awaitStop(); err != nil {
		t.Errorf("Run = %v", err)
	}
}

func TestAWorkerWhosePollsAreRefusedIsNotReady(t *testing.T) {
	g, address := gateway(t)
	g.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: -1, Code: codes.ResourceExhausted})
	r := start(t, settings(address))
	if body := r.awaitReadiness(503); !strings.Contains(body, "no poll for jobs has come through") {
		t.Errorf("readyz says %q", body)
	}
	g.Heal()
	r.awaitReadiness(200)
}

func TestAClusterWithoutALeaderIsNotReady(t *testing.T) {
	var led atomic.Bool
	_, address := gateway(t, grpc.ChainUnaryInterceptor(
		func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			response, err := next(ctx, request)
			if topology, ok := response.(*pb.TopologyResponse); ok && !led.Load() {
				topology.Brokers = nil
			}
			return response, err
		}))
	r := start(t, settings(address))
	if body := r.awaitReadiness(503); !strings.Contains(body, "0 of 1 partitions have a healthy leader") {
		t.Errorf("readyz says %q", body)
	}
	led.Store(true)
	r.awaitReadiness(200)
}

func TestNewFreesWhatItTookWhenALaterStepFails(t *testing.T) {
	cfg := settings("127.0.0.1:1")
	cfg.HTTPAddress = freeAddress(t)
	cfg.ZeebeInsecure, cfg.ZeebeCACertificate = false, "missing.pem"
	_, err := app.New(cfg, zap.NewNop())
	if faults, ok := errors.AsType[config.FaultsError](err); !ok || !strings.Contains(faults.Error(), "ZEEBE_CA_CERTIFICATE_PATH") {
		t.Errorf("New = %v, want a fault of the configuration", err)
	}
	listener, err := net.Listen("tcp", cfg.HTTPAddress)
	if err != nil {
		t.Fatalf("the HTTP address is still taken: %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestATakenHTTPAddressIsAnError(t *testing.T) {
	_, taken := gateway(t)
	cfg := settings("127.0.0.1:1")
	cfg.HTTPAddress = taken
	if _, err := app.New(cfg, zap.NewNop()); err == nil || !strings.Contains(err.Error(), "RETRY_HTTP_ADDRESS") {
		t.Errorf("New = %v", err)
	}
}
