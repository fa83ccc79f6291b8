package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestConfigNamesTheConnectionAndWhereItComesFrom(t *testing.T) {
	with("CAMUNDA_REST_ADDRESS=https://camunda.example/orchestration/v2", "CAMUNDA_BASIC_AUTH_USERNAME=demo", "CAMUNDA_CLIENT_AUTH_PASSWORD=c4n4ry").prints(t, []string{"config"},
		"Cluster:         https://camunda.example:443/orchestration, REST over TLS, from CAMUNDA_REST_ADDRESS\n",
		"Authentication:  BASIC, from CAMUNDA_BASIC_AUTH_USERNAME\n",
		"env CAMUNDA_REST_ADDRESS ", "env CAMUNDA_CLIENT_AUTH_PASSWORD  ***\n")
}

func TestConfigNamesTheAddressThatIsNotUsed(t *testing.T) {
	code, stdout, stderr := with("CAMUNDA_REST_ADDRESS=https://camunda.example", "ZEEBE_ADDRESS=grpcs://camunda.example").run(t, "config")
	check.Same(t, 0, code, "exit code")
	check.Contains(t, stderr, "warning: ZEEBE_ADDRESS and CAMUNDA_REST_ADDRESS are set: gRPC is used")
	contains(t, "config", stdout,
		"Cluster:         grpcs://camunda.example:443, gRPC over TLS, from ZEEBE_ADDRESS\n                 CAMUNDA_REST_ADDRESS is not used: where both are set, gRPC is\n",
		"Authentication:  NONE\n")
}

func TestCommandsThatConnectTakeCredentialsFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials.txt")
	check.Must(t, os.WriteFile(path, []byte("export CAMUNDA_CLUSTER_ID='0a1b'\nexport CAMUNDA_CLUSTER_REGION='bru-2'\n"+
		"export CAMUNDA_CLIENT_ID='worker'\nexport CAMUNDA_CLIENT_SECRET='c4n4ry'\n"), 0o600))
	var got struct {
		Connection map[string]string
		Settings   []map[string]string
	}
	with().decodes(t, 0, &got, "config", "--credentials", path)
	check.Same(t, map[string]string{
		"address": "grpcs://0a1b.bru-2.zeebe.camunda.io:443", "transport": "gRPC over TLS", "addressFrom": "CAMUNDA_CLUSTER_ID",
		"authentication": "OIDC", "authenticationFrom": "CAMUNDA_CLIENT_ID",
	}, got.Connection, "connection")
	secret := map[string]string{"name": "ZEEBE_CLIENT_SECRET", "value": "***", "source": "credentials", "variable": "CAMUNDA_CLIENT_SECRET"}
	text, err := json.Marshal(got.Settings)
	check.Must(t, err)
	want, err := json.Marshal(secret)
	check.Must(t, err)
	check.Contains(t, string(text), string(want))

	missing := filepath.Join(t.TempDir(), "missing")
	for _, args := range [][]string{{}, {"run"}, {"deploy"}, {"config"}, {"doctor"}, {"redrive", "--claim", "CLM-1-1", "--reason", "why"}} {
		with().fails(t, 2, "--credentials names a file that cannot be used: no such file or directory", append(args, "--credentials", missing)...)
		with().fails(t, 2, "--credentials names no file", append(args, "--credentials=")...)
	}
}
