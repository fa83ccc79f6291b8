package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/text"
)

// set makes the environment one of exactly these settings, NAME=value.
func set(t *testing.T, settings ...string) {
	t.Helper()
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "RETRY_") || strings.HasPrefix(name, "ZEEBE_") || strings.HasPrefix(name, "CAMUNDA_") {
			t.Setenv(name, "")
		}
	}
	for _, entry := range settings {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
}

// load returns the configuration of exactly these settings, which has no faults.
func load(t *testing.T, settings ...string) config.Config {
	t.Helper()
	set(t, settings...)
	cfg, err := config.Load()
	if err != nil {
		t.Fatalf("faults:\n%v", err)
	}
	return cfg
}

// faults returns the faults of exactly these settings, each with what to do.
func faults(t *testing.T, settings ...string) []string {
	t.Helper()
	set(t, settings...)
	_, err := config.Load()
	return faultsOf(err)
}

func faultsOf(err error) (all []string) {
	list, _ := errors.AsType[text.Findings](err)
	for _, f := range list {
		line := f.OneLine()
		if f.Advice.Format != "" {
			line += " -> " + f.Advice.String()
		}
		all = append(all, line)
	}
	return all
}

// file makes a file that can be read and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	check.Must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestAnEmptyEnvironmentIsAUsableConfiguration(t *testing.T) {
	cfg := load(t, "RETRY_MAX_JOBS_ACTIVE=", "RETRY_NOT_A_SETTING=", "ZEEBE_CLIENT_SECRET=") // an empty one counts as unset
	host, err := os.Hostname()
	check.Must(t, err)
	want := []any{
		"analyze-retry@" + host, 50, 10 * time.Second, 8 * time.Second, 24 * time.Hour, "127.0.0.1:8080", "info",
		"analyze-retry.db", "analyze-retry.db.key", "zeebe", 5, "grpcs://127.0.0.1:26500", config.AuthNone, "<default>", "America/Sao_Paulo",
	}
	got := []any{
		cfg.WorkerName, cfg.MaxJobsActive, cfg.JobTimeout, cfg.ShutdownTimeout, cfg.MaxClockSkew, cfg.HTTPAddress, cfg.LogLevel.String(),
		cfg.SQLitePath(), cfg.AuditKey(), cfg.ClusterName, cfg.AuditRetentionYears, cfg.Address().String(), cfg.AuthStrategy(), cfg.Tenant, cfg.TZ.String(),
	}
	check.Same(t, want, got, "defaults")
	for _, s := range cfg.Settings() {
		check.Same(t, "default", s.Source, "source of %s", s.Name)
	}
}

func TestEveryVariableReachesItsSetting(t *testing.T) {
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
		{"RETRY_LOG_LEVEL", "debug"},
		{"RETRY_LANG", "pt-BR"},
		{"RETRY_TZ", "America/Manaus"},
		{"RETRY_JOB_TYPES", "analyze-retry=tiss, email-retry=smtp", "analyze-retry=tiss,email-retry=smtp"},
		{"RETRY_POLICIES_FILE", "policies.yaml"},
		{"RETRY_MAX_RETRIES", "7"},
		{"RETRY_BASE_BACKOFF_MINUTES", "10"},
		{"RETRY_MAX_BACKOFF_MINUTES", "480"},
		{"RETRY_DATABASE_URL", "postgres://retry:s3cret@db.example/retry?sslmode=require", "postgres://retry:xxxxx@db.example/retry"},
		{"RETRY_CLUSTER_NAME", "prod"},
		{"RETRY_AUDIT_KEY_FILE", "audit.key"},
		{"RETRY_AUDIT_RETENTION_YEARS", "6"},
		{"RETRY_EVENTS_URL", "amqp://worker:s3cret@queue.example/", "amqp://worker:xxxxx@queue.example/"},
		{"RETRY_OPERATOR", "maria.silva"},
		{"RETRY_TENANT", "north"},
		{"RETRY_ALLOW_INSECURE_TOKEN", "true"},
		{"ZEEBE_ADDRESS", "zeebe.example:443"},
		{"ZEEBE_INSECURE_CONNECTION", "true"},
		{"ZEEBE_CA_CERTIFICATE_PATH", "ca.pem"},
		{"ZEEBE_CLIENT_CERTIFICATE_PATH", "worker.pem"},
		{"ZEEBE_CLIENT_KEY_PATH", "worker.key"},
		{"ZEEBE_CLIENT_ID", "worker"},
		{"ZEEBE_CLIENT_SECRET", "s3cret", "***"},
		{"ZEEBE_AUTHORIZATION_SERVER_URL", "https://login.example/token"},
		{"ZEEBE_TOKEN_AUDIENCE", "zeebe-api"},
		{"ZEEBE_TOKEN_SCOPE", "jobs"},
	} {
		variables = append(variables, s[0]+"="+s[1])
		want = append(want, config.Setting{Name: s[0], Value: s[len(s)-1], Source: "env"})
	}
	cfg := load(t, variables...)
	var got []config.Setting
	for _, s := range cfg.Settings() {
		if !strings.HasPrefix(s.Name, "CAMUNDA_BASIC_") { // which excludes OAuth
			got = append(got, config.Setting{Name: s.Name, Value: s.Value, Source: s.Source})
		}
	}
	check.Same(t, fmt.Sprint(want), fmt.Sprint(got), "settings")
	check.Same(t, "s3cret", string(cfg.ZeebeClientSecret), "secret")
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	got := faults(t, "RETRY_MAX_JOBS_ACTIVE=lots", "RETRY_JOB_TIMEOUT=10", "RETRY_LOG_LEVEL=loud",
		"RETRY_MAX_JOB_ACTIVE=5", "RETRY_COLOUR=blue", "ZEEBE_ADDRESS=zeebe:99999", "ZEEBE_CLIENT_ID=worker", "ZEEBE_INSECURE_CONNECTION=perhaps")
	const missing = ": is missing: OIDC needs ZEEBE_CLIENT_ID, ZEEBE_CLIENT_SECRET, ZEEBE_AUTHORIZATION_SERVER_URL"
	want := []string{
		`RETRY_MAX_JOBS_ACTIVE: "lots" is not allowed -> allowed: 1 to 1000`,
		`RETRY_JOB_TIMEOUT: "10" is not allowed -> allowed: 1s to 1h`,
		`RETRY_LOG_LEVEL: "loud" is not allowed -> allowed: debug, info, warn or error`,
		`ZEEBE_INSECURE_CONNECTION: "perhaps" is not allowed -> allowed: true or false`,
		`ZEEBE_ADDRESS: "zeebe:99999" is not allowed -> allowed: ` + addresses,
		`ZEEBE_CLIENT_SECRET` + missing,
		`ZEEBE_AUTHORIZATION_SERVER_URL` + missing,
		`RETRY_MAX_JOB_ACTIVE: is not a setting -> did you mean RETRY_MAX_JOBS_ACTIVE?`,
		`RETRY_COLOUR: is not a setting`,
	}
	slices.Sort(got)
	slices.Sort(want)
	check.Same(t, want, got, "faults")
}

const addresses = "host:port, grpc://host:port, grpcs://host:port, http://host:port/path or https://host:port/path"

func TestOneFault(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	const types = ` is not allowed -> allowed: TYPE=POLICY,TYPE=POLICY`
	const store = `RETRY_DATABASE_URL: "***" is not allowed -> allowed: sqlite://PATH without @, ? and # (sqlite:///x/a.db for /x/a.db), or postgres://USER:PASSWORD@HOST/DATABASE`
	const unprintable = `: holds a character that cannot be printed, or begins or ends with white space`
	for setting, want := range map[string]string{
		"RETRY_MAX_JOBS_ACTIVE=0":                       `RETRY_MAX_JOBS_ACTIVE: "0" is not allowed -> allowed: 1 to 1000`,
		"RETRY_MAX_JOBS_ACTIVE= 50":                     `RETRY_MAX_JOBS_ACTIVE` + unprintable,
		"RETRY_JOB_TIMEOUT=999ms":                       `RETRY_JOB_TIMEOUT: "999ms" is not allowed -> allowed: 1s to 1h`,
		"RETRY_SHUTDOWN_TIMEOUT=-1s":                    `RETRY_SHUTDOWN_TIMEOUT: "-1s" is not allowed -> allowed: 1s to 10m`,
		"RETRY_MAX_CLOCK_SKEW=59m":                      `RETRY_MAX_CLOCK_SKEW: "59m" is not allowed -> allowed: 1h to 87600h`,
		"RETRY_JOB_TYPES=analyze-retry":                 `RETRY_JOB_TYPES: "analyze-retry"` + types,
		"RETRY_JOB_TYPES=a=tiss,a=smtp":                 `RETRY_JOB_TYPES: "a=tiss,a=smtp"` + types,
		"RETRY_JOB_TYPES=record-retry-outcome=tiss":     `RETRY_JOB_TYPES: "record-retry-outcome=tiss"` + types,
		"RETRY_OPERATOR=maria\nsilva":                   `RETRY_OPERATOR` + unprintable,
		"RETRY_OPERATOR=" + strings.Repeat("ã", 129):    `RETRY_OPERATOR: "` + strings.Repeat("ã", 100) + `" is not allowed -> allowed: 1 to 128 characters`,
		"RETRY_TZ=Sao_Paulo":                            `RETRY_TZ: "Sao_Paulo" is not allowed -> allowed: an IANA time zone`,
		"RETRY_TZ=Local":                                `RETRY_TZ: "Local" is not allowed -> allowed: an IANA time zone`,
		"RETRY_LOG_LEVEL=fatal":                         `RETRY_LOG_LEVEL: "fatal" is not allowed -> allowed: debug, info, warn or error`,
		"RETRY_LANG=fr":                                 `RETRY_LANG: "fr" is not allowed -> allowed: pt-BR or en`,
		"RETRY_DATABASE_URL=sqlite://" + dir + "/a.db":  `RETRY_DATABASE_URL: directory ` + dir + ` is not there`,
		"RETRY_DATABASE_URL=/x/a.db":                    store,
		"RETRY_DATABASE_URL=/x/u:pw@h":                  store,
		"RETRY_DATABASE_URL_FILE=" + file(t, "/c4n4ry"): store,
		"RETRY_DATABASE_URL=host=h user=u password=pw":  store,
		"RETRY_DATABASE_URL=sqlite://":                  store,
		"RETRY_DATABASE_URL=sqlite://u:pw@h/db":         store,
		"RETRY_HTTP_ADDRESS=8080":                       `RETRY_HTTP_ADDRESS: "8080" is not allowed -> allowed: host:port or :port`,
		"RETRY_HTTP_ADDRESS=127.0.0.1:65536":            `RETRY_HTTP_ADDRESS: "127.0.0.1:65536" is not allowed -> allowed: host:port or :port`,
		"RETRY_HTTP_TOKEN=0123456789abcde":              `RETRY_HTTP_TOKEN: "***" is not allowed -> allowed: 16 to 1000 characters`,
		"RETRY_HTTP_ADDRESS=:8080": `RETRY_HTTP_ADDRESS: other hosts can reach :8080 -> set RETRY_HTTP_TOKEN, or use a loopback ` +
			`address such as 127.0.0.1:8080`,
	} {
		check.Same(t, want, strings.Join(faults(t, setting), "\n"), "faults of %q", setting)
	}
	load(t, "RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TOKEN=0123456789abcdef")
}

func TestAPartIsReadWhateverIsWrongWithTheRest(t *testing.T) {
	set(t, "RETRY_LOG_LEVEL=loud", "RETRY_POLICIES_FILE=p.yaml", "RETRY_TZ=UTC", "RETRY_LANG=", "LC_ALL=", "LC_MESSAGES=", "LANG=pt_BR.UTF-8")
	policies, err := config.Part[config.Policies]()
	check.Must(t, err)
	people, err := config.ForPeople()
	check.Must(t, err)
	check.Same(t, []any{"p.yaml", "pt-BR", "UTC"}, []any{policies.PoliciesFile, string(people.Lang), people.TZ.String()}, "settings")
}
