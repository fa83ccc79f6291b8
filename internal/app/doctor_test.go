package app_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/text"
	"hospital.example/analyze-retry/internal/transport"
	"hospital.example/analyze-retry/internal/transport/rest"
)

// examine returns what the doctor finds, each as "health check: finding -> advice".
func examine(t *testing.T, cfg config.Config) (all []string) {
	t.Helper()
	app.Examine(t.Context(), cfg, time.Now, func(f text.Finding) {
		all = append(all, string(f.Severity)+" "+f.Check+": "+f.What+" -> "+f.Advice)
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
	cfg := settings(t, address)
	cfg.HTTP.Address = freeAddress(t)
	r := start(t, cfg)
	g.Add(jobs(3, "timeout")...)
	await(t, g, func(c enginetest.Counts) bool { return c.Completed == 3 })
	r.awaitReadiness(200, "ready")
	all := examine(t, cfg)
	for _, d := range all {
		if strings.HasPrefix(d, "error") || strings.HasPrefix(d, "warning") {
			t.Error(d)
		}
	}
	for head, part := range map[string]string{
		"ok gateway: grpc://127.0.0.1:": "version 8.9.0, gRPC over plaintext", "ok authentication: ": "NONE", "ok partitions: ": "3, each with a healthy leader",
		"ok tenant: ": "<default>", "unknown models: ": "gRPC cannot read",
		"ok key: ": "retry.db.key", "ok store: ": "sqlite://", "ok chain: ": "3 records", "ok last record: ": "ago", "ok queue: ": "none is set",
		"ok worker: ": "ready", "ok policies: ": "analyze-retry by tiss", "ok settings: ": "no fault",
	} {
		wantDiagnosis(t, all, head, part)
	}
	check.Same(t, 0, g.Counts().Waiting+g.Counts().Locked, "jobs that the doctor has taken")
}

func TestDoctorNamesWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*testing.T, *config.Config, *enginetest.Gateway)
		head   string
		part   string
	}{
		"no gateway": {func(t *testing.T, c *config.Config, _ *enginetest.Gateway) {
			t.Helper()
			c.ZeebeAddress = freeAddress(t)
		}, "error gateway: ", "-> ZEEBE_ADDRESS is read as grpc:"},
		"a port of REST": {func(t *testing.T, c *config.Config, g *enginetest.Gateway) {
			t.Helper()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			check.Must(t, err)
			g.ServeREST(listener)
			c.ZeebeAddress = listener.Addr().String()
		}, "error gateway: ", "the REST API answers at http://127.0.0.1:"},
		"credentials that are refused": {func(_ *testing.T, _ *config.Config, g *enginetest.Gateway) {
			g.Inject(enginetest.Topology, enginetest.Fault{Times: -1, Code: codes.Unauthenticated})
		}, "error authentication: NONE", "set those of Basic or OIDC"},
		"a tenant that is not assigned": {func(_ *testing.T, _ *config.Config, g *enginetest.Gateway) { g.Assign("sul") }, "error tenant: a poll for <default> is refused", "not authorized to perform this request -> assign it"},
		"a policy file that is none": {func(t *testing.T, c *config.Config, _ *enginetest.Gateway) {
			t.Helper()
			c.PoliciesFile = filepath.Join(t.TempDir(), "none.yaml")
		}, "error policies: ", "none.yaml"},
		"a queue that is away": {func(t *testing.T, c *config.Config, _ *enginetest.Gateway) {
			t.Helper()
			c.EventsURL = config.URL("kafka://" + freeAddress(t))
		}, "error queue: ", "runbooks.md#retryoutboxgrowing"},
		"no worker": {func(t *testing.T, c *config.Config, _ *enginetest.Gateway) {
			t.Helper()
			c.HTTP.Address = freeAddress(t)
		}, "warning worker: ", "start it with: worker run"},
		"a worker that is not ready": {func(t *testing.T, c *config.Config, g *enginetest.Gateway) {
			t.Helper()
			g.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: -1, Code: codes.ResourceExhausted})
			c.HTTP.Address = freeAddress(t)
			start(t, *c)
		}, "error worker: not ready", "do not restart it"},
		"no store yet": {func(*testing.T, *config.Config, *enginetest.Gateway) {}, "warning store: ", "the first start of a worker makes both"},
		"a key that is lost": {func(t *testing.T, c *config.Config, _ *enginetest.Gateway) {
			t.Helper()
			r := start(t, *c)
			r.stopped()
			check.Must(t, os.Remove(c.SQLitePath()+".key"))
		}, "error key: ", "restore the key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, address := gateway(t)
			cfg := settings(t, address)
			test.change(t, &cfg, g)
			wantDiagnosis(t, examine(t, cfg), test.head, test.part)
		})
	}
}

func TestDoctorComparesTheModelsThatAreDeployed(t *testing.T) {
	t.Parallel()
	g := enginetest.New()
	t.Cleanup(g.Close)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	g.ServeREST(listener)
	cfg := settings(t, "http://"+listener.Addr().String())
	cfg.ZeebeInsecure = false
	wantDiagnosis(t, examine(t, cfg), "warning models: SUB_06 is not deployed", "worker deploy")

	models := bpmn.Models()
	changed := strings.Replace(string(models[0].Content), `="PT" + string(backoffMinutes) + "M"`, `=backoffMinutes`, 1)
	client, err := rest.Dial(transport.Config{Scheme: transport.HTTP, Address: listener.Addr().String()})
	check.Must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	_, err = client.Deploy(t.Context(), "", []transport.Resource{
		{Name: "mine.bpmn", Content: []byte(changed)},
		{Name: models[1].Name, Content: models[1].Content},
	})
	check.Must(t, err)
	all := examine(t, cfg)
	wantDiagnosis(t, all, "ok models: SUB_06 version 1", "that of this release")
	wantDiagnosis(t, all, "warning models: SubmissionRetryProcess version 1 is not", "bpmn/submission-retry.bpmn")
	wantDiagnosis(t, all, "warning models: SubmissionRetryProcess version 1, timer-duration Event_WaitBackoff: ", "-> worker models lint")
}
