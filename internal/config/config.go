// Package config reads the settings from the environment by envconfig. It is the only package that reads the
// environment.
//
// The structs are the one list of settings: their tags make the faults, the help and the page of the
// documentation.
package config

import (
	"strings"
	"time"

	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/text"
)

// Config is every setting. One that [Load] returned without an error is complete and consistent.
//
// The tags: envconfig is the name, default the value where the variable is unset or empty, want what it may
// hold (see [meets]), desc the meaning, in at most 120 characters.
type Config struct {
	WorkerName      string        `envconfig:"RETRY_WORKER_NAME" default:"analyze-retry@<host>" want:"1 to 300 characters" desc:"Name of this instance in the broker's records; the host's name is put in."`
	MaxJobsActive   int           `envconfig:"RETRY_MAX_JOBS_ACTIVE" default:"50" want:"1 to 1000" desc:"Maximum number of active jobs."`
	JobTimeout      time.Duration `envconfig:"RETRY_JOB_TIMEOUT" default:"10s" want:"1s to 1h" desc:"How long the broker locks a job for this worker before it delivers it again."`
	ShutdownTimeout time.Duration `envconfig:"RETRY_SHUTDOWN_TIMEOUT" default:"8s" want:"1s to 10m" desc:"How long a stop lets active jobs finish; keep it 2s below the grace period of the container engine."`
	MaxClockSkew    time.Duration `envconfig:"RETRY_MAX_CLOCK_SKEW" default:"24h" want:"1h to 87600h" desc:"No job is decided while the clocks of broker and host differ by more."`
	HTTPAddress     string        `envconfig:"RETRY_HTTP_ADDRESS" default:"127.0.0.1:8080" want:"host:port or :port" desc:"Serves /metrics, /healthz, /readyz. One that other hosts reach, as :8080, needs a token."`
	HTTPToken       Secret        `envconfig:"RETRY_HTTP_TOKEN" want:"16 to 1000 characters" desc:"Bearer token for /metrics and the reason in /readyz. Probes need none."`
	LogLevel        zapcore.Level `envconfig:"RETRY_LOG_LEVEL" default:"info" want:"debug, info, warn or error" desc:"The lowest level of log lines that are written."`
	People
	Policies
	DatabaseURL         URL    `envconfig:"RETRY_DATABASE_URL" default:"sqlite://analyze-retry.db" want:"sqlite://PATH without @, ? and # (sqlite:///x/a.db for /x/a.db), or postgres://USER:PASSWORD@HOST/DATABASE" desc:"Where decisions are stored: a file for one worker, or PostgreSQL for several replicas."`
	ClusterName         string `envconfig:"RETRY_CLUSTER_NAME" default:"zeebe" want:"1 to 100 characters" desc:"Part of a decision's identity. A cluster whose data was wiped needs a new name: its keys start again."`
	AuditKeyFile        string `envconfig:"RETRY_AUDIT_KEY_FILE" want:"the path of a private Ed25519 key in PEM" desc:"Signs the trail: back it up. PostgreSQL requires it, one for all replicas; for SQLite it is PATH.key, made at the start."`
	AuditRetentionYears int    `envconfig:"RETRY_AUDIT_RETENTION_YEARS" default:"5" want:"1 to 1000" desc:"How long records are kept at least (RN-BIL-005 section 10.2); worker audit purge removes older ones."`
	EventsURL           URL    `envconfig:"RETRY_EVENTS_URL" want:"a URL with amqp://, amqps://, kafka:// or kafka+tls://" desc:"The queue for events (docs/events). If unset they stay in the store."`
	Operator            string `envconfig:"RETRY_OPERATOR" want:"1 to 128 characters" desc:"Who orders what worker redrive sends, where --operator is not given."`
	Tenant              string `envconfig:"RETRY_TENANT" default:"<default>" want:"a tenant's id" desc:"The cluster's tenant whose jobs are worked."`
	AllowInsecureToken  bool   `envconfig:"RETRY_ALLOW_INSECURE_TOKEN" default:"false" want:"true or false" desc:"Lets a token, password or client secret go in plaintext to a host that is not loopback."`
	Cluster

	sources map[string]string // env, file or default, by name
}

// Cluster is the connection to the cluster, by the names of Zeebe's clients where those have one.
type Cluster struct {
	ZeebeAddress           string `envconfig:"ZEEBE_ADDRESS" default:"127.0.0.1:26500" want:"host:port, grpc://host:port, grpcs://host:port, http://host:port/path or https://host:port/path" desc:"The cluster; host:port is gRPC, http:// and https:// the REST API of 8.8 and later, with or without /v2."`
	ZeebeInsecure          bool   `envconfig:"ZEEBE_INSECURE_CONNECTION" default:"false" want:"true or false" desc:"How an address without a scheme is meant: true is plaintext, false is TLS."`
	ZeebeCACertificate     string `envconfig:"ZEEBE_CA_CERTIFICATE_PATH" want:"the path of a PEM file" desc:"Authorities to check the gateway's certificate against, in place of the system's."`
	ZeebeClientCertificate string `envconfig:"ZEEBE_CLIENT_CERTIFICATE_PATH" want:"the path of a PEM file" desc:"A certificate to show to the gateway (mutual TLS)."`
	ZeebeClientKey         string `envconfig:"ZEEBE_CLIENT_KEY_PATH" want:"the path of a PEM file" desc:"Its private key."`
	BasicUser              string `envconfig:"CAMUNDA_BASIC_AUTH_USERNAME" want:"1 to 256 characters without a colon" desc:"User for Basic authentication, which it switches on. Credentials for OAuth count before it."`
	BasicPassword          Secret `envconfig:"CAMUNDA_BASIC_AUTH_PASSWORD" desc:"Its password."`
	ZeebeClientID          string `envconfig:"ZEEBE_CLIENT_ID" want:"1 to 256 characters" desc:"OAuth client, which switches client credentials on."`
	ZeebeClientSecret      Secret `envconfig:"ZEEBE_CLIENT_SECRET" desc:"Its secret."`
	ZeebeAuthorizationURL  URL    `envconfig:"ZEEBE_AUTHORIZATION_SERVER_URL" want:"https://host/path" desc:"The token endpoint. It has no default, so that the secret goes to a configured server only."`
	ZeebeTokenAudience     string `envconfig:"ZEEBE_TOKEN_AUDIENCE" want:"an audience, such as zeebe-api" desc:"The audience of the token."`
	ZeebeTokenScope        string `envconfig:"ZEEBE_TOKEN_SCOPE" want:"scopes separated by blanks" desc:"The scopes of the token, if the server requires any."`
}

// People are the settings of what is printed for people.
type People struct {
	Lang text.Language `envconfig:"RETRY_LANG" default:"en" want:"pt-BR or en" desc:"Language of texts for people. Commands take the locale's where it is unset. Logs and metrics are English."`
	TZ   Zone          `envconfig:"RETRY_TZ" default:"America/Sao_Paulo" want:"an IANA time zone" desc:"Zone of the times and months that commands and reports print. --tz overrides it."`
}

// Policies are the settings that say how errors are decided. The three numbers are those of 001 section 5.2;
// 0 leaves the policy's own.
type Policies struct {
	JobTypes           JobTypes `envconfig:"RETRY_JOB_TYPES" default:"analyze-retry=tiss,retry-submission-backoff=tiss" want:"TYPE=POLICY,TYPE=POLICY" desc:"Job types to work, each with the policy of tasks that name none."`
	PoliciesFile       string   `envconfig:"RETRY_POLICIES_FILE" want:"the path of a YAML file" desc:"Policies beside the built-in ones, or in their place (docs/policies.md). It is read again on SIGHUP."`
	MaxRetries         int      `envconfig:"RETRY_MAX_RETRIES" want:"1 to 1000" desc:"Retries of the default policy, tiss, in place of its 5."`
	BaseBackoffMinutes int      `envconfig:"RETRY_BASE_BACKOFF_MINUTES" want:"1 to 10080" desc:"Its first and shortest wait, in place of 5 minutes."`
	MaxBackoffMinutes  int      `envconfig:"RETRY_MAX_BACKOFF_MINUTES" want:"1 to 10080" desc:"Its longest wait, in place of 240 minutes."`
}

// SQLitePath returns the file of a sqlite:// store, empty for another store.
func (c *Config) SQLitePath() string {
	if path, is := strings.CutPrefix(string(c.DatabaseURL), "sqlite://"); is {
		return path
	}
	return ""
}

// AuditKey returns the file of the audit trail's key.
func (c *Config) AuditKey() string {
	if c.AuditKeyFile == "" && c.SQLitePath() != "" {
		return c.SQLitePath() + ".key"
	}
	return c.AuditKeyFile
}
