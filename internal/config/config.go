// Package config reads the worker's settings from the environment. It is the only package that does.
//
// [Config] is the one list of settings: its tags carry name, default, what is allowed and the meaning, and everything
// else (loading, the fault messages, the help text, docs/configuration.md) is made from them.
package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/text"
)

// Config is every setting of the worker. A Config that [Load] returned without an error is complete and consistent.
//
// The tags: envconfig is the variable's canonical name, aliases are other names that are read as well, separated by blanks,
// default is the value if all of them are unset or empty, allowed what they may hold (it ends the fault message
// "...; allowed: ..."), desc the meaning.
type Config struct {
	WorkerName      string        `envconfig:"RETRY_WORKER_NAME" default:"analyze-retry@<host>" allowed:"1 to 300 printable characters" desc:"Name of this instance in the broker's records; <host> is replaced by the host's name."`
	MaxJobsActive   int           `envconfig:"RETRY_MAX_JOBS_ACTIVE" default:"50" allowed:"a whole number from 1 to 1000" desc:"Maximum number of active jobs."`
	JobTimeout      time.Duration `envconfig:"RETRY_JOB_TIMEOUT" default:"10s" allowed:"a duration from 1s to 1h, such as 10s" desc:"How long the broker locks a job for this worker before it delivers it again."`
	ShutdownTimeout time.Duration `envconfig:"RETRY_SHUTDOWN_TIMEOUT" default:"8s" allowed:"a duration from 1s to 10m, such as 8s" desc:"How long a stop lets active jobs finish; the rest is then released within a second. Keep it 2s below the grace period of the container engine (docker stop: 10s)."`
	MaxClockSkew    time.Duration `envconfig:"RETRY_MAX_CLOCK_SKEW" default:"24h" allowed:"a duration from 1h to 87600h, such as 24h" desc:"How much the clocks of the broker (read from job deadlines) and of this host may differ; above that no job is decided. Raise it only for tests that move the broker's clock."`
	HTTPAddress     string        `envconfig:"RETRY_HTTP_ADDRESS" default:"127.0.0.1:8080" allowed:"host:port or :port, with a port from 0 to 65535 (0: any free one)" desc:"Where /metrics, /healthz and /readyz are served. An address that other hosts can reach, such as :8080, needs RETRY_HTTP_TOKEN or a certificate."`
	HTTPToken       Secret        `envconfig:"RETRY_HTTP_TOKEN" allowed:"16 or more printable ASCII characters without blanks" desc:"The bearer token for /metrics and for the reason in /readyz. Probes need none: the status of /healthz and /readyz is public."`
	HTTPCertificate string        `envconfig:"RETRY_HTTP_TLS_CERTIFICATE_PATH" allowed:"the path of a readable PEM file" desc:"The certificate to serve them with, by TLS 1.2 or newer; needs RETRY_HTTP_TLS_KEY_PATH. A renewed one is loaded without a restart."`
	HTTPKey         string        `envconfig:"RETRY_HTTP_TLS_KEY_PATH" allowed:"the path of a readable PEM file" desc:"The private key of RETRY_HTTP_TLS_CERTIFICATE_PATH."`
	LogLevel        string        `envconfig:"RETRY_LOG_LEVEL" default:"info" allowed:"debug, info, warn or error" desc:"The lowest level of log lines that are written."`
	LogFormat       string        `envconfig:"RETRY_LOG_FORMAT" default:"json" allowed:"json or console" desc:"json for machines, one object per line; console for people."`
	Language        text.Language `envconfig:"RETRY_LANG" default:"en" allowed:"pt-BR or en" desc:"Language of the worker's texts for people: incidents, BPMN error messages, retryReason. Commands that print for people take it too, and where it is unset LC_ALL, LC_MESSAGES or LANG. Logs and metrics are English; JSON and events too, but they quote what the process was sent."`

	JobTypes     JobTypes `envconfig:"RETRY_JOB_TYPES" default:"analyze-retry=tiss,retry-submission-backoff=tiss" allowed:"TYPE=POLICY, several separated by commas, each type once, and not record-retry-outcome, which is always worked" desc:"The job types to work, each with the policy for tasks that name none. retry-submission-backoff gets the output variables of RN-BIL-004, every other type those of RN-BIL-005."`
	PoliciesFile string   `envconfig:"RETRY_POLICIES_FILE" allowed:"the path of a YAML file" desc:"Policies in addition to the built-in ones, or replacing them (docs/policies.md). It is read again on SIGHUP."`

	DatabaseURL    URL    `envconfig:"RETRY_DATABASE_URL" default:"sqlite://analyze-retry.db" allowed:"sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE" desc:"Where decisions are stored. sqlite:// is a file for one worker (sqlite:///var/lib/retry.db is absolute); postgres:// is for several replicas."`
	ClusterName    string `envconfig:"RETRY_CLUSTER_NAME" default:"zeebe" allowed:"1 to 100 printable characters" desc:"Name of the Zeebe cluster, part of a decision's identity. Give a cluster whose data was wiped a new name, because its keys start again."`
	AuditKeyFile   string `envconfig:"RETRY_AUDIT_KEY_FILE" allowed:"the path of a PEM file with a private Ed25519 key" desc:"The key that signs the audit trail; with postgres:// required and the same for all replicas (openssl genpkey -algorithm ed25519). With sqlite:// it defaults to PATH.key, which the first start creates. Without it the trail can neither be checked nor continued: back it up, apart from the store."`
	AuditRetention Months `envconfig:"RETRY_AUDIT_RETENTION" default:"5y" allowed:"months or years from 1m to 50y, such as 5y or 18m, or unlimited" desc:"How long audit records are kept at least, by whole months; unlimited: for good. Older ones are removed by a person: worker audit purge --before."`
	EventsURL      URL    `envconfig:"RETRY_EVENTS_URL" allowed:"a URL with amqp://, amqps://, kafka:// or kafka+tls://, see docs/events" desc:"The queue that events are published to. If unset, they stay in the store: see worker events tail."`

	Operator string `envconfig:"RETRY_OPERATOR" allowed:"1 to 128 printable characters" desc:"Who orders what worker redrive sends, where --operator is not given. Set it in the session of a person; the worker itself does not read it."`

	// The connection. Its canonical names are those of Zeebe's Go client where that has one.
	ZeebeAddress           string       `envconfig:"ZEEBE_ADDRESS" default:"127.0.0.1:26500" allowed:"host:port, or a URL that begins with grpc://, grpcs://, http:// or https://, without user and password" desc:"Address of the cluster. host:port and grpc:// or grpcs:// stand for gRPC, http:// and https:// for the REST API of 8.8 and later. The default holds if no address is set by another name."`
	ZeebeGRPCAddress       string       `envconfig:"ZEEBE_GRPC_ADDRESS" aliases:"CAMUNDA_GRPC_ADDRESS CAMUNDA_CLIENT_GRPC_ADDRESS CAMUNDA_CLIENT_GRPCADDRESS" allowed:"host:port, or a URL that begins with grpc://, grpcs://, http:// or https://, without path, user and password" desc:"Address of the cluster for gRPC; http:// and https:// mean gRPC without and with TLS here, as in Camunda's Java client. If a REST address is set as well, gRPC is used."`
	ZeebeRESTAddress       string       `envconfig:"ZEEBE_REST_ADDRESS" aliases:"CAMUNDA_REST_ADDRESS CAMUNDA_CLIENT_REST_ADDRESS CAMUNDA_CLIENT_RESTADDRESS" allowed:"a URL that begins with http:// or https://, without user and password" desc:"Address of the cluster's REST API, with or without the /v2 at its end; needs Camunda 8.8 or later."`
	ZeebeInsecure          bool         `envconfig:"ZEEBE_INSECURE_CONNECTION" aliases:"CAMUNDA_INSECURE_CONNECTION" default:"false" allowed:"true or false" desc:"How an address without a scheme is meant: true is plaintext, false is TLS."`
	ZeebeCACertificate     string       `envconfig:"ZEEBE_CA_CERTIFICATE_PATH" aliases:"CAMUNDA_CA_CERTIFICATE_PATH CAMUNDA_MTLS_CA_PATH" allowed:"the path of a readable PEM file" desc:"The certificate authorities that the gateway's certificate is checked against, instead of the system's."`
	ZeebeOverrideAuthority string       `envconfig:"ZEEBE_OVERRIDE_AUTHORITY" aliases:"CAMUNDA_OVERRIDE_AUTHORITY" allowed:"a host name" desc:"The name to expect in the gateway's certificate, if it differs from the address."`
	ZeebeClientCertificate string       `envconfig:"ZEEBE_CLIENT_CERTIFICATE_PATH" aliases:"CAMUNDA_MTLS_CERT_PATH" allowed:"the path of a readable PEM file" desc:"A certificate to show to the gateway (mutual TLS); needs ZEEBE_CLIENT_KEY_PATH. Zeebe's own clients have no name for this."`
	ZeebeClientKey         string       `envconfig:"ZEEBE_CLIENT_KEY_PATH" aliases:"CAMUNDA_MTLS_KEY_PATH" allowed:"the path of a readable PEM file" desc:"The private key of ZEEBE_CLIENT_CERTIFICATE_PATH. Zeebe's own clients have no name for this."`
	Authentication         AuthStrategy `envconfig:"CAMUNDA_AUTH_STRATEGY" aliases:"CAMUNDA_CLIENT_AUTH_METHOD" allowed:"NONE, BASIC or OIDC (OAUTH and OAUTH2 mean OIDC)" desc:"How the worker authenticates to the cluster. If unset, the credentials decide: BASIC by a user name, OIDC by a client id, else NONE."`
	BasicUser              string       `envconfig:"CAMUNDA_BASIC_AUTH_USERNAME" aliases:"CAMUNDA_CLIENT_AUTH_USERNAME" allowed:"1 to 256 printable characters without a colon" desc:"The user name for Basic authentication; needs the password."`
	BasicPassword          Secret       `envconfig:"CAMUNDA_BASIC_AUTH_PASSWORD" aliases:"CAMUNDA_CLIENT_AUTH_PASSWORD" allowed:"the password of CAMUNDA_BASIC_AUTH_USERNAME" desc:"The password for Basic authentication. It is never printed or logged."`
	ZeebeClientID          string       `envconfig:"ZEEBE_CLIENT_ID" aliases:"CAMUNDA_CLIENT_ID CAMUNDA_CLIENT_AUTH_CLIENT_ID CAMUNDA_CLIENT_AUTH_CLIENTID" allowed:"the id that the authorization server knows" desc:"The OAuth client ID. It switches OAuth client credentials on; needs the secret, the authorization server, and an audience or a scope."`
	ZeebeClientSecret      Secret       `envconfig:"ZEEBE_CLIENT_SECRET" aliases:"CAMUNDA_CLIENT_SECRET CAMUNDA_CLIENT_AUTH_CLIENT_SECRET CAMUNDA_CLIENT_AUTH_CLIENTSECRET" allowed:"the secret of ZEEBE_CLIENT_ID" desc:"The OAuth client secret. It is never printed or logged."`
	ZeebeAuthorizationURL  string       `envconfig:"ZEEBE_AUTHORIZATION_SERVER_URL" aliases:"CAMUNDA_OAUTH_URL CAMUNDA_AUTHORIZATION_SERVER_URL CAMUNDA_CLIENT_AUTH_TOKEN_URL CAMUNDA_CLIENT_AUTH_TOKENURL" allowed:"an https URL without user and password (http only to a loopback host, or with RETRY_ALLOW_INSECURE_TOKEN=true)" desc:"The token endpoint. It has no default except for SaaS, so that the secret is sent only to a configured server."`
	ZeebeTokenAudience     string       `envconfig:"ZEEBE_TOKEN_AUDIENCE" aliases:"CAMUNDA_TOKEN_AUDIENCE CAMUNDA_CLIENT_AUTH_AUDIENCE" allowed:"the audience to ask for, such as zeebe-api" desc:"The audience of the OAuth token."`
	ZeebeTokenScope        string       `envconfig:"ZEEBE_TOKEN_SCOPE" aliases:"CAMUNDA_TOKEN_SCOPE CAMUNDA_OAUTH_SCOPE CAMUNDA_CLIENT_AUTH_SCOPE" allowed:"scopes separated by blanks" desc:"The scopes of the OAuth token, if the authorization server requires any."`
	AllowInsecureToken     bool         `envconfig:"RETRY_ALLOW_INSECURE_TOKEN" default:"false" allowed:"true or false" desc:"true lets a token, a password or the client secret go over plaintext to a host that is not loopback, such as a Keycloak in the same Kubernetes cluster. All hosts on the way can read it. A warning names what is sent."`
	ClientMode             ClientMode   `envconfig:"CAMUNDA_CLIENT_MODE" allowed:"saas or self-managed" desc:"saas takes address, token endpoint and audience of Camunda's SaaS from the cluster id and the region. So does setting those two without an address."`
	CloudClusterID         string       `envconfig:"CAMUNDA_CLIENT_CLOUD_CLUSTERID" aliases:"CAMUNDA_CLIENT_CLOUD_CLUSTER_ID CAMUNDA_CLUSTER_ID" allowed:"letters, digits and hyphens" desc:"The id of the SaaS cluster."`
	CloudRegion            string       `envconfig:"CAMUNDA_CLIENT_CLOUD_REGION" aliases:"CAMUNDA_CLUSTER_REGION" allowed:"letters, digits and hyphens, such as bru-2" desc:"The region of the SaaS cluster."`
	Tenant                 string       `envconfig:"RETRY_TENANT" aliases:"CAMUNDA_TENANT_ID CAMUNDA_DEFAULT_TENANT_ID CAMUNDA_CLIENT_TENANT_ID CAMUNDA_CLIENT_TENANTID ZEEBE_DEFAULT_TENANT_ID" default:"<default>" allowed:"<default>, or 1 to 31 letters, digits, _, . and -" desc:"The tenant whose jobs are worked, on a cluster with multi-tenancy. Deployments and messages go to it. The store is for one tenant: others need workers and stores of their own."`

	// origins holds where the values come from that are no defaults, by the names of their settings.
	origins  map[string]origin
	warnings []string
}

// Warnings returns what may be a mistake in the environment but prevents no start, one sentence each: names that are
// one slip away from a setting's, and files with secrets that others can read. They hold no value.
func (c *Config) Warnings() []string { return c.warnings }

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

// Setting is one setting as a person or a program is shown it.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
	// Variable is the variable that the value was read from, if it is an alias of Name (or the file of one), and the one
	// that a derived value follows from.
	Variable string `json:"variable,omitempty"`
}

// The sources that a value can come from.
const (
	FromDefault     = "default"
	FromEnvironment = "env"
	FromFile        = "file"        // that NAME_FILE names
	FromCredentials = "credentials" // the file that --credentials names
	FromDerived     = "derived"     // from another setting
)

// origin is where a value comes from: one of the sources, and the variable.
type origin struct{ source, variable string }

// Settings lists the effective value of every setting, in order, secrets masked.
func (c Config) Settings() []Setting {
	var list []Setting
	for _, field := range fields() {
		name := field.Tag.Get("envconfig")
		s := Setting{Name: name, Value: fmt.Sprint(reflect.ValueOf(c).FieldByIndex(field.Index).Interface()), Source: FromDefault}
		if from, is := c.origins[name]; is {
			s.Source = from.source
			if from.variable != name && from.variable != name+fileSuffix {
				s.Variable = from.variable
			}
		}
		list = append(list, s)
	}
	return list
}

// variable returns the variable that a setting was read from, its canonical name if it was not set.
func (c *Config) variable(name string) string { return cmp.Or(c.origins[name].variable, name) }

// isSet reports whether a setting is no default.
func (c *Config) isSet(name string) bool { return c.origins[name].source != "" }

// Doc is what the documentation says about one setting.
type Doc struct {
	// Default is empty where there is none.
	Name, Default, Allowed, Meaning string
	// File is the variable that may name a file with the value instead; empty where there is none.
	File string
	// Aliases are other names that are read as well. Where there is a File, each may have the same ending.
	Aliases []string
}

// Docs lists what every setting means, in order.
func Docs() []Doc {
	var list []Doc
	for _, field := range fields() {
		tag := field.Tag
		list = append(list, Doc{tag.Get("envconfig"), tag.Get("default"), tag.Get("allowed"), tag.Get("desc"), fileVariable(field), aliases(field)})
	}
	return list
}
