package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/grpc"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/testing/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(devpostgres.Main{M: m}) }

// client keeps no connections, so that none is left when a test ends.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}

// gateway serves a gateway on a free port; its address is host:port.
func gateway(t *testing.T, options ...grpc.ServerOption) (g *enginetest.Gateway, address string) {
	t.Helper()
	g = enginetest.New(options...)
	t.Cleanup(g.Close)
	address, err := g.Listen()
	check.Must(t, err)
	return g, address
}

// nobody is an address that nobody listens at.
const nobody = "127.0.0.1:1"

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := process.FreeAddress()
	check.Must(t, err)
	return address
}

func settings(t *testing.T, zeebeAddress string) config.Config {
	t.Helper()
	return config.Config{
		WorkerName: "test", MaxJobsActive: 8, JobTimeout: 10 * time.Second, ShutdownTimeout: 5 * time.Second, MaxClockSkew: 24 * time.Hour,
		HTTPAddress: "127.0.0.1:0", LogLevel: zapcore.DebugLevel,
		Policies: config.Policies{
			JobTypes: config.JobTypes{"analyze-retry": "tiss", "retry-submission-backoff": "tiss"},
		},
		DatabaseURL: config.URL("sqlite://" + filepath.Join(t.TempDir(), "retry.db")), ClusterName: "test", AuditRetentionYears: 5,
		Tenant: "<default>", Cluster: config.Cluster{ZeebeAddress: zeebeAddress, ZeebeInsecure: true},
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
	a, err := app.New(t.Context(), cfg, zap.New(core), "test")
	check.Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	r := &running{t: t, url: "http://" + a.Addr(), stop: stop, done: make(chan error, 1), logs: logs}
	go func() { r.done <- a.Run(ctx); close(r.done) }()
	t.Cleanup(func() {
		stop()
		for range r.done {
			continue // a test that minds how it ends has looked already
		}
	})
	return r
}

func (r *running) get(path string) (status int, body string) {
	r.t.Helper()
	response, err := client.Get(r.url + path)
	check.Must(r.t, err)
	text, err := io.ReadAll(response.Body)
	check.Must(r.t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(text)
}

// awaitReadiness asks until /readyz answers with the status and this part of a reason, and returns all that
// it says then. Another reason may come first: on a slow machine, that the gateway was not asked in time.
func (r *running) awaitReadiness(status int, part string) string {
	r.t.Helper()
	var body string
	check.Await(r.t, fmt.Sprintf("/readyz answers %d with %q", status, part), func() bool {
		var got int
		got, body = r.get("/readyz")
		return got == status && strings.Contains(body, part)
	})
	return body
}

// stopped stops the worker, which must end well.
func (r *running) stopped() {
	r.t.Helper()
	r.stop()
	check.Must(r.t, <-r.done)
}

func jobs(n int, errorText string) []enginetest.Job {
	list := make([]enginetest.Job, n)
	for i := range list {
		list[i] = enginetest.Job{Type: "analyze-retry", Variables: fmt.Sprintf(
			`{"claimId":"CLM-001-%d","submissionError":%q,"retryCount":1,"other":"not fetched"}`, i, errorText)}
	}
	return list
}
