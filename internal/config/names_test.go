package config_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestNamesOfOtherClientsGetAWarningWithTheRightOne(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	for name, want := range map[string]string{
		"ZEEBE_CLIENT_BROKER_GATEWAYADDRESS":            "this worker reads ZEEBE_ADDRESS, host:port or a URL", // Spring
		"ZEEBE_CLIENT_BROKER_GATEWAY-ADDRESS":           "this worker reads ZEEBE_ADDRESS, host:port or a URL",
		"ZEEBE_CLIENT_BROKER_GATEWAY_ADDRESS":           "this worker reads ZEEBE_ADDRESS, host:port or a URL",
		"CAMUNDA_CLIENT_ZEEBE_GRPCADDRESS":              "this worker reads ZEEBE_ADDRESS, host:port or a URL",
		"ZEEBE_GATEWAY_ADDRESS":                         "this worker reads ZEEBE_ADDRESS, host:port or a URL",
		"ZEEBE_CLIENT_SECURITY_PLAINTEXT":               "this worker reads ZEEBE_INSECURE_CONNECTION, true for plaintext",
		"CAMUNDA_SECURE_CONNECTION":                     "this worker reads ZEEBE_INSECURE_CONNECTION, true for plaintext",
		"CAMUNDA_CUSTOM_ROOT_CERT_PATH":                 "this worker reads PEM files: ZEEBE_CA_CERTIFICATE_PATH, ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH",
		"ZEEBE_CLIENT_CLOUD_CLIENTID":                   "this worker reads ZEEBE_CLIENT_ID",
		"CAMUNDA_CLIENT_ZEEBE_RESTADDRESS":              "this worker reads ZEEBE_REST_ADDRESS, a URL",
		"ZEEBE_CLIENT_CLOUD_CLIENTSECRET":               "this worker reads ZEEBE_CLIENT_SECRET or ZEEBE_CLIENT_SECRET_FILE",
		"ZEEBE_CLIENT_CLOUD_CLUSTER-ID":                 "this worker reads CAMUNDA_CLIENT_CLOUD_CLUSTERID",
		"ZEEBE_CLIENT_CLOUD_REGION":                     "this worker reads CAMUNDA_CLIENT_CLOUD_REGION",
		"CAMUNDA_WELL_KNOWN_CONFIGURATION_URL":          "this worker reads ZEEBE_AUTHORIZATION_SERVER_URL, the whole URL of the token endpoint",
		"CAMUNDA_ISSUER_URL":                            "this worker reads ZEEBE_AUTHORIZATION_SERVER_URL, the whole URL of the token endpoint",
		"CAMUNDA_MTLS_KEY":                              "this worker reads PEM files: ZEEBE_CA_CERTIFICATE_PATH, ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH",
		"CAMUNDA_MTLS_KEY_PASSPHRASE":                   "this worker reads PEM files: ZEEBE_CA_CERTIFICATE_PATH, ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH",
		"ZEEBE_PREFER_REST":                             "this worker uses gRPC if a gRPC address is set, and REST if only ZEEBE_REST_ADDRESS is",
		"CAMUNDA_PREFER_REST":                           "this worker uses gRPC if a gRPC address is set, and REST if only ZEEBE_REST_ADDRESS is",
		"CAMUNDA_DEFAULT_JOB_WORKER_TENANT_FILTER_MODE": "this worker reads RETRY_TENANT, one tenant's id",
		"CAMUNDA_DEFAULT_JOB_WORKER_TENANT_IDS":         "this worker reads RETRY_TENANT, one tenant's id",
		"CAMUNDA_CLIENT_WORKER_DEFAULTS_TENANTIDS":      "this worker reads RETRY_TENANT, one tenant's id",
		"CAMUNDA_WORKER_NAME":                           "this worker reads RETRY_WORKER_NAME",
		"CAMUNDA_WORKER_TIMEOUT":                        "this worker reads RETRY_JOB_TIMEOUT",
		"CAMUNDA_WORKER_MAX_CONCURRENT_JOBS":            "this worker reads RETRY_MAX_JOBS_ACTIVE",
		"CAMUNDA_SDK_LOG_LEVEL":                         "it is a setting of other clients",
		"CAMUNDA_ZEEBE_OAUTH_AUDIENCE":                  "this worker reads ZEEBE_TOKEN_AUDIENCE",
		"ZEEBE_KEEP_ALIVE":                              "it is a setting of other clients",
		"ZEEBE_AUTH_REQUEST_TIMEOUT":                    "it is a setting of other clients",
		"ZEEBE_CLIENT_CONFIG_PATH":                      "it is a setting of other clients",
		"ZEEBE_CLIENT_WORKER_STREAM_ENABLED":            "it is a setting of other clients",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := load(t, name+"="+canary)
			check.Same(t, []string{name + " is not read: " + want}, cfg.Warnings(), "warnings")
		})
	}
}

func TestAMisspeltNameOfTheConnectionGetsAWarning(t *testing.T) {
	t.Parallel()
	for name, meant := range map[string]string{
		"ZEBEE_ADDRESS": "ZEEBE_ADDRESS", "CAMUNDA_REST_ADDRESSS": "CAMUNDA_REST_ADDRESS", "CAMUNDA_AUTH_STRATEGYY": "CAMUNDA_AUTH_STRATEGY",
		"CAMUNDA_CLIENT_SECRETS": "CAMUNDA_CLIENT_SECRET", "camunda_client_secret_fille": "CAMUNDA_CLIENT_SECRET_FILE",
	} {
		cfg := load(t, name+"=c4n4ry")
		check.Same(t, []string{name + " is not read; did you mean " + meant + "?"}, cfg.Warnings(), "warnings")
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
