package rest

import (
	"net"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
	"hospital.example/analyze-retry/internal/testing/transporttest"
	"hospital.example/analyze-retry/internal/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a gateway and a client of its REST API, in a bubble: its clock moves only while everybody waits.
type rig struct {
	*testing.T
	gateway *gatewaytest.Gateway
	client  *Client
}

func inBubble(t *testing.T, test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := gatewaytest.New()
		defer g.Close()
		c, err := Dial(transport.Config{Scheme: transport.HTTP, Address: "127.0.0.1:1", Dial: g.PipeREST()})
		check.Must(t, err)
		defer func() { _ = c.Close() }()
		test(&rig{t, g, c})
	})
}

// poll takes up to ten jobs of type "t".
func (r *rig) poll() (jobs []job.Job, err error) {
	err = r.client.Activate(r.Context(), goodPoll, func(some []job.Job) { jobs = append(jobs, some...) })
	return jobs, err
}

func TestConformance(t *testing.T) {
	transporttest.Run(t, transporttest.Protocol{
		Scheme: transport.HTTP, Secure: transport.HTTPS,
		Dial:  func(c transport.Config) (transport.Client, error) { return Dial(c) },
		Pipe:  (*gatewaytest.Gateway).PipeREST,
		Serve: func(g *gatewaytest.Gateway, l net.Listener) { g.ServeREST(l) },
	})
}

var goodPoll = transport.Poll{JobType: "t", Worker: "w", Max: 10, Fetch: []string{"a", "b"}, Wait: 1e9, Lock: 1e10, Tenants: []string{"<default>"}}
