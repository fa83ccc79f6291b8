package config

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/spelling"
)

// names returns those of all variables that are read.
func names() []string {
	var all []string
	for _, field := range fields() {
		for _, name := range append([]string{field.Tag.Get("envconfig")}, aliases(field)...) {
			all = append(all, name)
			if fileVariable(field) != "" {
				all = append(all, name+fileSuffix)
			}
		}
	}
	return all
}

// others returns a text for each variable that is set and that is no setting, in alphabetical order. what returns the text
// without the name, empty for none.
func (e Environment) others(what func(name, value string) string) (texts []string) {
	known := names()
	for name, value := range e {
		if value == "" || slices.Contains(known, name) {
			continue
		}
		if text := what(name, value); text != "" {
			texts = append(texts, name+text)
		}
	}
	slices.Sort(texts)
	return texts
}

// unknownNames returns a fault for each variable that somebody set in the belief that it is a setting: every unknown RETRY_
// name, because a misspelt one would leave its default in place without a word, and ZEEBE_HOST and ZEEBE_PORT where
// no address is set.
func (c *Config) unknownNames(e Environment) []string {
	return e.others(func(name, value string) string {
		switch {
		case strings.HasPrefix(name, "RETRY_"):
			return " is not a setting" + remedy(name)
		case (name == "ZEEBE_HOST" || name == "ZEEBE_PORT") && !isServiceLink(value) && !c.isSet(anyAddress) && !c.isSet(grpcAddress) && !c.isSet(restAddress):
			return " is not read by this worker; set ZEEBE_ADDRESS to host:port"
		}
		return ""
	})
}

// remedy returns what to do about an unknown name, empty where nothing is known.
func remedy(name string) string {
	known := names()
	if serviceLinkName.MatchString(name) {
		return "; if Kubernetes set it for a service called retry..., set enableServiceLinks: false on the pod"
	}
	closest := spelling.Nearest(name, known)
	if own := strings.TrimPrefix(name, "RETRY_"); slices.Contains(known, own) {
		closest = own
	}
	if closest == "" {
		return ""
	}
	return "; did you mean " + closest + "?"
}

// serviceLinkName matches the variables that Kubernetes sets for a service of the namespace.
var serviceLinkName = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT|_PORT$|_PORT_`)

// isServiceLink reports whether Kubernetes set a variable that ends in _PORT.
func isServiceLink(value string) bool {
	return strings.HasPrefix(value, "tcp://") || strings.HasPrefix(value, "udp://")
}

// checkOtherClients refuses an environment in which Zeebe's own clients would reach another gateway than this worker, or the
// same one with more security: one of the two is a mistake.
func (c *Config) checkOtherClients(l layers, f *faults) {
	const insecure = "ZEEBE_INSECURE_CONNECTION"
	if text := l.get(c.variable(insecure)); text != "" && text != "true" && text != "false" {
		// The Go client takes 1 and TRUE for false, the Java client takes 1 for false.
		f.add(insecure, "is %q, which Zeebe's clients read in different ways; allowed: true or false", text)
	}
	for _, other := range []struct{ name, secure string }{
		{"CAMUNDA_SECURE_CONNECTION", "true"}, {"ZEEBE_SECURE_CONNECTION", "true"}, {"ZEEBE_CLIENT_SECURITY_PLAINTEXT", "false"},
	} {
		if by := c.plaintextBy(); by != "" && strings.EqualFold(l.get(other.name), other.secure) {
			f.addOf(insecure, other.name, "asks for TLS and %s for plaintext; remove one of the two", by)
		}
	}
	address, name := c.chosen()
	host, port, ok := splitAddress(address.HostPort)
	if !ok || !c.isSet(name) {
		return
	}
	variable := c.variable(name)
	if other := l.get("ZEEBE_HOST"); other != "" && !strings.EqualFold(other, host) {
		f.add("ZEEBE_HOST", "and %s name different hosts; remove ZEEBE_HOST, which this worker does not read", variable)
	}
	if other := l.get("ZEEBE_PORT"); other != "" && other != strconv.Itoa(port) && !isServiceLink(other) {
		f.add("ZEEBE_PORT", "and %s name different ports; remove ZEEBE_PORT, which this worker does not read", variable)
	}
}

// otherClientsName matches the variables of Zeebe's and Camunda's other clients (Java, Spring, Node and others), without their
// separators.
var otherClientsName = regexp.MustCompile(`^(CAMUNDA(AUTH(CONNECT|READ)|CLIENT|CUSTOM|DEFAULT|FORCEREST|ISSUER|KEEPALIVE|LOADENVFILE|MAX|MTLS|OAUTH|PREFERREST|SDK|SECURECONNECTION|` +
	`SSL|TENANTID|TOKEN|WELLKNOWN|WORKER|ZEEBEOAUTH)|GRPCKEEPALIVE|` +
	`ZEEBE(AUTH(CONNECT|READ|REQUEST)|CLIENT|DEFAULT|GATEWAYADDRESS|KEEPALIVE|PREFERREST|SECURE|SSL|TENANT))`)

// insteadOf is what this worker reads instead of a variable of another client, by a part of its name. The first match counts.
var insteadOf = []struct {
	part *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`PREFERREST|FORCEREST`), "this worker uses gRPC if a gRPC address is set, and REST if only ZEEBE_REST_ADDRESS is"},
	{regexp.MustCompile(`TENANT`), "this worker reads RETRY_TENANT, one tenant's id"},
	{regexp.MustCompile(`AUTHORITY`), "this worker reads ZEEBE_OVERRIDE_AUTHORITY"},
	{regexp.MustCompile(`CERT|PRIVATEKEY|SSL|MTLS`), "this worker reads PEM files: ZEEBE_CA_CERTIFICATE_PATH, ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH"},
	{regexp.MustCompile(`AUDIENCE`), "this worker reads ZEEBE_TOKEN_AUDIENCE"},
	{regexp.MustCompile(`SCOPE`), "this worker reads ZEEBE_TOKEN_SCOPE"},
	{regexp.MustCompile(`CLIENTID`), "this worker reads ZEEBE_CLIENT_ID"},
	{regexp.MustCompile(`CLIENTSECRET`), "this worker reads ZEEBE_CLIENT_SECRET or ZEEBE_CLIENT_SECRET_FILE"},
	{regexp.MustCompile(`ISSUER|WELLKNOWN|AUTHURL|TOKENURL`), "this worker reads ZEEBE_AUTHORIZATION_SERVER_URL, the whole URL of the token endpoint"},
	{regexp.MustCompile(`SECURECONNECTION|PLAINTEXT`), "this worker reads ZEEBE_INSECURE_CONNECTION, true for plaintext"},
	{regexp.MustCompile(`RESTADDRESS`), "this worker reads ZEEBE_REST_ADDRESS, a URL"},
	{regexp.MustCompile(`ADDRESS|CONTACTPOINT|GATEWAYURL`), "this worker reads ZEEBE_ADDRESS, host:port or a URL"},
	{regexp.MustCompile(`CLUSTERID`), "this worker reads CAMUNDA_CLIENT_CLOUD_CLUSTERID"},
	{regexp.MustCompile(`REGION`), "this worker reads CAMUNDA_CLIENT_CLOUD_REGION"},
	{regexp.MustCompile(`WORKERNAME$`), "this worker reads RETRY_WORKER_NAME"},
	{regexp.MustCompile(`WORKERTIMEOUT$`), "this worker reads RETRY_JOB_TIMEOUT"},
	{regexp.MustCompile(`MAXCONCURRENTJOBS|MAXJOBSACTIVE`), "this worker reads RETRY_MAX_JOBS_ACTIVE"},
}

func instead(plainName string) string {
	for _, one := range insteadOf {
		if one.part.MatchString(plainName) {
			return one.text
		}
	}
	return "it is a setting of other clients"
}

// postgresName matches the variables of PostgreSQL's own clients: PGHOST, PGPASSWORD, PGSERVICE and others.
var postgresName = regexp.MustCompile(`^PG[A-Z_]+$`)

// unreadNames returns a warning for each variable whose name is one slip away from a setting's, that only other clients of Zeebe
// read and, where the store is PostgreSQL, of PostgreSQL.
func unreadNames(e Environment, postgres bool) []string {
	known := names()
	return e.others(func(name, value string) string {
		if i := slices.IndexFunc(known, func(other string) bool { return spelling.OneSlip(name, other) }); i >= 0 {
			return " is not read; did you mean " + known[i] + "?"
		}
		plain := strings.ToUpper(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name)) // as Spring compares names
		switch {
		case otherClientsName.MatchString(plain):
			return " is not read: " + instead(plain)
		case name == "ZEEBE_PORT" && isServiceLink(value):
			return " is not read: Kubernetes set it for a service called zeebe; set enableServiceLinks: false on the pod"
		case postgres && postgresName.MatchString(name):
			return " is not read: this worker reads RETRY_DATABASE_URL, and what belongs to the connection stands in it"
		}
		return ""
	})
}

// UnsetPostgresNames takes the variables of PostgreSQL's own clients out of this process's environment. Its driver, which
// reads them by itself, would take from them what RETRY_DATABASE_URL leaves out: another host, another database, a weaker
// sslmode, files with passwords.
func UnsetPostgresNames() error {
	var errs []error
	for name := range Process() {
		if postgresName.MatchString(name) {
			errs = append(errs, os.Unsetenv(name))
		}
	}
	return errors.Join(errs...)
}
