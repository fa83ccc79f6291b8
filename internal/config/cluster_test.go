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
		check.Same(t, []string{test.want, test.transport}, []string{cfg.Address().String(), cfg.Address().Transport().String()}, "address by %s", test.settings)
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
	load(t, append(plain, allow)...)
	load(t, oauth("ZEEBE_ADDRESS=grpc://127.0.0.1:26500", "ZEEBE_AUTHORIZATION_SERVER_URL=http://localhost:18080/token")...)
	load(t, "ZEEBE_ADDRESS=grpc://zeebe:26500") // without any
}
