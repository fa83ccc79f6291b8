package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// checkOtherClients refuses an environment in which Zeebe's own clients would reach another gateway than this worker, or the
// same one with more security: whoever set it up meant one of the two.
func (c *Config) checkOtherClients(f *faults) {
	text := os.Getenv("ZEEBE_INSECURE_CONNECTION")
	if text != "" && text != "true" && text != "false" {
		// The Go client takes 1 and TRUE for false, the Java client takes 1 for false.
		f.add("ZEEBE_INSECURE_CONNECTION", "is %q, which Zeebe's clients read in different ways; allowed: true or false", text)
	}
	for _, other := range []struct{ name, secure string }{
		{"CAMUNDA_SECURE_CONNECTION", "true"}, {"ZEEBE_SECURE_CONNECTION", "true"}, {"ZEEBE_CLIENT_SECURITY_PLAINTEXT", "false"},
	} {
		if c.ZeebeInsecure && strings.EqualFold(os.Getenv(other.name), other.secure) {
			f.addOf("ZEEBE_INSECURE_CONNECTION", other.name, "asks for TLS and ZEEBE_INSECURE_CONNECTION for plaintext; remove one of the two")
		}
	}
	host, port, ok := splitAddress(c.ZeebeAddress)
	if !ok || c.sources["ZEEBE_ADDRESS"] == "" {
		return
	}
	if other := os.Getenv("ZEEBE_HOST"); other != "" && !strings.EqualFold(other, host) {
		f.add("ZEEBE_HOST", "and ZEEBE_ADDRESS name different hosts; remove ZEEBE_HOST, which this worker does not read")
	}
	if other := os.Getenv("ZEEBE_PORT"); other != "" && other != strconv.Itoa(port) && !serviceLink(other) {
		f.add("ZEEBE_PORT", "and ZEEBE_ADDRESS name different ports; remove ZEEBE_PORT, which this worker does not read")
	}
}

// serviceLink reports whether Kubernetes set ..._PORT, for a service of the namespace.
func serviceLink(port string) bool {
	return strings.HasPrefix(port, "tcp://") || strings.HasPrefix(port, "udp://")
}

// otherClients are variables by which other clients of Zeebe are set up (Go, Java, Spring, Node), and what this worker reads
// instead, or why it reads nothing. Spring takes them with a - or _ in a name, or without.
var otherClients = []struct{ names, here string }{
	{
		"CAMUNDA_CLIENT_GRPC_ADDRESS CAMUNDA_CLIENT_ZEEBE_GRPC_ADDRESS CAMUNDA_CLIENT_ZEEBE_GATEWAY_URL " +
			"ZEEBE_CLIENT_BROKER_CONTACT_POINT ZEEBE_CLIENT_BROKER_GATEWAY_ADDRESS ZEEBE_CLIENT_BROKER_GRPC_ADDRESS " +
			"ZEEBE_GATEWAY_ADDRESS ZEEBE_GRPC_ADDRESS",
		"this worker reads ZEEBE_ADDRESS, host:port without a scheme",
	},
	{
		"CAMUNDA_SECURE_CONNECTION ZEEBE_CLIENT_SECURITY_PLAINTEXT ZEEBE_SECURE_CONNECTION",
		"this worker reads ZEEBE_INSECURE_CONNECTION, true for plaintext",
	},
	{
		"CAMUNDA_CLIENT_CA_CERTIFICATE_PATH CAMUNDA_CLIENT_ZEEBE_CA_CERTIFICATE_PATH CAMUNDA_CUSTOM_ROOT_CERT_PATH ZEEBE_CLIENT_SECURITY_CERT_PATH",
		"this worker reads ZEEBE_CA_CERTIFICATE_PATH",
	},
	{
		"CAMUNDA_CLIENT_OVERRIDE_AUTHORITY CAMUNDA_CLIENT_ZEEBE_OVERRIDE_AUTHORITY ZEEBE_CLIENT_SECURITY_OVERRIDE_AUTHORITY",
		"this worker reads ZEEBE_OVERRIDE_AUTHORITY",
	},
	{"CAMUNDA_CUSTOM_CERT_CHAIN_PATH", "this worker reads ZEEBE_CLIENT_CERTIFICATE_PATH"},
	{"CAMUNDA_CUSTOM_PRIVATE_KEY_PATH", "this worker reads ZEEBE_CLIENT_KEY_PATH"},
	{"CAMUNDA_CLIENT_AUTH_CLIENT_ID CAMUNDA_CLIENT_ID ZEEBE_CLIENT_CLOUD_CLIENT_ID", "this worker reads ZEEBE_CLIENT_ID"},
	{
		"CAMUNDA_CLIENT_AUTH_CLIENT_SECRET CAMUNDA_CLIENT_SECRET ZEEBE_CLIENT_CLOUD_CLIENT_SECRET",
		"this worker reads ZEEBE_CLIENT_SECRET or ZEEBE_CLIENT_SECRET_FILE",
	},
	{
		"CAMUNDA_CLIENT_AUTH_ISSUER CAMUNDA_CLIENT_AUTH_TOKEN_URL CAMUNDA_OAUTH_URL ZEEBE_CLIENT_CLOUD_AUTH_URL",
		"this worker reads ZEEBE_AUTHORIZATION_SERVER_URL, the whole URL of the token endpoint",
	},
	{
		"CAMUNDA_CLIENT_AUTH_AUDIENCE CAMUNDA_CLIENT_ZEEBE_AUDIENCE CAMUNDA_TOKEN_AUDIENCE CAMUNDA_ZEEBE_OAUTH_AUDIENCE",
		"this worker reads ZEEBE_TOKEN_AUDIENCE",
	},
	{
		"CAMUNDA_CLIENT_AUTH_SCOPE CAMUNDA_CLIENT_ZEEBE_SCOPE CAMUNDA_TOKEN_SCOPE ZEEBE_CLIENT_CLOUD_SCOPE",
		"this worker reads ZEEBE_TOKEN_SCOPE",
	},
	{"CAMUNDA_OAUTH_DISABLED", "without ZEEBE_CLIENT_ID this worker uses no OAuth"},
	{
		"CAMUNDA_CLIENT_REST_ADDRESS CAMUNDA_CLIENT_ZEEBE_REST_ADDRESS ZEEBE_CLIENT_BROKER_REST_ADDRESS ZEEBE_PREFER_REST ZEEBE_REST_ADDRESS",
		"this worker speaks gRPC only",
	},
	{
		"CAMUNDA_CLIENT_TENANT_ID CAMUNDA_TENANT_ID ZEEBE_CLIENT_DEFAULT_TENANT_ID ZEEBE_DEFAULT_JOB_WORKER_TENANT_IDS " +
			"ZEEBE_DEFAULT_TENANT_ID ZEEBE_TENANT_ID ZEEBE_TENANT_IDS",
		"this worker takes the jobs of the default tenant",
	},
	{"CAMUNDA_CLIENT_KEEP_ALIVE GRPC_KEEPALIVE_TIME_MS ZEEBE_CLIENT_BROKER_KEEP_ALIVE ZEEBE_KEEP_ALIVE", "this worker's is fixed at 35s"},
	{
		"CAMUNDA_TOKEN_CACHE_DIR CAMUNDA_TOKEN_DISK_CACHE_DISABLE ZEEBE_CLIENT_CLOUD_CREDENTIALS_CACHE_PATH ZEEBE_CLIENT_CONFIG_PATH",
		"this worker keeps its token in memory only",
	},
	{"ZEEBE_AUTH_CONNECT_TIMEOUT ZEEBE_AUTH_READ_TIMEOUT ZEEBE_AUTH_REQUEST_TIMEOUT", "this worker's is fixed at 5s"},
	{
		"ZEEBE_SSL_CLIENT_KEYSTORE_KEY_SECRET ZEEBE_SSL_CLIENT_KEYSTORE_PATH ZEEBE_SSL_CLIENT_KEYSTORE_SECRET " +
			"ZEEBE_SSL_CLIENT_TRUSTSTORE_PATH ZEEBE_SSL_CLIENT_TRUSTSTORE_SECRET",
		"this worker reads PEM files, and for the gateway only: ZEEBE_CA_CERTIFICATE_PATH, ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH",
	},
}

// warnings are, in alphabetical order, the variables by which somebody may have wanted to set this worker up, but which only
// other clients read.
func warnings() []string {
	own, here := names(), map[string]string{}
	for _, one := range otherClients {
		for name := range strings.FieldsSeq(one.names) {
			here[plainName(name)] = one.here
		}
	}
	var texts []string
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || slices.Contains(own, name) {
			continue
		}
		if text, is := here[plainName(name)]; is {
			texts = append(texts, name+" is not read: "+text)
		} else if strings.HasPrefix(name, "CAMUNDA_CLIENT_") || strings.HasPrefix(name, "ZEEBE_CLIENT_") {
			texts = append(texts, name+" is not read: it is a setting of other clients")
		} else if name == "ZEEBE_PORT" && serviceLink(value) {
			texts = append(texts, name+" is not read: Kubernetes set it for a service called zeebe; set enableServiceLinks: false on the pod")
		}
	}
	slices.Sort(texts)
	return texts
}

// plainName is a name as Spring compares it.
func plainName(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
}

// dropPostgresNames takes the variables of PostgreSQL's own clients (PGHOST, PGPASSWORD, PGSERVICE, ...) out of the process's
// environment, and returns a warning for each. The driver would take from them what RETRY_DATABASE_URL leaves out: another
// host, another database, a weaker sslmode, files with passwords.
func dropPostgresNames() (texts []string, err error) {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if !postgresName.MatchString(name) {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return nil, fmt.Errorf("unset %s: %w", name, err)
		}
		if value != "" {
			texts = append(texts, name+" is not read: this worker reads RETRY_DATABASE_URL, and what belongs to the connection stands in it")
		}
	}
	slices.Sort(texts)
	return texts, nil
}

// postgresName matches all names that PostgreSQL's clients read.
var postgresName = regexp.MustCompile(`^PG[A-Z_]+$`)
