package config_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

// anyAddress is how the faults of ZEEBE_ADDRESS end.
const anyAddress = "; allowed: host:port, or a URL that begins with grpc://, grpcs://, http:// or https://, without user and password"

func TestOneFaultOfTheAddress(t *testing.T) {
	t.Parallel()
	missing, empty := filepath.Join(t.TempDir(), "missing.pem"), file(t, "")
	const restAddress = "; allowed: a URL that begins with http:// or https://, without user and password"
	checkFaults(t, []faultCase{
		{"a gateway address with a password", []string{"ZEEBE_ADDRESS=https://me:pw@zeebe.example:443"}, `ZEEBE_ADDRESS is "***", which holds a user; give user and password by CAMUNDA_BASIC_AUTH_USERNAME and CAMUNDA_BASIC_AUTH_PASSWORD` + anyAddress},
		{"a gateway without a host", []string{"ZEEBE_ADDRESS=:26500"}, `ZEEBE_ADDRESS is ":26500"` + anyAddress},
		{"a gateway at port 0", []string{"ZEEBE_ADDRESS=zeebe:0"}, `ZEEBE_ADDRESS is "zeebe:0"` + anyAddress},
		{"neither yes nor no", []string{"ZEEBE_INSECURE_CONNECTION=yes"}, `ZEEBE_INSECURE_CONNECTION is "yes"; allowed: true or false`},
		{"a file that is not there", []string{"ZEEBE_CA_CERTIFICATE_PATH=" + missing}, `ZEEBE_CA_CERTIFICATE_PATH is "` + missing + `", which cannot be read: no such file or directory`},
		{"an empty file", []string{"ZEEBE_CA_CERTIFICATE_PATH=" + empty}, `ZEEBE_CA_CERTIFICATE_PATH is "` + empty + `", which cannot be read: it is empty`},
		{"an authority over plaintext", []string{"ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_CA_CERTIFICATE_PATH=" + missing}, `ZEEBE_CA_CERTIFICATE_PATH has no effect with ZEEBE_INSECURE_CONNECTION=true; remove one of the two`},
		{"a certificate without its key", []string{"ZEEBE_CLIENT_CERTIFICATE_PATH=" + file(t, "x")}, `ZEEBE_CLIENT_KEY_PATH is missing; ZEEBE_CLIENT_CERTIFICATE_PATH needs it`},

		{"an unknown scheme", []string{"ZEEBE_ADDRESS=dns://zeebe:26500"}, `ZEEBE_ADDRESS is "dns://zeebe:26500", which begins with a scheme that is none of grpc, grpcs, http and https` + anyAddress},
		{"a scheme without a host", []string{"ZEEBE_ADDRESS=grpc://"}, `ZEEBE_ADDRESS is "grpc://", which names not just one host` + anyAddress},
		{"a path for gRPC", []string{"ZEEBE_ADDRESS=grpcs://zeebe/cluster"}, `ZEEBE_ADDRESS is "grpcs://zeebe/cluster", which has a path, which gRPC cannot use; a REST address belongs into ZEEBE_REST_ADDRESS` + anyAddress},
		{"a gRPC address for REST", []string{"CAMUNDA_REST_ADDRESS=grpc://zeebe:26500"}, `CAMUNDA_REST_ADDRESS is "grpc://zeebe:26500", which is an address of gRPC; it belongs into ZEEBE_GRPC_ADDRESS` + restAddress},
		{"a REST address without a scheme", []string{"ZEEBE_REST_ADDRESS=zeebe:8080"}, `ZEEBE_REST_ADDRESS is "zeebe:8080", which has no scheme` + restAddress},
		{"two gRPC addresses", []string{"ZEEBE_ADDRESS=a:1", "ZEEBE_GRPC_ADDRESS=grpcs://b:1"}, `ZEEBE_GRPC_ADDRESS and ZEEBE_ADDRESS name different addresses, grpcs://b:1 and grpcs://a:1; remove one of the two`},
		{"the same gRPC address twice", []string{"ZEEBE_ADDRESS=a:443", "ZEEBE_GRPC_ADDRESS=https://A"}, ""},
		{"a setting twice, by two names", []string{"ZEEBE_REST_ADDRESS=http://a", "CAMUNDA_REST_ADDRESS=http://b"}, `ZEEBE_REST_ADDRESS and CAMUNDA_REST_ADDRESS have different values; remove one of the two`},
		{"plaintext for an address with TLS", []string{"ZEEBE_ADDRESS=grpcs://a", "CAMUNDA_INSECURE_CONNECTION=true"}, `ZEEBE_ADDRESS is an address for gRPC over TLS, but CAMUNDA_INSECURE_CONNECTION is true; remove one of the two`},
		{"TLS for an address without", []string{"ZEEBE_REST_ADDRESS=http://a", "ZEEBE_INSECURE_CONNECTION=false"}, `ZEEBE_REST_ADDRESS is an address for REST over plaintext, but ZEEBE_INSECURE_CONNECTION is false; remove one of the two`},
		{"a certificate for a plaintext address", []string{"ZEEBE_ADDRESS=grpc://a:26500", "CAMUNDA_MTLS_CA_PATH=" + missing}, `CAMUNDA_MTLS_CA_PATH has no effect with the plaintext address of ZEEBE_ADDRESS; remove one of the two`},

		{"no mode", []string{"CAMUNDA_CLIENT_MODE=simple"}, `CAMUNDA_CLIENT_MODE is "simple"; allowed: saas or self-managed`},
		{"SaaS at another host", cloud("CAMUNDA_CLIENT_MODE=saas", "ZEEBE_ADDRESS=zeebe.example:443"), `CAMUNDA_CLIENT_MODE is saas, but ZEEBE_ADDRESS names another cluster than 0a1b-2c3d.bru-2.zeebe.camunda.io; remove one of the two`},
		{"SaaS in plaintext", cloud("ZEEBE_INSECURE_CONNECTION=true"), `ZEEBE_INSECURE_CONNECTION is true, but Camunda's SaaS, which CAMUNDA_CLIENT_CLOUD_CLUSTERID stands for, takes TLS only; remove one of the two`},
		{"SaaS at its own REST address", cloud("CAMUNDA_CLIENT_MODE=saas", "ZEEBE_REST_ADDRESS=https://bru-2.zeebe.camunda.io/0a1b-2c3d"), ""},
		{"a region that is no part of a host's name", []string{"CAMUNDA_CLIENT_CLOUD_REGION=bru-2.example/"}, `CAMUNDA_CLIENT_CLOUD_REGION is "bru-2.example/"; allowed: letters, digits and hyphens, such as bru-2`},
	})
}

func TestSaaSNeedsClusterAndRegion(t *testing.T) {
	t.Parallel()
	check.Same(t, []string{
		"CAMUNDA_CLIENT_CLOUD_CLUSTERID is missing; CAMUNDA_CLIENT_MODE=saas needs it", "CAMUNDA_CLIENT_CLOUD_REGION is missing; CAMUNDA_CLIENT_MODE=saas needs it",
	}, faults(t, "CAMUNDA_CLIENT_MODE=saas"), "faults")
}

// oauth are the settings of OAuth, and more.
func oauth(more ...string) []string {
	return append([]string{
		"ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET=s3cret", "ZEEBE_TOKEN_AUDIENCE=zeebe-api",
		"ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token",
	}, more...)
}

// basic are the settings of Basic authentication, and more.
func basic(more ...string) []string {
	return append([]string{"CAMUNDA_BASIC_AUTH_USERNAME=demo", "CAMUNDA_BASIC_AUTH_PASSWORD=s3cret"}, more...)
}

// cloud are the settings of a SaaS cluster, and more.
func cloud(more ...string) []string {
	return append([]string{
		"CAMUNDA_CLIENT_CLOUD_CLUSTERID=0a1b-2c3d", "CAMUNDA_CLIENT_CLOUD_REGION=bru-2", "CAMUNDA_CLIENT_ID=worker", "CAMUNDA_CLIENT_SECRET=s3cret",
	}, more...)
}

func TestOneFaultOfTheAuthentication(t *testing.T) {
	t.Parallel()
	const noURL = "; allowed: an https URL without user and password (http only to a loopback host, or with RETRY_ALLOW_INSECURE_TOKEN=true)"
	const badUser = `CAMUNDA_BASIC_AUTH_USERNAME is "***"; allowed: 1 to 256 printable characters without a colon`
	checkFaults(t, []faultCase{
		{"a line break after a secret", oauth("ZEEBE_CLIENT_SECRET=s3cret\n"), `ZEEBE_CLIENT_SECRET has white space around its value; take it away`},
		{"OAuth in plaintext to this host", oauth("ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_ADDRESS=localhost:26500"), ""},
		{"OAuth in plaintext to another host", oauth("ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_ADDRESS=zeebe:26500"), `ZEEBE_INSECURE_CONNECTION is true, which would send the OAuth token in plaintext to zeebe; use TLS, or a gateway on this host, or accept it with RETRY_ALLOW_INSECURE_TOKEN=true`},
		{"the secret in plaintext to another host", oauth("ZEEBE_AUTHORIZATION_SERVER_URL=http://login.example/token"), `ZEEBE_AUTHORIZATION_SERVER_URL begins with http:// but names another host, which would send the client secret in plaintext; use https, or accept it with RETRY_ALLOW_INSECURE_TOKEN=true`},
		{"the secret in plaintext to this host", oauth("ZEEBE_AUTHORIZATION_SERVER_URL=http://127.0.0.1:18080/token"), ""},
		{"a password in the URL", oauth("ZEEBE_AUTHORIZATION_SERVER_URL=https://me:pw@login.example/"), `ZEEBE_AUTHORIZATION_SERVER_URL is https://***, which names not just one host without user and password` + noURL},
		{"no URL", oauth("ZEEBE_AUTHORIZATION_SERVER_URL=login.example/token"), `ZEEBE_AUTHORIZATION_SERVER_URL is "***"` + noURL},
		{"OAuth in plaintext to another host, accepted", oauth("ZEEBE_INSECURE_CONNECTION=true", "ZEEBE_ADDRESS=zeebe:26500", "RETRY_ALLOW_INSECURE_TOKEN=true"), ""},
		{"OAuth to a plaintext address", oauth("CAMUNDA_REST_ADDRESS=http://zeebe:8080"), `CAMUNDA_REST_ADDRESS is an address without TLS, which would send the OAuth token in plaintext to zeebe; use TLS, or a gateway on this host, or accept it with RETRY_ALLOW_INSECURE_TOKEN=true`},
		{"a scope in place of the audience", []string{"ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET=s3cret", "ZEEBE_TOKEN_SCOPE=api/.default", "CAMUNDA_OAUTH_URL=https://login.example/token"}, ""},
		{"OAuth by the names of Camunda's clients", []string{"CAMUNDA_AUTH_STRATEGY=OAUTH", "CAMUNDA_CLIENT_AUTH_CLIENTID=worker", "CAMUNDA_CLIENT_AUTH_CLIENTSECRET=s3cret", "CAMUNDA_TOKEN_AUDIENCE=a", "CAMUNDA_OAUTH_URL=https://login.example/token"}, ""},
		{"a fault by another name", []string{"CAMUNDA_CLIENT_ID= worker", "ZEEBE_CLIENT_SECRET=s3cret", "ZEEBE_TOKEN_AUDIENCE=a", "CAMUNDA_OAUTH_URL=https://login.example/token"}, `CAMUNDA_CLIENT_ID has white space around its value; take it away`},
		{"a secret by a name and the file of another", oauth("CAMUNDA_CLIENT_SECRET_FILE=" + file(t, "other")), `ZEEBE_CLIENT_SECRET and CAMUNDA_CLIENT_SECRET_FILE have different values; remove one of the two`},
		{"the same secret in both", oauth("CAMUNDA_CLIENT_SECRET_FILE=" + file(t, "s3cret")), ""},

		{"Basic by the names of Spring", []string{"CAMUNDA_CLIENT_AUTH_METHOD=basic", "CAMUNDA_CLIENT_AUTH_USERNAME=demo", "CAMUNDA_CLIENT_AUTH_PASSWORD=s3cret"}, ""},
		{"Basic without a password", []string{"CAMUNDA_BASIC_AUTH_USERNAME=demo"}, "CAMUNDA_BASIC_AUTH_PASSWORD is missing; BASIC needs a user name and a password"},
		{"a user that ends early", basic("CAMUNDA_BASIC_AUTH_USERNAME=demo:pw"), badUser},
		{"a user that breaks a header", basic("CAMUNDA_BASIC_AUTH_USERNAME=de\nmo"), badUser},
		{"Basic in plaintext to another host", basic("ZEEBE_ADDRESS=http://camunda:8080"), `ZEEBE_ADDRESS is an address without TLS, which would send the password in plaintext to camunda; use TLS, or a gateway on this host, or accept it with RETRY_ALLOW_INSECURE_TOKEN=true`},
		{"Basic and OAuth", basic("CAMUNDA_CLIENT_ID=worker"), `CAMUNDA_AUTH_STRATEGY is not set, but CAMUNDA_BASIC_AUTH_USERNAME is for BASIC and CAMUNDA_CLIENT_ID is for OIDC; remove one of the two`},
		{"Basic with a client id", basic("CAMUNDA_AUTH_STRATEGY=BASIC", "CAMUNDA_CLIENT_ID=worker"), `CAMUNDA_AUTH_STRATEGY is BASIC, but CAMUNDA_CLIENT_ID is set, which is for OIDC; remove one of the two`},
		{"nothing with a password", basic("CAMUNDA_AUTH_STRATEGY=NONE"), `CAMUNDA_AUTH_STRATEGY is NONE, but CAMUNDA_BASIC_AUTH_USERNAME is set, which is for BASIC; remove one of the two`},
		{"an unknown strategy", []string{"CAMUNDA_AUTH_STRATEGY=BEARER"}, `CAMUNDA_AUTH_STRATEGY is "BEARER"; allowed: NONE, BASIC or OIDC (OAUTH and OAUTH2 mean OIDC)`},
		{"SaaS with Basic", []string{"CAMUNDA_CLUSTER_ID=0a1b", "CAMUNDA_CLUSTER_REGION=bru-2", "CAMUNDA_BASIC_AUTH_USERNAME=demo", "CAMUNDA_BASIC_AUTH_PASSWORD=x"}, `CAMUNDA_AUTH_STRATEGY is not set, but CAMUNDA_BASIC_AUTH_USERNAME is for BASIC, and Camunda's SaaS, which CAMUNDA_CLUSTER_ID stands for, takes OIDC only`},
		{"SaaS with nothing", []string{"CAMUNDA_CLIENT_MODE=saas", "CAMUNDA_CLUSTER_ID=0a1b", "CAMUNDA_CLUSTER_REGION=bru-2", "CAMUNDA_AUTH_STRATEGY=NONE"}, `CAMUNDA_AUTH_STRATEGY is NONE, but Camunda's SaaS, which CAMUNDA_CLIENT_MODE stands for, takes OIDC only`},
	})
}

func TestAScopeAloneAsksForTheRestOfOAuth(t *testing.T) {
	t.Parallel()
	got := faults(t, "ZEEBE_TOKEN_SCOPE=jobs")
	check.Same(t, 3, len(got), "faults")
}

func TestTheAddressPicksTheTransport(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		variables []string
		want      config.Address
		variable  string
		transport string
	}{
		{nil, config.Address{"grpcs", "127.0.0.1:26500", ""}, "ZEEBE_ADDRESS", "gRPC over TLS"},
		{[]string{"ZEEBE_ADDRESS=zeebe:443"}, config.Address{"grpcs", "zeebe:443", ""}, "ZEEBE_ADDRESS", "gRPC over TLS"},
		{[]string{"ZEEBE_ADDRESS=zeebe:26500", "ZEEBE_INSECURE_CONNECTION=true"}, config.Address{"grpc", "zeebe:26500", ""}, "ZEEBE_ADDRESS", "gRPC over plaintext"},
		{[]string{"ZEEBE_ADDRESS=grpc://zeebe"}, config.Address{"grpc", "zeebe:26500", ""}, "ZEEBE_ADDRESS", "gRPC over plaintext"},
		{[]string{"ZEEBE_ADDRESS=http://camunda:8080"}, config.Address{"http", "camunda:8080", ""}, "ZEEBE_ADDRESS", "REST over plaintext"},
		{[]string{"ZEEBE_ADDRESS=https://camunda.example/orchestration/v2/"}, config.Address{"https", "camunda.example:443", "/orchestration"}, "ZEEBE_ADDRESS", "REST over TLS"},
		{[]string{"ZEEBE_GRPC_ADDRESS=http://zeebe:26500"}, config.Address{"grpc", "zeebe:26500", ""}, "ZEEBE_GRPC_ADDRESS", "gRPC over plaintext"},
		{[]string{"CAMUNDA_CLIENT_GRPCADDRESS=zeebe:26500", "CAMUNDA_INSECURE_CONNECTION=true"}, config.Address{"grpc", "zeebe:26500", ""}, "CAMUNDA_CLIENT_GRPCADDRESS", "gRPC over plaintext"},
		{[]string{"ZEEBE_REST_ADDRESS=https://bru-2.zeebe.camunda.io/0a1b"}, config.Address{"https", "bru-2.zeebe.camunda.io:443", "/0a1b"}, "ZEEBE_REST_ADDRESS", "REST over TLS"},
		{cloud(), config.Address{"grpcs", "0a1b-2c3d.bru-2.zeebe.camunda.io:443", ""}, "CAMUNDA_CLIENT_CLOUD_CLUSTERID", "gRPC over TLS"},
	} {
		cfg := load(t, test.variables...)
		check.Same(t, test.want, cfg.Address(), "address by %q", test.variables)
		check.Same(t, test.variable, cfg.AddressVariable(), "variable by %q", test.variables)
		check.Same(t, test.transport, cfg.Address().Transport(), "transport by %q", test.variables)
		check.Same(t, "", cfg.UnusedAddressVariable(), "unused by %q", test.variables)
		check.Same(t, 0, len(cfg.Warnings()), "warnings by %q", test.variables)
	}
}

func TestOfGRPCAndRESTOneIsUsedAndTheOtherNamed(t *testing.T) {
	t.Parallel()
	for _, variables := range [][]string{
		{"CAMUNDA_REST_ADDRESS=http://camunda:8080", "CAMUNDA_GRPC_ADDRESS=http://camunda:26500"},
		{"CAMUNDA_REST_ADDRESS=http://camunda:8080", "ZEEBE_ADDRESS=grpc://camunda:26500"},
		{"ZEEBE_ADDRESS=http://camunda:8080", "ZEEBE_GRPC_ADDRESS=grpc://camunda:26500"},
	} {
		cfg := load(t, variables...)
		check.Same(t, config.Address{"grpc", "camunda:26500", ""}, cfg.Address(), "address by %q", variables)
		unused, _, _ := strings.Cut(variables[0], "=")
		used, _, _ := strings.Cut(variables[1], "=")
		check.Same(t, unused, cfg.UnusedAddressVariable(), "unused")
		check.Same(t, []string{used + " and " + unused + " are set: gRPC is used, at grpc://camunda:26500; remove " + used + " to use REST"}, cfg.Warnings(), "warnings")
	}
	cfg := load(t, "ZEEBE_ADDRESS=grpc://camunda:26500", "CAMUNDA_GRPC_ADDRESS=http://camunda:26500", "CAMUNDA_REST_ADDRESS=http://camunda:8080")
	check.Same(t, []string{"ZEEBE_ADDRESS and CAMUNDA_GRPC_ADDRESS and CAMUNDA_REST_ADDRESS are set: gRPC is used, at grpc://camunda:26500; " +
		"remove ZEEBE_ADDRESS and CAMUNDA_GRPC_ADDRESS to use REST"}, cfg.Warnings(), "warnings")
}

func TestThePortOfTheOtherAPIGetsAWarning(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"ZEEBE_ADDRESS=camunda:8080":                 "ZEEBE_ADDRESS names port 8080 for gRPC",
		"CAMUNDA_GRPC_ADDRESS=http://camunda:8080":   "CAMUNDA_GRPC_ADDRESS names port 8080 for gRPC",
		"ZEEBE_ADDRESS=http://camunda:26500":         "ZEEBE_ADDRESS names port 26500 for REST",
		"CAMUNDA_REST_ADDRESS=https://camunda:26500": "CAMUNDA_REST_ADDRESS names port 26500 for REST",
	} {
		got := load(t, variable)
		check.Same(t, 1, len(got.Warnings()), "warnings of %s", variable)
		check.Contains(t, strings.Join(got.Warnings(), ""), want)
	}
}

func TestSecretsInPlaintextGetAWarningEach(t *testing.T) {
	t.Parallel()
	cfg := load(t, oauth("ZEEBE_ADDRESS=grpc://zeebe:26500", "ZEEBE_AUTHORIZATION_SERVER_URL=http://keycloak:18080/token", "RETRY_ALLOW_INSECURE_TOKEN=true")...)
	check.Same(t, []string{
		"RETRY_ALLOW_INSECURE_TOKEN is true: the client secret is sent to http://keycloak:18080 in plaintext, and every host on the way can read it",
		"RETRY_ALLOW_INSECURE_TOKEN is true: the OAuth token is sent to grpc://zeebe:26500 in plaintext, and every host on the way can read it",
	}, cfg.Warnings(), "warnings")
	cfg = load(t, basic("ZEEBE_ADDRESS=http://camunda:8080", "RETRY_ALLOW_INSECURE_TOKEN=true")...)
	check.Same(t, []string{
		"RETRY_ALLOW_INSECURE_TOKEN is true: the password is sent to http://camunda:8080 in plaintext, and every host on the way can read it",
	}, cfg.Warnings(), "warnings")
	for _, harmless := range [][]string{oauth("ZEEBE_ADDRESS=grpc://localhost:26500"), basic(), {"ZEEBE_ADDRESS=grpc://zeebe:26500"}} {
		cfg := load(t, append(harmless, "RETRY_ALLOW_INSECURE_TOKEN=true")...)
		check.Same(t, 0, len(cfg.Warnings()), "warnings of %q", harmless)
	}
}

func TestTheStrategyFollowsTheCredentials(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		variables []string
		want      config.AuthStrategy
	}{
		{nil, config.AuthNone},
		{basic(), config.AuthBasic},
		{oauth(), config.AuthOIDC},
		{oauth("CAMUNDA_AUTH_STRATEGY=OAuth2"), config.AuthOIDC},
		{cloud(), config.AuthOIDC},
	} {
		cfg := load(t, test.variables...)
		check.Same(t, test.want, cfg.AuthStrategy(), "strategy by %q", test.variables)
	}
}

func TestSettingsNameTheVariableTheyCameFrom(t *testing.T) {
	t.Parallel()
	cfg := load(t, cloud("ZEEBE_INSECURE_CONNECTION=false")...)
	got := map[string]config.Setting{}
	for _, s := range cfg.Settings() {
		if s.Source != config.FromDefault {
			got[s.Name] = s
		}
	}
	const id = "CAMUNDA_CLIENT_CLOUD_CLUSTERID"
	want := map[string]config.Setting{}
	for _, s := range []config.Setting{
		{"ZEEBE_ADDRESS", "grpcs://0a1b-2c3d.bru-2.zeebe.camunda.io:443", config.FromDerived, id},
		{"ZEEBE_INSECURE_CONNECTION", "false", config.FromEnvironment, ""},
		{"ZEEBE_CLIENT_ID", "worker", config.FromEnvironment, "CAMUNDA_CLIENT_ID"},
		{"ZEEBE_CLIENT_SECRET", "***", config.FromEnvironment, "CAMUNDA_CLIENT_SECRET"},
		{"ZEEBE_AUTHORIZATION_SERVER_URL", "https://login.cloud.camunda.io/oauth/token", config.FromDerived, id},
		{"ZEEBE_TOKEN_AUDIENCE", "zeebe.camunda.io", config.FromDerived, id},
		{id, "0a1b-2c3d", config.FromEnvironment, ""},
		{"CAMUNDA_CLIENT_CLOUD_REGION", "bru-2", config.FromEnvironment, ""},
	} {
		want[s.Name] = s
	}
	check.Same(t, want, got, "settings")
	cfg = load(t, "CAMUNDA_BASIC_AUTH_USERNAME=demo", "CAMUNDA_CLIENT_AUTH_PASSWORD_FILE="+file(t, "s3cret"), "CAMUNDA_REST_ADDRESS=https://camunda.example")
	for _, s := range cfg.Settings() {
		switch s.Name {
		case "CAMUNDA_BASIC_AUTH_PASSWORD":
			check.Same(t, config.Setting{s.Name, "***", config.FromFile, "CAMUNDA_CLIENT_AUTH_PASSWORD_FILE"}, s, "password")
		case "ZEEBE_ADDRESS": // its default does not hold
			check.Same(t, config.Setting{s.Name, "", config.FromDefault, ""}, s, "address")
		}
	}
}

func TestTheTenantIsReadByAnyOfItsNames(t *testing.T) {
	t.Parallel()
	check.Same(t, "<default>", load(t).Tenant, "tenant without a setting")
	for _, name := range []string{
		"RETRY_TENANT", "CAMUNDA_TENANT_ID", "CAMUNDA_DEFAULT_TENANT_ID", "CAMUNDA_CLIENT_TENANT_ID", "CAMUNDA_CLIENT_TENANTID", "ZEEBE_DEFAULT_TENANT_ID",
	} {
		check.Same(t, "south.1", load(t, name+"=south.1").Tenant, "tenant by %s", name)
	}
}

func TestTextsThatAreNoTenant(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a b", "north,south", "<other>", "ação", strings.Repeat("x", 32)} {
		check.Same(t, []string{fmt.Sprintf("RETRY_TENANT is %q; allowed: <default>, or 1 to 31 letters, digits, _, . and -", text)}, faults(t, "RETRY_TENANT="+text), "faults")
	}
}
