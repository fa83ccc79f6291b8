package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/certtest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// load returns the configuration of exactly these variables, NAME=VALUE; it must have no faults.
func load(t *testing.T, variables ...string) config.Config {
	t.Helper()
	cfg, err := config.Load(config.NewEnvironment(variables))
	if err != nil {
		t.Fatalf("faults:\n%v", err)
	}
	return cfg
}

// faults returns the faults of exactly these variables, one a line.
func faults(t *testing.T, variables ...string) []string {
	t.Helper()
	_, err := config.Load(config.NewEnvironment(variables))
	if err == nil {
		return nil
	}
	list, ok := errors.AsType[config.FaultsError](err)
	if !ok {
		t.Fatalf("%v is not a list of faults", err)
	}
	return list
}

// file makes a file that can be read and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	check.Must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestAnEmptyEnvironmentIsAUsableConfiguration(t *testing.T) {
	t.Parallel()
	cfg := load(t)
	host, err := os.Hostname()
	check.Must(t, err)
	want := []any{
		"analyze-retry@" + host, 50, 10 * time.Second, 8 * time.Second, 24 * time.Hour, "127.0.0.1:8080", "info", "json",
		"analyze-retry.db", "analyze-retry.db.key", "zeebe", config.Months(60), "grpcs://127.0.0.1:26500", config.AuthNone, "<default>",
	}
	got := []any{
		cfg.WorkerName, cfg.MaxJobsActive, cfg.JobTimeout, cfg.ShutdownTimeout, cfg.MaxClockSkew, cfg.HTTPAddress, cfg.LogLevel, cfg.LogFormat,
		cfg.SQLitePath(), cfg.AuditKey(), cfg.ClusterName, cfg.AuditRetention, cfg.Address().String(), cfg.AuthStrategy(), cfg.Tenant,
	}
	check.Same(t, want, got, "defaults")
}

func TestEveryVariableReachesItsSetting(t *testing.T) {
	t.Parallel()
	ca, certificate, key := file(t, "ca"), file(t, "certificate"), file(t, "key")
	httpCertificate, httpKey := certtest.Files(t)
	var variables []string
	var want []config.Setting
	for _, s := range [][]string{ // name, value, and how that is shown where it is not as it was set
		{"RETRY_WORKER_NAME", "billing-1"},
		{"RETRY_MAX_JOBS_ACTIVE", "7"},
		{"RETRY_JOB_TIMEOUT", "1m30s"},
		{"RETRY_SHUTDOWN_TIMEOUT", "25s"},
		{"RETRY_MAX_CLOCK_SKEW", "48h", "48h0m0s"},
		{"RETRY_HTTP_ADDRESS", ":9090"},
		{"RETRY_HTTP_TOKEN", "0123456789abcdef", "***"},
		{"RETRY_HTTP_TLS_CERTIFICATE_PATH", httpCertificate},
		{"RETRY_HTTP_TLS_KEY_PATH", httpKey},
		{"RETRY_LOG_LEVEL", "debug"},
		{"RETRY_LOG_FORMAT", "console"},
		{"RETRY_LANG", "pt-BR"},
		{"RETRY_JOB_TYPES", "analyze-retry=tiss, email-retry=smtp", "analyze-retry=tiss,email-retry=smtp"},
		{"RETRY_POLICIES_FILE", "policies.yaml"},
		{"RETRY_DATABASE_URL", "postgres://retry:s3cret@db.example/retry?sslmode=require", "postgres://retry:***@db.example/retry?sslmode=require"},
		{"RETRY_CLUSTER_NAME", "prod"},
		{"RETRY_AUDIT_KEY_FILE", key},
		{"RETRY_AUDIT_RETENTION", "18m"},
		{"RETRY_EVENTS_URL", "amqp://worker:s3cret@queue.example/", "amqp://worker:***@queue.example/"},
		{"RETRY_OPERATOR", "maria.silva"},
		{"ZEEBE_ADDRESS", "zeebe.example:443"},
		{"ZEEBE_GRPC_ADDRESS", "https://zeebe.example"},
		{"ZEEBE_REST_ADDRESS", "https://zeebe.example/v2"},
		{"ZEEBE_INSECURE_CONNECTION", "false"},
		{"ZEEBE_CA_CERTIFICATE_PATH", ca},
		{"ZEEBE_OVERRIDE_AUTHORITY", "gateway.example"},
		{"ZEEBE_CLIENT_CERTIFICATE_PATH", certificate},
		{"ZEEBE_CLIENT_KEY_PATH", key},
		{"CAMUNDA_AUTH_STRATEGY", "oauth", "OIDC"},
		{"ZEEBE_CLIENT_ID", "worker"},
		{"ZEEBE_CLIENT_SECRET", "s3cret", "***"},
		{"ZEEBE_AUTHORIZATION_SERVER_URL", "https://login.example/token"},
		{"ZEEBE_TOKEN_AUDIENCE", "zeebe-api"},
		{"ZEEBE_TOKEN_SCOPE", "jobs"},
		{"RETRY_ALLOW_INSECURE_TOKEN", "true"},
		{"CAMUNDA_CLIENT_MODE", "selfManaged", "self-managed"},
		{"CAMUNDA_CLIENT_CLOUD_CLUSTERID", "0a1b2c3d"},
		{"CAMUNDA_CLIENT_CLOUD_REGION", "bru-2"},
		{"RETRY_TENANT", "north"},
	} {
		variables = append(variables, s[0]+"="+s[1])
		want = append(want, config.Setting{Name: s[0], Value: s[len(s)-1], Source: "env"})
	}
	cfg := load(t, variables...)
	// Basic authentication excludes OAuth, so that its two settings have a test of their own.
	got := slices.DeleteFunc(cfg.Settings(), func(s config.Setting) bool { return strings.HasPrefix(s.Name, "CAMUNDA_BASIC_") })
	check.Same(t, want, got, "settings")
	check.Same(t, "s3cret", cfg.ZeebeClientSecret, "secret")
}

func TestAnEmptyVariableCountsAsUnset(t *testing.T) {
	t.Parallel()
	cfg := load(t, "RETRY_MAX_JOBS_ACTIVE=", "RETRY_JOB_TIMEOUT=", "ZEEBE_ADDRESS=", "ZEEBE_INSECURE_CONNECTION=",
		"ZEEBE_CLIENT_SECRET=", "RETRY_NOT_A_SETTING=", "ZEEBE_HOST=", `=C:=C:\dir`)
	for _, s := range cfg.Settings() {
		check.Same(t, config.FromDefault, s.Source, "source of %s", s.Name)
	}
	if cfg.MaxJobsActive != 50 || cfg.JobTimeout != 10*time.Second || cfg.ZeebeAddress != "127.0.0.1:26500" {
		t.Errorf("an empty variable took the place of a default: %+v", cfg)
	}
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	got := faults(t, "RETRY_MAX_JOBS_ACTIVE=lots", "RETRY_JOB_TIMEOUT=10", "RETRY_LOG_LEVEL=loud",
		"RETRY_MAX_JOB_ACTIVE=5", "RETRY_COLOUR=blue", "ZEEBE_ADDRESS=zeebe", "ZEEBE_CLIENT_ID=worker")
	want := []string{
		`RETRY_MAX_JOBS_ACTIVE is "lots"; allowed: a whole number from 1 to 1000`,
		`RETRY_JOB_TIMEOUT is "10"; allowed: a duration from 1s to 1h, such as 10s`,
		`RETRY_LOG_LEVEL is "loud"; allowed: debug, info, warn or error`,
		`ZEEBE_ADDRESS is "zeebe"; allowed: host:port, or a URL that begins with grpc://, grpcs://, http:// or https://, without user and password`,
		`ZEEBE_CLIENT_SECRET is missing; OAuth needs client id, secret, authorization server, and an audience or a scope`,
		`ZEEBE_AUTHORIZATION_SERVER_URL is missing; OAuth needs client id, secret, authorization server, and an audience or a scope`,
		`ZEEBE_TOKEN_AUDIENCE is missing; OAuth needs client id, secret, authorization server, and an audience or a scope`,
		`RETRY_COLOUR is not a setting`,
		`RETRY_MAX_JOB_ACTIVE is not a setting; did you mean RETRY_MAX_JOBS_ACTIVE?`,
	}
	check.Same(t, want, got, "faults")
}

// faultCase is an environment and the one fault in it.
type faultCase struct {
	name string
	env  []string
	want string // "" where it is none
}

func checkFaults(t *testing.T, cases []faultCase) {
	t.Helper()
	for _, test := range cases {
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		check.Same(t, want, faults(t, test.env...), "%s: faults", test.name)
	}
}

func TestOneFault(t *testing.T) {
	t.Parallel()
	checkFaults(t, []faultCase{
		{"no jobs at all", []string{"RETRY_MAX_JOBS_ACTIVE=0"}, `RETRY_MAX_JOBS_ACTIVE is "0"; allowed: a whole number from 1 to 1000`},
		{"a job timeout too short to answer in", []string{"RETRY_JOB_TIMEOUT=999ms"}, `RETRY_JOB_TIMEOUT is "999ms"; allowed: a duration from 1s to 1h, such as 10s`},
		{"a job type without a policy", []string{"RETRY_JOB_TYPES=analyze-retry"}, `RETRY_JOB_TYPES is "analyze-retry"; allowed: TYPE=POLICY, several separated by commas, each type once, and not record-retry-outcome, which is always worked`},
		{"the job type that has no policy", []string{"RETRY_JOB_TYPES=record-retry-outcome=tiss"}, `RETRY_JOB_TYPES is "record-retry-outcome=tiss"; allowed: TYPE=POLICY, several separated by commas, each type once, and not record-retry-outcome, which is always worked`},
		{"an operator of two lines", []string{"RETRY_OPERATOR=maria\nsilva"}, `RETRY_OPERATOR is "maria\nsilva"; allowed: 1 to 128 printable characters`},
		{"clocks that must agree to the minute", []string{"RETRY_MAX_CLOCK_SKEW=59m"}, `RETRY_MAX_CLOCK_SKEW is "59m0s"; allowed: a duration from 1h to 87600h, such as 24h`},
		{"no time to stop", []string{"RETRY_SHUTDOWN_TIMEOUT=-1s"}, `RETRY_SHUTDOWN_TIMEOUT is "-1s"; allowed: a duration from 1s to 10m, such as 8s`},
		{"a blank before a number", []string{"RETRY_MAX_JOBS_ACTIVE= 50"}, `RETRY_MAX_JOBS_ACTIVE has white space around its value; take it away`},
		{"a store as libpq's words", []string{"RETRY_DATABASE_URL=host=h user=u password=hunter2"}, `RETRY_DATABASE_URL is "***"; allowed: sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE`},
		{"a store without a file", []string{"RETRY_DATABASE_URL=sqlite://"}, `RETRY_DATABASE_URL is sqlite://***, which names no file; allowed: sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE`},
		{"a retention without a unit", []string{"RETRY_AUDIT_RETENTION=5"}, `RETRY_AUDIT_RETENTION is "5"; allowed: months or years from 1m to 50y, such as 5y or 18m, or unlimited`},
		{"a queue of an unknown kind", []string{"RETRY_EVENTS_URL=redis://h"}, `RETRY_EVENTS_URL is "***"; allowed: a URL with amqp://, amqps://, kafka:// or kafka+tls://, see docs/events`},
		{"a port only", []string{"RETRY_HTTP_ADDRESS=8080"}, `RETRY_HTTP_ADDRESS is "8080"; allowed: host:port or :port, with a port from 0 to 65535 (0: any free one)`},

		{"a setting without its own prefix", []string{"RETRY_ZEEBE_ADDRESS=zeebe:1"}, `RETRY_ZEEBE_ADDRESS is not a setting; did you mean ZEEBE_ADDRESS?`},
		{"a service link of Kubernetes", []string{"RETRY_WORKER_PORT_8080_TCP=tcp://10.0.0.1:8080"}, `RETRY_WORKER_PORT_8080_TCP is not a setting; if Kubernetes set it for a service called retry..., set enableServiceLinks: false on the pod`},
	})
}

func TestALongValueIsCutInTheMessage(t *testing.T) {
	t.Parallel()
	got := faults(t, "RETRY_LOG_LEVEL="+strings.Repeat("ã", 500))
	if len(got) != 1 || len(got[0]) > 200 || !strings.Contains(got[0], `ã..."`) {
		t.Errorf("got %q", got)
	}
}

func TestServingOtherHostsNeedsATokenOrACertificate(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing.pem")
	certificate, key := certtest.Files(t)
	_, otherKey := certtest.Files(t)
	exposed := func(address string) string {
		return `RETRY_HTTP_ADDRESS is "` + address + `", which other hosts can reach; set RETRY_HTTP_TOKEN or RETRY_HTTP_TOKEN_FILE, or serve TLS ` +
			`with RETRY_HTTP_TLS_CERTIFICATE_PATH and RETRY_HTTP_TLS_KEY_PATH, or use a loopback address such as 127.0.0.1:8080`
	}
	const badToken = `RETRY_HTTP_TOKEN is too short, or no text for a header; allowed: 16 or more printable ASCII characters without blanks (openssl rand -hex 32)`
	checkFaults(t, []faultCase{
		{"metrics for everybody", []string{"RETRY_HTTP_ADDRESS=:8080"}, exposed(":8080")},
		{"metrics for everybody with a token", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TOKEN=0123456789abcdef"}, ""},
		{"metrics for everybody by TLS", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate, "RETRY_HTTP_TLS_KEY_PATH=" + key}, ""},
		{"a token that can be guessed", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TOKEN=0123456789abcde"}, badToken},
		{"a certificate to serve without its key", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate}, `RETRY_HTTP_TLS_KEY_PATH is missing; RETRY_HTTP_TLS_CERTIFICATE_PATH needs it`},
		{"a certificate to serve that is not there", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + missing, "RETRY_HTTP_TLS_KEY_PATH=" + key}, `RETRY_HTTP_TLS_CERTIFICATE_PATH is "` + missing + `", which cannot be read: no such file or directory`},
		{"a key of another certificate", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate, "RETRY_HTTP_TLS_KEY_PATH=" + otherKey}, `RETRY_HTTP_TLS_CERTIFICATE_PATH and RETRY_HTTP_TLS_KEY_PATH are no certificate and its key: tls: private key does not match public key`},
	})
}
