package config_test

import (
	"fmt"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestTheAddressPicksTheTransport(t *testing.T) {
	for _, test := range []struct{ settings, want, transport string }{
		{"ZEEBE_ADDRESS=zeebe:443", "grpcs://zeebe:443", "gRPC over TLS"},
		{"ZEEBE_ADDRESS=zeebe:26500 ZEEBE_INSECURE_CONNECTION=true", "grpc://zeebe:26500", "gRPC over plaintext"},
		{"ZEEBE_ADDRESS=grpc://zeebe", "grpc://zeebe:26500", "gRPC over plaintext"},
		{"ZEEBE_ADDRESS=grpcs://[::1]", "grpcs://[::1]:443", "gRPC over TLS"},
		{"ZEEBE_ADDRESS=http://camunda:8080", "http://camunda:8080", "REST over plaintext"},
		{"ZEEBE_ADDRESS=https://camunda.example/orchestration/v2/", "https://camunda.example:443/orchestration", "REST over TLS"},
	} {
		cfg := load(t, strings.Fields(test.settings)...)
		check.Same(t, []string{test.want, test.transport}, []string{cfg.Address().String(), cfg.Address().Transport()}, "address by %s", test.settings)
		check.Same(t, 0, len(cfg.Warnings), "warnings by %s", test.settings)
	}
}

func TestAnAddressThatIsNone(t *testing.T) {
	for _, address := range []string{":26500", "zeebe:x", "zeebe:65536", "dns://zeebe:26500", "grpcs://zeebe/cluster", "https://", "a:26500,b:26500", "a,b"} {
		want := fmt.Sprintf("ZEEBE_ADDRESS: %q is not allowed -> allowed: %s", address, addresses)
		check.Same(t, want, strings.Join(faults(t, "ZEEBE_ADDRESS="+address), "\n"), "faults of %s", address)
	}
	for _, address := range []string{"https://me:pw@zeebe.example:443", "https://zeebe.example?key=pw@x"} {
		want := `ZEEBE_ADDRESS: "***" is not allowed -> allowed: ` + addresses
		check.Same(t, want, strings.Join(faults(t, "ZEEBE_ADDRESS="+address), "\n"), "faults of %s", address)
	}
}

func oauth(more ...string) []string {
	return append([]string{
		"ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET=s3cret", "ZEEBE_TOKEN_AUDIENCE=zeebe-api", "ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token",
	}, more...)
}

func TestTheCredentialsPickTheStrategy(t *testing.T) {
	basic := []string{"CAMUNDA_BASIC_AUTH_USERNAME=demo", "CAMUNDA_BASIC_AUTH_PASSWORD=demo"}
	for want, settings := range map[config.AuthStrategy][]string{config.AuthNone: nil, config.AuthBasic: basic, config.AuthOIDC: oauth()} {
		cfg := load(t, settings...)
		check.Same(t, want, cfg.AuthStrategy(), "strategy by %q", settings)
	}
	const oidc = ": is missing: OIDC needs ZEEBE_CLIENT_ID, ZEEBE_CLIENT_SECRET, ZEEBE_AUTHORIZATION_SERVER_URL"
	for want, settings := range map[string][]string{
		"CAMUNDA_BASIC_AUTH_PASSWORD: is missing: BASIC needs CAMUNDA_BASIC_AUTH_USERNAME, CAMUNDA_BASIC_AUTH_PASSWORD": basic[:1],
		"CAMUNDA_BASIC_AUTH_USERNAME: holds a colon": {"CAMUNDA_BASIC_AUTH_USERNAME=de:mo", basic[1]},
		"ZEEBE_CLIENT_ID" + oidc:                     oauth("ZEEBE_CLIENT_ID="),
	} {
		check.Same(t, want, strings.Join(faults(t, settings...), "\n"), "faults of %q", settings)
	}
	for _, half := range []string{"ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET=s3cret", "ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token"} {
		check.Same(t, 2, len(faults(t, half)), "faults of %s alone, which is not taken for no authentication", half)
	}
}

func TestTheAuthorizationServerIsAURL(t *testing.T) {
	const name = "ZEEBE_AUTHORIZATION_SERVER_URL"
	for _, u := range []string{
		"login.example/token", "ftp://login.example/token", "http://me:1234/pw@login.example/", "https://login.example:pw/token",
		"httpx://h/t", "https:///t", "https://:443/t", "https://u:pw@h/t", "https://u@h/t", "https://a,b/t",
	} {
		check.Same(t, []string{name + `: "***" is not allowed -> allowed: https://host/path`}, faults(t, oauth(name+"="+u)...), "faults of %s", u)
	}
	load(t, oauth(name+"=https://login.example:8443/auth/realms/a-b/protocol/openid-connect/token?p=1")...)
}

func TestSecretsGoInPlaintextToThisHostOnlyUnlessThatIsAccepted(t *testing.T) {
	const allow = "RETRY_ALLOW_INSECURE_TOKEN=true"
	plain := oauth("ZEEBE_ADDRESS=grpc://zeebe:26500", "ZEEBE_AUTHORIZATION_SERVER_URL=http://keycloak:18080/token")
	const fault = "%s: credentials would go in plaintext to %s -> use TLS, or " + allow
	check.Same(t, []string{
		fmt.Sprintf(fault, "ZEEBE_ADDRESS", "zeebe:26500"),
		fmt.Sprintf(fault, "ZEEBE_AUTHORIZATION_SERVER_URL", "keycloak:18080"),
	}, faults(t, plain...), "faults")
	cfg := load(t, append(plain, allow)...)
	const warning = "%s: credentials go in plaintext to %s -> use TLS: hosts on the way can read them"
	check.Same(t, []string{
		fmt.Sprintf(warning, "ZEEBE_ADDRESS", "zeebe:26500"),
		fmt.Sprintf(warning, "ZEEBE_AUTHORIZATION_SERVER_URL", "keycloak:18080"),
	}, lines(cfg.Warnings), "warnings")
	load(t, oauth("ZEEBE_ADDRESS=grpc://127.0.0.1:26500", "ZEEBE_AUTHORIZATION_SERVER_URL=http://localhost:18080/token")...)
	for _, harmless := range [][]string{oauth(allow), {"ZEEBE_ADDRESS=grpc://zeebe:26500", allow}} {
		cfg := load(t, harmless...)
		check.Same(t, 0, len(cfg.Warnings), "warnings of %q", harmless)
	}
}

// downloaded is a credentials file as Camunda's console has it to download.
const downloaded = `export ZEEBE_ADDRESS='0a1b-2c3d.bru-2.zeebe.camunda.io:443'
export ZEEBE_CLIENT_ID='wor~ker.-_'
export ZEEBE_CLIENT_SECRET='s3cr~et.-_'
export ZEEBE_AUTHORIZATION_SERVER_URL='https://login.cloud.camunda.io/oauth/token'
export ZEEBE_REST_ADDRESS='https://bru-2.zeebe.camunda.io/0a1b-2c3d'
export ZEEBE_GRPC_ADDRESS='grpcs://0a1b-2c3d.bru-2.zeebe.camunda.io:443'
export ZEEBE_TOKEN_AUDIENCE='zeebe.camunda.io'
export CAMUNDA_CLUSTER_ID='0a1b-2c3d'
export CAMUNDA_CLIENT_ID='wor~ker.-_'
export CAMUNDA_CLIENT_SECRET='s3cr~et.-_'
export CAMUNDA_CLUSTER_REGION='bru-2'
export CAMUNDA_CREDENTIALS_SCOPES='Zeebe,Tasklist'
export CAMUNDA_TASKLIST_BASE_URL='https://bru-2.tasklist.camunda.io/0a1b-2c3d'
export CAMUNDA_OAUTH_URL='https://login.cloud.camunda.io/oauth/token'
export CAMUNDA_CLIENT_MODE='saas'
`

func TestTheDownloadedCredentialsAreAllThatSaaSNeeds(t *testing.T) {
	set(t, "RETRY_CLUSTER_NAME=prod")
	path := file(t, downloaded)
	cfg, err := config.Load(path)
	check.Must(t, err)
	check.Same(t, []string{"grpcs://0a1b-2c3d.bru-2.zeebe.camunda.io:443", "OIDC", "wor~ker.-_", "s3cr~et.-_", "https://login.cloud.camunda.io/oauth/token", "zeebe.camunda.io"},
		[]string{cfg.Address().String(), string(cfg.AuthStrategy()), cfg.ZeebeClientID, string(cfg.ZeebeClientSecret), string(cfg.ZeebeAuthorizationURL), cfg.ZeebeTokenAudience}, "settings")
	check.Same(t, 0, len(cfg.Warnings), "warnings")
	sources := map[string]string{}
	for _, s := range cfg.Settings() {
		sources[s.Name] = s.Source
	}
	check.Same(t, []string{"env", "file", "default"}, []string{sources["RETRY_CLUSTER_NAME"], sources["ZEEBE_CLIENT_SECRET"], sources["RETRY_LANG"]}, "sources")
}

func TestACredentialsFileIsReadAsAShellWouldReadIt(t *testing.T) {
	set(t)
	cfg, err := config.Load(file(t, "# of the console\n\n  ZEEBE_ADDRESS=a:1\r\nexport\tRETRY_TENANT=\"south\"\nexport ZEEBE_TOKEN_SCOPE=\n"))
	check.Must(t, err)
	check.Same(t, []string{"grpcs://a:1", "south"}, []string{cfg.Address().String(), cfg.Tenant}, "settings")
	const noLine = "--credentials: its file is not lines like export ZEEBE_CLIENT_ID='...'"
	for content, want := range map[string]string{
		"":                                     "--credentials: its file cannot be used: it is empty",
		"rm -rf s3cret\n":                      noLine,
		"export ZEEBE_CLIENT_SECRET='s3cret\n": noLine,
		"set ZEEBE_CLIENT_ID=abc\r\n":          noLine,
		"clientId: abc\n":                      noLine,
		"hello\n":                              noLine,
		"# of the console\n":                   noLine,
		"export ZEEBE_CLIENT_ID=\n":            noLine,
	} {
		set(t)
		_, err := config.Load(file(t, content))
		check.Same(t, want, fmt.Sprint(err), "faults of %q", content)
	}
}
