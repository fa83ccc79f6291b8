package app_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/claims/redrive"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/text"
)

// examine returns what the doctor finds, each as "health check: finding -> advice".
func examine(t *testing.T, cfg config.Config) (all []string) {
	t.Helper()
	app.Examine(t.Context(), cfg, time.Now, func(f text.Finding) {
		all = append(all, string(f.Severity)+" "+f.Check+": "+f.What.String()+" -> "+f.Advice.String())
	})
	return all
}

// wantDiagnosis wants one that begins and goes on so.
func wantDiagnosis(t *testing.T, all []string, head, part string) {
	t.Helper()
	for _, d := range all {
		if strings.HasPrefix(d, head) && strings.Contains(d, part) {
			return
		}
	}
	t.Errorf("no diagnosis %q with %q in:\n%s", head, part, strings.Join(all, "\n"))
}

func TestDoctorFindsNothingWrongWithAWorkerThatRuns(t *testing.T) {
	t.Parallel()
	g, address := gateway(t)
	g.Partition(3)
	g.Assign("sul")
	cfg := settings(t, address)
	cfg.Tenant = "sul"
	cfg.HTTPAddress = freeAddress(t)
	r := start(t, cfg)
	g.Add(jobs(3, "timeout")...)
	check.Await(t, "the jobs are done", func() bool { return g.Counts().Completed == 3 })
	r.awaitReadiness(200, "ready")
	all := examine(t, cfg)
	for _, d := range all {
		if strings.HasPrefix(d, "error") || strings.HasPrefix(d, "warning") {
			t.Error(d)
		}
	}
	for head, part := range map[string]string{
		"ok gateway: grpc://127.0.0.1:": "version 8.9.0, gRPC over plaintext", "ok authentication: ": "NONE",
		"ok partitions: ": "3 of 3 have a healthy leader", "ok tenant: ": "sul",
		"ok key: ": "retry.db.key", "ok store: ": "sqlite://", "ok trail: ": "3 records in 1 chain, the last of 20",
		"ok queue: ": "none is set", "ok worker: ": "ready",
		"ok policies: ": "analyze-retry=tiss", "ok models: ": "workers of yours: check-claim-status, notify-team, submit-claim",
	} {
		wantDiagnosis(t, all, head, part)
	}
	check.Same(t, text.OK, app.Ready(t.Context(), cfg).Severity, "readiness")
	cfg.HTTPAddress = nobody
	check.Same(t, text.Error, app.Ready(t.Context(), cfg).Severity, "readiness where none runs")
	check.Same(t, 0, g.Counts().Waiting+g.Counts().Locked, "jobs that the doctor has taken")
}

func TestDeploymentsAndOrdersAreForTheTenant(t *testing.T) {
	t.Parallel()
	g, address := gateway(t)
	g.Assign("sul") // and no other
	cfg := settings(t, address)
	cfg.Tenant = "sul"
	_, err := app.Deploy(t.Context(), cfg, bpmn.Models())
	check.Must(t, err)
	send, end, err := app.Sender(cfg)
	check.Must(t, err)
	check.Must(t, send(t.Context(), "CLM-001-1", redrive.Order{}), end())
}

func TestDoctorNamesWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	rest := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(rest.Close)
	for name, test := range map[string]struct {
		change func(*config.Config, *enginetest.Gateway)
		head   string
		part   string
	}{
		"no gateway": {func(c *config.Config, _ *enginetest.Gateway) {
			c.ZeebeAddress = nobody
		}, "error gateway: ", "-> ZEEBE_ADDRESS is read as grpc:"},
		"the port of the REST API": {func(c *config.Config, _ *enginetest.Gateway) {
			c.ZeebeAddress = rest.Listener.Addr().String()
		}, "error gateway: ", "the address of the REST API begins with http:// or https://"},
		"credentials that are refused": {func(_ *config.Config, g *enginetest.Gateway) {
			g.Inject(enginetest.Topology, enginetest.Fault{Times: -1, Code: codes.Unauthenticated})
		}, "error authentication: NONE", "the cluster must know them"},
		"a tenant that is not assigned": {func(_ *config.Config, g *enginetest.Gateway) {
			g.Assign("sul")
		}, "error tenant: a poll for <default> fails", "not authorized to perform this request -> correct RETRY_TENANT"},
		"a policy file that is none": {func(c *config.Config, _ *enginetest.Gateway) {
			c.PoliciesFile = "/none.yaml"
		}, "error policies: ", "none.yaml"},
		"a queue that is away": {func(c *config.Config, _ *enginetest.Gateway) {
			c.EventsURL = "kafka://" + nobody
		}, "error queue: ", "runbooks.md#retryoutboxgrowing"},
		"no store yet": {func(*config.Config, *enginetest.Gateway) {}, "warning store: ", "the first start of a worker makes both"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, address := gateway(t)
			cfg := settings(t, address)
			test.change(&cfg, g)
			wantDiagnosis(t, examine(t, cfg), test.head, test.part)
		})
	}
}

func TestDoctorNamesAPartitionWithoutALeader(t *testing.T) {
	t.Parallel()
	_, address := gateway(t, grpc.ChainUnaryInterceptor(
		func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			response, err := next(ctx, request)
			if topology, ok := response.(*pb.TopologyResponse); ok {
				topology.Brokers = nil
			}
			return response, err
		}))
	wantDiagnosis(t, examine(t, settings(t, address)), "error partitions: 0 of 1 have a healthy leader", "jobs wait")
}

func TestDoctorNamesAClockBehindTheTrail(t *testing.T) {
	t.Parallel()
	cfg := settings(t, nobody)
	records := audittest.Records(0, 1)
	records[0].At = time.Now().Add(72 * time.Hour)
	written(t, cfg, records...)
	wantDiagnosis(t, examine(t, cfg), "error trail: 1 record in 1 chain, the last of ", "set the clock right")
}
