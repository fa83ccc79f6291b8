package rest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	transporttest.Run(t, transporttest.REST(Dial))
}

// poll asks for ten jobs, and waits for none.
var poll = transport.Poll{
	JobType: "t", Worker: "w", Max: 10, Fetch: []string{"a"}, Wait: -time.Millisecond, JobTimeout: 10 * time.Second, Tenant: "<default>",
}

// activate polls once.
func activate(t *testing.T, c transport.Client, p transport.Poll) (jobs []job.Job, err error) {
	t.Helper()
	err = c.Activate(t.Context(), p, func(some []job.Job) { jobs = append(jobs, some...) })
	return jobs, err
}

// dial makes a client that is closed with the test.
func dial(t *testing.T, c config.Cluster) transport.Client {
	t.Helper()
	client, err := Dial(transport.Config{Cluster: c})
	check.Must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// served makes a client of a server.
func served(t *testing.T, handler http.HandlerFunc) transport.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return dial(t, config.Cluster{ZeebeAddress: server.URL})
}

// answering makes a client of a server that gives every call the same answer.
func answering(t *testing.T, status int, kind, body string) transport.Client {
	t.Helper()
	return served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}
