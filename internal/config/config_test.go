package config_test

import (
	"errors"
	"os"
	"path/filepath"
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
		"analyze-retry.db", "analyze-retry.db.key", "zeebe", config.Months(60), "127.0.0.1:26500", false, "",
	}
	got := []any{
		cfg.WorkerName, cfg.MaxJobsActive, cfg.JobTimeout, cfg.ShutdownTimeout, cfg.MaxClockSkew, cfg.HTTPAddress, cfg.LogLevel, cfg.LogFormat,
		cfg.SQLitePath(), cfg.AuditKey(), cfg.ClusterName, cfg.AuditRetention, cfg.ZeebeAddress, cfg.ZeebeInsecure, cfg.ZeebeAuthorizationURL,
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
		{"RETRY_PPROF_ADDRESS", "localhost:6060"},
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
		{"ZEEBE_INSECURE_CONNECTION", "false"},
		{"ZEEBE_CA_CERTIFICATE_PATH", ca},
		{"ZEEBE_OVERRIDE_AUTHORITY", "gateway.example"},
		{"ZEEBE_CLIENT_CERTIFICATE_PATH", certificate},
		{"ZEEBE_CLIENT_KEY_PATH", key},
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
	check.Same(t, want, cfg.Settings(), "settings")
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
		`ZEEBE_ADDRESS is "zeebe"; allowed: host:port without a scheme, such as zeebe.example:26500`,
		`ZEEBE_CLIENT_SECRET is missing; OAuth needs client id, secret, authorization server and audience`,
		`ZEEBE_AUTHORIZATION_SERVER_URL is missing; OAuth needs client id, secret, authorization server and audience`,
		`ZEEBE_TOKEN_AUDIENCE is missing; OAuth needs client id, secret, authorization server and audience`,
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
	oauth := func(more ...string) []string {
		return append([]string{
			"ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET=s3cret", "ZEEBE_TOKEN_AUDIENCE=zeebe-api",
			"ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token",
		}, more...)
	}
	missing, empty := filepath.Join(t.TempDir(), "missing.pem"), file(t, "")
	checkFaults(t, []faultCase{
		{"no jobs at all", []string{"RETRY_MAX_JOBS_ACTIVE=0"}, `RETRY_MAX_JOBS_ACTIVE is "0"; allowed: a whole number from 1 to 1000`},
		{"one job is enough", []string{"RETRY_MAX_JOBS_ACTIVE=1"}, ""},
		{"the most jobs", []string{"RETRY_MAX_JOBS_ACTIVE=1000"}, ""},
		{"too many jobs", []string{"RETRY_MAX_JOBS_ACTIVE=1001"}, `RETRY_MAX_JOBS_ACTIVE is "1001"; allowed: a whole number from 1 to 1000`},
		{"half a job", []string{"RETRY_MAX_JOBS_ACTIVE=2.5"}, `RETRY_MAX_JOBS_ACTIVE is "2.5"; allowed: a whole number from 1 to 1000`},
		{"a job timeout too short to answer in", []string{"RETRY_JOB_TIMEOUT=999ms"}, `RETRY_JOB_TIMEOUT is "999ms"; allowed: a duration from 1s to 1h, such as 10s`},
		{"the shortest job timeout", []string{"RETRY_JOB_TIMEOUT=1s"}, ""},
		{"a job timeout of days", []string{"RETRY_JOB_TIMEOUT=48h"}, `RETRY_JOB_TIMEOUT is "48h0m0s"; allowed: a duration from 1s to 1h, such as 10s`},
		{"a job type without a policy", []string{"RETRY_JOB_TYPES=analyze-retry"}, `RETRY_JOB_TYPES is "analyze-retry"; allowed: TYPE=POLICY, several separated by commas, each type once, and not record-retry-outcome, which is always worked`},
		{"a job type that stands twice", []string{"RETRY_JOB_TYPES=a=tiss,a=smtp"}, `RETRY_JOB_TYPES is "a=tiss,a=smtp"; allowed: TYPE=POLICY, several separated by commas, each type once, and not record-retry-outcome, which is always worked`},
		{"a comma too many", []string{"RETRY_JOB_TYPES=a=tiss,"}, `RETRY_JOB_TYPES is "a=tiss,"; allowed: TYPE=POLICY, several separated by commas, each type once, and not record-retry-outcome, which is always worked`},
		{"the job type that has no policy", []string{"RETRY_JOB_TYPES=record-retry-outcome=tiss"}, `RETRY_JOB_TYPES is "record-retry-outcome=tiss"; allowed: TYPE=POLICY, several separated by commas, each type once, and not record-retry-outcome, which is always worked`},
		{"a job type of one's own", []string{"RETRY_JOB_TYPES=email-retry=smtp"}, ""},
		{"an operator of two lines", []string{"RETRY_OPERATOR=maria\nsilva"}, `RETRY_OPERATOR is "maria\nsilva"; allowed: 1 to 100 printable characters`},
		{"clocks that must agree to the minute", []string{"RETRY_MAX_CLOCK_SKEW=59m"}, `RETRY_MAX_CLOCK_SKEW is "59m0s"; allowed: a duration from 1h to 87600h, such as 24h`},
		{"clocks that never matter", []string{"RETRY_MAX_CLOCK_SKEW=87601h"}, `RETRY_MAX_CLOCK_SKEW is "87601h0m0s"; allowed: a duration from 1h to 87600h, such as 24h`},
		{"no time to stop", []string{"RETRY_SHUTDOWN_TIMEOUT=-1s"}, `RETRY_SHUTDOWN_TIMEOUT is "-1s"; allowed: a duration from 1s to 10m, such as 8s`},
		{"a blank before a number", []string{"RETRY_MAX_JOBS_ACTIVE= 50"}, `RETRY_MAX_JOBS_ACTIVE has white space around its value; take it away`},
		{"a line break after a secret", oauth("ZEEBE_CLIENT_SECRET=s3cret\n"), `ZEEBE_CLIENT_SECRET has white space around its value; take it away`},
		{"a name that breaks log lines", []string{"RETRY_WORKER_NAME=a\nb"}, `RETRY_WORKER_NAME is "a\nb"; allowed: 1 to 300 printable characters`},
		{"the level in capitals", []string{"RETRY_LOG_LEVEL=INFO"}, `RETRY_LOG_LEVEL is "INFO"; allowed: debug, info, warn or error`},
		{"a store of an unknown kind", []string{"RETRY_DATABASE_URL=mysql://u:s3cret@h/d"}, `RETRY_DATABASE_URL is "***"; allowed: sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE`},
		{"a store that is a password", []string{"RETRY_DATABASE_URL=hunter2"}, `RETRY_DATABASE_URL is "***"; allowed: sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE`},
		{"a store as libpq's words", []string{"RETRY_DATABASE_URL=host=h user=u password=hunter2"}, `RETRY_DATABASE_URL is "***"; allowed: sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE`},
		{"a store without a file", []string{"RETRY_DATABASE_URL=sqlite://"}, `RETRY_DATABASE_URL is sqlite://***, which names no file; allowed: sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE`},
		{"a store without a database", []string{"RETRY_DATABASE_URL=postgres://h/", "RETRY_AUDIT_KEY_FILE=k"}, `RETRY_DATABASE_URL is postgres://***, which names no database; allowed: sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE`},
		{"an empty cluster name", []string{"RETRY_CLUSTER_NAME=a\tb"}, `RETRY_CLUSTER_NAME is "a\tb"; allowed: 1 to 100 printable characters`},
		{"a retention without a unit", []string{"RETRY_AUDIT_RETENTION=5"}, `RETRY_AUDIT_RETENTION is "5"; allowed: months or years from 1m to 50y, such as 5y or 18m, or unlimited`},
		{"a retention of no time", []string{"RETRY_AUDIT_RETENTION=0y"}, `RETRY_AUDIT_RETENTION is "0y"; allowed: months or years from 1m to 50y, such as 5y or 18m, or unlimited`},
		{"a retention without end", []string{"RETRY_AUDIT_RETENTION=51y"}, `RETRY_AUDIT_RETENTION is "51y"; allowed: months or years from 1m to 50y, such as 5y or 18m, or unlimited`},
		{"a queue of an unknown kind", []string{"RETRY_EVENTS_URL=redis://h"}, `RETRY_EVENTS_URL is "***"; allowed: a URL with nats://, tls://, amqp://, amqps://, kafka:// or kafka+tls://, see docs/events`},
		{"an unknown log format", []string{"RETRY_LOG_FORMAT=xml"}, `RETRY_LOG_FORMAT is "xml"; allowed: json or console`},
		{"a port only", []string{"RETRY_HTTP_ADDRESS=8080"}, `RETRY_HTTP_ADDRESS is "8080"; allowed: host:port or :port, with a port from 0 to 65535 (0: any free one)`},
		{"a port that is none", []string{"RETRY_HTTP_ADDRESS=:65536"}, `RETRY_HTTP_ADDRESS is ":65536"; allowed: host:port or :port, with a port from 0 to 65535 (0: any free one)`},
		{"any free port", []string{"RETRY_HTTP_ADDRESS=[::1]:0"}, ""},

		{"a gateway address with a scheme", []string{"ZEEBE_ADDRESS=https://zeebe.example:443"}, `ZEEBE_ADDRESS is "https://zeebe.example:443"; allowed: host:port without a scheme, such as zeebe.example:26500`},
		{"a gateway address with a password", []string{"ZEEBE_ADDRESS=https://me:pw@zeebe.example:443"}, `ZEEBE_ADDRESS is "***"; allowed: host:port without a scheme, such as zeebe.example:26500`},
		{"a gateway without a host", []string{"ZEEBE_ADDRESS=:26500"}, `ZEEBE_ADDRESS is ":26500"; allowed: host:port without a scheme, such as zeebe.example:26500`},
		{"a gateway at port 0", []string{"ZEEBE_ADDRESS=zeebe:0"}, `ZEEBE_ADDRESS is "zeebe:0"; allowed: host:port without a scheme, such as zeebe.example:26500`},
		{"a gateway named as the Go client's users do", []string{"ZEEBE_HOST=zeebe"}, `ZEEBE_HOST is not read by this worker; set ZEEBE_ADDRESS to host:port`},
		{"a gateway's port by itself", []string{"ZEEBE_PORT=26501"}, `ZEEBE_PORT is not read by this worker; set ZEEBE_ADDRESS to host:port`},
		{"host and port that are those of the address", []string{"ZEEBE_HOST=Zeebe", "ZEEBE_PORT=443", "ZEEBE_ADDRESS=zeebe:443"}, ""},
		{"the host of the address alone", []string{"ZEEBE_HOST=::1", "ZEEBE_ADDRESS=[::1]:443"}, ""},
		{"another host than the address's", []string{"ZEEBE_HOST=other", "ZEEBE_ADDRESS=zeebe:26500"}, `ZEEBE_HOST and ZEEBE_ADDRESS name different hosts; remove ZEEBE_HOST, which this worker does not read`},
		{"another port than the address's", []string{"ZEEBE_PORT=443", "ZEEBE_ADDRESS=zeebe:26500"}, `ZEEBE_PORT and ZEEBE_ADDRESS name different ports; remove ZEEBE_PORT, which this worker does not read`},
		{"another host than that of an address which is none", []string{"ZEEBE_HOST=other", "ZEEBE_ADDRESS=zeebe"}, `ZEEBE_ADDRESS is "zeebe"; allowed: host:port without a scheme, such as zeebe.example:26500`},
		{"a service called zeebe", []string{"ZEEBE_PORT=tcp://10.0.0.1:26500", "ZEEBE_SERVICE_HOST=10.0.0.1", "ZEEBE_SERVICE_PORT=26500"}, ""},
		{"a service called zeebe beside the address", []string{"ZEEBE_PORT=tcp://10.0.0.1:26500", "ZEEBE_ADDRESS=zeebe:26500"}, ""},
		{"variables of the broker and of zbctl", []string{"ZEEBE_BROKER_NETWORK_HOST=x", "ZEEBE_KEEP_ALIVE=1000"}, ""},
		{"neither yes nor no", []string{"ZEEBE_INSECURE_CONNECTION=yes"}, `ZEEBE_INSECURE_CONNECTION is "yes"; allowed: true or false`},
		{"plaintext only here", []string{"ZEEBE_INSECURE_CONNECTION=1"}, `ZEEBE_INSECURE_CONNECTION is "1", which Zeebe's clients read in different ways; allowed: true or false`},
		{"plaintext here and in Java", []string{"ZEEBE_INSECURE_CONNECTION=TRUE"}, `ZEEBE_INSECURE_CONNECTION is "TRUE", which Zeebe's clients read in different ways; allowed: true or false`},
		{"TLS by one name and plaintext by another", []string{"ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_SECURE_CONNECTION=true"}, `ZEEBE_SECURE_CONNECTION asks for TLS and ZEEBE_INSECURE_CONNECTION for plaintext; remove one of the two`},
		{"the same in Node", []string{"ZEEBE_INSECURE_CONNECTION=true", "CAMUNDA_SECURE_CONNECTION=True"}, `CAMUNDA_SECURE_CONNECTION asks for TLS and ZEEBE_INSECURE_CONNECTION for plaintext; remove one of the two`},
		{"the same in Spring", []string{"ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_CLIENT_SECURITY_PLAINTEXT=false"}, `ZEEBE_CLIENT_SECURITY_PLAINTEXT asks for TLS and ZEEBE_INSECURE_CONNECTION for plaintext; remove one of the two`},
		{"plaintext by both names", []string{"ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_CLIENT_SECURITY_PLAINTEXT=true"}, ""},
		{"a file that is not there", []string{"ZEEBE_CA_CERTIFICATE_PATH=" + missing}, `ZEEBE_CA_CERTIFICATE_PATH is "` + missing + `", which cannot be read: no such file or directory`},
		{"a directory for a file", []string{"ZEEBE_CA_CERTIFICATE_PATH=/"}, `ZEEBE_CA_CERTIFICATE_PATH is "/", which cannot be read: it is a directory, not a regular file`},
		{"an empty file", []string{"ZEEBE_CA_CERTIFICATE_PATH=" + empty}, `ZEEBE_CA_CERTIFICATE_PATH is "` + empty + `", which cannot be read: it is empty`},
		{"an authority over plaintext", []string{"ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_CA_CERTIFICATE_PATH=" + missing}, `ZEEBE_CA_CERTIFICATE_PATH has no effect with ZEEBE_INSECURE_CONNECTION=true; remove one of the two`},
		{"a certificate without its key", []string{"ZEEBE_CLIENT_CERTIFICATE_PATH=" + file(t, "x")}, `ZEEBE_CLIENT_KEY_PATH is missing; ZEEBE_CLIENT_CERTIFICATE_PATH needs it`},
		{"a key without its certificate", []string{"ZEEBE_CLIENT_KEY_PATH=" + file(t, "x")}, `ZEEBE_CLIENT_CERTIFICATE_PATH is missing; ZEEBE_CLIENT_KEY_PATH needs it`},

		{"OAuth over TLS", oauth(), ""},
		{"OAuth in plaintext to this host", oauth("ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_ADDRESS=localhost:26500"), ""},
		{"OAuth in plaintext to this host by IPv6", oauth("ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_ADDRESS=[::1]:26500"), ""},
		{"OAuth in plaintext to another host", oauth("ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_ADDRESS=zeebe:26500"), `ZEEBE_INSECURE_CONNECTION is true, which would send the OAuth token in plaintext to zeebe; use TLS, or a gateway on this host`},
		{"OAuth in plaintext to this host, IPv4 in IPv6", oauth("ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_ADDRESS=[::ffff:127.0.0.1]:26500"), ""},
		{"plaintext to another host without OAuth", []string{"ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_ADDRESS=zeebe:26500"}, ""},
		{"a host that only begins like this one", oauth("ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_ADDRESS=localhost.example:1"), `ZEEBE_INSECURE_CONNECTION is true, which would send the OAuth token in plaintext to localhost.example; use TLS, or a gateway on this host`},
		{"the secret in plaintext to another host", oauth("ZEEBE_AUTHORIZATION_SERVER_URL=http://login.example/token"), `ZEEBE_AUTHORIZATION_SERVER_URL begins with http:// but names another host, which would send the client secret in plaintext; use https`},
		{"the secret in plaintext to this host", oauth("ZEEBE_AUTHORIZATION_SERVER_URL=http://127.0.0.1:18080/token"), ""},
		{"a password in the URL", oauth("ZEEBE_AUTHORIZATION_SERVER_URL=https://me:pw@login.example/"), `ZEEBE_AUTHORIZATION_SERVER_URL is https://***, which names not just one host without user and password; allowed: an https URL without user and password (http only to a loopback host)`},
		{"no URL", oauth("ZEEBE_AUTHORIZATION_SERVER_URL=login.example/token"), `ZEEBE_AUTHORIZATION_SERVER_URL is "***"; allowed: an https URL without user and password (http only to a loopback host)`},

		{"a setting without its own prefix", []string{"RETRY_ZEEBE_ADDRESS=zeebe:1"}, `RETRY_ZEEBE_ADDRESS is not a setting; did you mean ZEEBE_ADDRESS?`},
		{"a service link of Kubernetes", []string{"RETRY_WORKER_PORT_8080_TCP=tcp://10.0.0.1:8080"}, `RETRY_WORKER_PORT_8080_TCP is not a setting; if Kubernetes set it for a service called retry..., set enableServiceLinks: false on the pod`},
		{"a variable of somebody else", []string{"RETRYING=1", "MY_RETRY_X=1"}, ""},
	})
}

func TestAScopeAloneAsksForAllOfOAuth(t *testing.T) {
	t.Parallel()
	got := faults(t, "ZEEBE_TOKEN_SCOPE=jobs")
	check.Same(t, 4, len(got), "faults")
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
		{"metrics for everybody, spelt out", []string{"RETRY_HTTP_ADDRESS=0.0.0.0:8080"}, exposed("0.0.0.0:8080")},
		{"metrics for one network", []string{"RETRY_HTTP_ADDRESS=10.0.0.1:8080"}, exposed("10.0.0.1:8080")},
		{"metrics for everybody with a token", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TOKEN=0123456789abcdef"}, ""},
		{"metrics for everybody by TLS", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate, "RETRY_HTTP_TLS_KEY_PATH=" + key}, ""},
		{"a token that can be guessed", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TOKEN=0123456789abcde"}, badToken},
		{"a token with a blank", []string{"RETRY_HTTP_TOKEN=0123456789 abcdef"}, badToken},
		{"a token that no header can carry", []string{"RETRY_HTTP_TOKEN=0123456789abcdéf"}, badToken},
		{"a certificate to serve without its key", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate}, `RETRY_HTTP_TLS_KEY_PATH is missing; RETRY_HTTP_TLS_CERTIFICATE_PATH needs it`},
		{"a key to serve without its certificate", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TLS_KEY_PATH=" + key}, `RETRY_HTTP_TLS_CERTIFICATE_PATH is missing; RETRY_HTTP_TLS_KEY_PATH needs it`},
		{"a certificate to serve that is not there", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + missing, "RETRY_HTTP_TLS_KEY_PATH=" + key}, `RETRY_HTTP_TLS_CERTIFICATE_PATH is "` + missing + `", which cannot be read: no such file or directory`},
		{"a key that is not there", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate, "RETRY_HTTP_TLS_KEY_PATH=" + missing}, `RETRY_HTTP_TLS_KEY_PATH is "` + missing + `", which cannot be read: no such file or directory`},
		{"a key of another certificate", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate, "RETRY_HTTP_TLS_KEY_PATH=" + otherKey}, `RETRY_HTTP_TLS_CERTIFICATE_PATH and RETRY_HTTP_TLS_KEY_PATH are no certificate and its key: tls: private key does not match public key`},
		{"profiles for this host", []string{"RETRY_PPROF_ADDRESS=[::1]:0"}, ""},
		{"profiles for everybody", []string{"RETRY_PPROF_ADDRESS=:6060"}, `RETRY_PPROF_ADDRESS is ":6060", but profiles are for this host only; use a loopback address such as 127.0.0.1:6060`},
		{"profiles for everybody with a token", []string{"RETRY_PPROF_ADDRESS=10.0.0.1:6060", "RETRY_HTTP_TOKEN=0123456789abcdef"}, `RETRY_PPROF_ADDRESS is "10.0.0.1:6060", but profiles are for this host only; use a loopback address such as 127.0.0.1:6060`},
		{"profiles at no address", []string{"RETRY_PPROF_ADDRESS=on"}, `RETRY_PPROF_ADDRESS is "on", but profiles are for this host only; use a loopback address such as 127.0.0.1:6060`},
	})
}

func TestNamesOfOtherClientsGetAWarningWithTheRightOne(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	for name, want := range map[string]string{
		"ZEEBE_CLIENT_BROKER_GATEWAYADDRESS":  "this worker reads ZEEBE_ADDRESS, host:port without a scheme", // Spring
		"ZEEBE_CLIENT_BROKER_GATEWAY-ADDRESS": "this worker reads ZEEBE_ADDRESS, host:port without a scheme",
		"ZEEBE_CLIENT_BROKER_GATEWAY_ADDRESS": "this worker reads ZEEBE_ADDRESS, host:port without a scheme",
		"CAMUNDA_CLIENT_ZEEBE_GRPCADDRESS":    "this worker reads ZEEBE_ADDRESS, host:port without a scheme",
		"CAMUNDA_CLIENT_GRPCADDRESS":          "this worker reads ZEEBE_ADDRESS, host:port without a scheme",
		"ZEEBE_GRPC_ADDRESS":                  "this worker reads ZEEBE_ADDRESS, host:port without a scheme", // Java, Node
		"ZEEBE_GATEWAY_ADDRESS":               "this worker reads ZEEBE_ADDRESS, host:port without a scheme",
		"ZEEBE_CLIENT_SECURITY_PLAINTEXT":     "this worker reads ZEEBE_INSECURE_CONNECTION, true for plaintext",
		"CAMUNDA_SECURE_CONNECTION":           "this worker reads ZEEBE_INSECURE_CONNECTION, true for plaintext",
		"CAMUNDA_CUSTOM_ROOT_CERT_PATH":       "this worker reads PEM files: ZEEBE_CA_CERTIFICATE_PATH, ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH",
		"ZEEBE_CLIENT_CLOUD_CLIENTID":         "this worker reads ZEEBE_CLIENT_ID",
		"CAMUNDA_CLIENT_AUTH_CLIENTSECRET":    "this worker reads ZEEBE_CLIENT_SECRET or ZEEBE_CLIENT_SECRET_FILE",
		"CAMUNDA_OAUTH_URL":                   "this worker reads ZEEBE_AUTHORIZATION_SERVER_URL, the whole URL of the token endpoint",
		"CAMUNDA_ZEEBE_OAUTH_AUDIENCE":        "this worker reads ZEEBE_TOKEN_AUDIENCE",
		"CAMUNDA_TOKEN_SCOPE":                 "this worker reads ZEEBE_TOKEN_SCOPE",
		"ZEEBE_REST_ADDRESS":                  "this worker speaks gRPC only",
		"ZEEBE_DEFAULT_TENANT_ID":             "this worker takes the jobs of the default tenant",
		"CAMUNDA_TENANT_ID":                   "this worker takes the jobs of the default tenant",
		"ZEEBE_KEEP_ALIVE":                    "it is a setting of other clients",
		"ZEEBE_AUTH_REQUEST_TIMEOUT":          "it is a setting of other clients",
		"ZEEBE_CLIENT_CONFIG_PATH":            "it is a setting of other clients",
		"CAMUNDA_CLIENT_MODE":                 "it is a setting of other clients",
		"ZEEBE_CLIENT_WORKER_STREAM_ENABLED":  "it is a setting of other clients",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := load(t, name+"="+canary)
			check.Same(t, []string{name + " is not read: " + want}, cfg.Warnings(), "warnings")
		})
	}
}

func TestOnlyNamesOfOtherClientsGetAWarning(t *testing.T) {
	t.Parallel()
	link := load(t, "ZEEBE_PORT=tcp://10.0.0.1:26500", "ZEEBE_PORT_26500_TCP=tcp://10.0.0.1:26500")
	if got := link.Warnings(); len(got) != 1 || !strings.Contains(got[0], "enableServiceLinks: false") {
		t.Errorf("warnings of a service link are %q", got)
	}
	cfg := load(t, "ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET_FILE="+file(t, "s3cret"), "ZEEBE_TOKEN_AUDIENCE=zeebe-api", "ZEEBE_TOKEN_SCOPE=jobs",
		"ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token", "ZEEBE_CLIENT_CERTIFICATE_PATH="+file(t, "x"), "ZEEBE_CLIENT_KEY_PATH="+file(t, "x"),
		"ZEEBE_ADDRESS=zeebe:26500", "ZEEBE_HOST=zeebe", "ZEEBE_PORT=26500", "ZEEBE_REST_ADDRESS=", "ZEEBE_BROKER_NETWORK_HOST=x", "CAMUNDA_OPERATE_BASE_URL=x")
	if got := cfg.Warnings(); len(got) > 0 {
		t.Errorf("warnings are %q", got)
	}
}
