package app_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
	"hospital.example/analyze-retry/internal/worker/contract"
)

func TestAStopFinishesActiveJobsAndCanBeWatched(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}, 100), make(chan struct{})
	g, address := gateway(t, grpc.ChainUnaryInterceptor(
		func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if _, ok := request.(*pb.CompleteJobRequest); ok {
				arrived <- struct{}{}
				<-release
			}
			return next(ctx, request)
		}))
	g.Add(jobs(8, "TIMEOUT")...)
	r := start(t, settings(t, address))
	free := sync.OnceFunc(func() { close(release) })
	t.Cleanup(free) // or the gateway could not be closed
	<-arrived
	r.awaitReadiness(200, "ready")
	r.stop()
	check.Same(t, "not ready: the worker is stopping\n", r.awaitReadiness(503, "stopping"), "/readyz")
	_, metrics := r.get("/metrics")
	check.Contains(t, metrics, "\nretry_gateway_up 1\n")
	free()
	check.Must(t, <-r.done)
	if c := g.Counts(); c.Locked != 0 || c.Completed+c.Waiting != 8 {
		t.Errorf("after the stop: %+v; no job may stay locked or get lost", c)
	}
	check.Same(t, 1, r.logs.FilterMessage("worker_stopping").Len(), "worker_stopping logged")
}

func TestReadinessNamesWhatIsAway(t *testing.T) {
	t.Parallel()
	g, address := gateway(t)
	g.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: -1, Code: codes.ResourceExhausted})
	cfg := settings(t, address)
	cfg.JobTimeout = time.Second
	r := start(t, cfg)
	r.awaitReadiness(503, "no poll for jobs comes through")
	cfg.HTTPAddress = strings.TrimPrefix(r.url, "http://")
	wantDiagnosis(t, examine(t, cfg), "error worker: not ready", "restart it only to change a setting")
	g.Heal()
	r.awaitReadiness(200, "ready")
	g.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Code: codes.Unavailable})
	g.Add(jobs(1, "TIMEOUT")...)
	r.awaitReadiness(503, "gateway grpc://"+address+": no answer to a job is taken: Unavailable")
	_, metrics := r.get("/metrics")
	check.Contains(t, metrics, "\nretry_gateway_up 1\n")
	g.Heal()
	r.awaitReadiness(200, "ready")
	g.SetClock(48 * time.Hour)
	g.Add(enginetest.Job{Type: contract.JobType, Variables: "{}"})
	r.awaitReadiness(503, "the clocks differ too much")
}

func TestFaultsOfSettingsAndWhatTheyNameAreReportedTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policies.yaml")
	check.Must(t, os.WriteFile(file, []byte("policies:\n  - {name: own, extends: tiss, base: soon}\n"), 0o600))
	t.Setenv("RETRY_POLICIES_FILE", file)
	t.Setenv("RETRY_LOG_LEVEL", "loud")
	t.Setenv("ZEEBE_CA_CERTIFICATE_PATH", "/none.pem")
	t.Setenv("RETRY_EVENTS_URL", "amqps://h,h?ca=/none.pem")
	_, err := app.LoadConfig()
	check.Same(t, strings.Join([]string{
		`RETRY_LOG_LEVEL: "loud" is not allowed`,
		"ZEEBE_CA_CERTIFICATE_PATH: stat /none.pem: no such file or directory",
		"RETRY_EVENTS_URL: ca must be the path of a readable PEM file with certificates",
		"RETRY_EVENTS_URL: one host only, a load balancer where there are several",
		file + `:2: "soon" must be a duration with its unit, such as 500ms, 90s, 5m or 24h, or PT5M`,
	}, "\n"), fmt.Sprint(err), "faults")
}

func TestAFaultOfWhatTheSettingsNameIsOneOfTheSetting(t *testing.T) {
	const numbers = "RETRY_MAX_RETRIES and RETRY_*_BACKOFF_MINUTES: policy tiss: "
	for setting, want := range map[string]string{
		"RETRY_JOB_TYPES=email-retry=nope":  "RETRY_JOB_TYPES: there is no policy nope: known are fast, job-queue, rn-bil-005, smtp, smtp-dev, tiss",
		"RETRY_JOB_TYPES=analyze-retry=tis": "RETRY_JOB_TYPES: there is no policy tis: did you mean tiss?",
		"RETRY_BASE_BACKOFF_MINUTES=300": numbers +
			`"max" is 4h but must be from 5h, the longer of min and base, to 8784h`,
		"RETRY_EVENTS_URL=redis://h":          "RETRY_EVENTS_URL: must begin with amqp://, amqps://, kafka:// or kafka+tls://, and name a host",
		"RETRY_EVENTS_URL=kafka://h?topc=x":   "RETRY_EVENTS_URL: holds a name in its query that is not known; allowed: create, insecure, topic, sasl",
		"ZEEBE_CA_CERTIFICATE_PATH=/none.pem": "ZEEBE_CA_CERTIFICATE_PATH: stat /none.pem: no such file or directory",
		"CAMUNDA_BASIC_AUTH_USERNAME=demo":    "ZEEBE_ADDRESS: credentials would go in plaintext to zeebe:8080",
	} {
		t.Run(setting, func(t *testing.T) {
			name, value, _ := strings.Cut(setting, "=")
			t.Setenv(name, value)
			if name == "CAMUNDA_BASIC_AUTH_USERNAME" {
				t.Setenv("CAMUNDA_BASIC_AUTH_PASSWORD", "demo")
				t.Setenv("ZEEBE_ADDRESS", "http://zeebe:8080")
			}
			if _, err := app.LoadConfig(); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestTheNumbersOfTheSettingsReplaceThoseOfTheDefaultPolicy(t *testing.T) {
	t.Parallel()
	set, err := app.OpenPolicies(config.Policies{MaxRetries: 3, BaseBackoffMinutes: 10, MaxBackoffMinutes: 60})
	check.Must(t, err)
	tiss, _ := set.Get("tiss")
	check.Same(t, []any{3, 10 * time.Minute, time.Hour}, []any{tiss.MaxRetries, time.Duration(tiss.Base), time.Duration(tiss.Max)}, "numbers")
}

func TestAStartThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	cfg, dir := settings(t, nobody), t.TempDir()
	cfg.HTTPAddress, cfg.DatabaseURL = freeAddress(t), config.URL("sqlite://"+filepath.Join(dir, "retry.db"))
	taken, err := net.Listen("tcp", cfg.HTTPAddress)
	check.Must(t, err)
	refused(t, cfg, "RETRY_HTTP_ADDRESS", cfg.HTTPAddress)
	left, err := os.ReadDir(dir)
	check.Must(t, err, taken.Close())
	check.Same(t, 0, len(left), "files left behind")

	cfg.ZeebeInsecure, cfg.ZeebeCACertificate = false, "missing.pem" // found when all else is open
	refused(t, cfg, "ZEEBE_CA_CERTIFICATE_PATH: ")
	again, err := net.Listen("tcp", cfg.HTTPAddress)
	check.Must(t, err, again.Close())
}
