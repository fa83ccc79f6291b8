package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

// downloaded is a credentials file as Camunda's console has it to download, with one more scope.
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
export CAMUNDA_CLIENT_AUTH_CLIENTID='wor~ker.-_'
export CAMUNDA_CLIENT_AUTH_CLIENTSECRET='s3cr~et.-_'
export CAMUNDA_CLIENT_CLOUD_CLUSTERID='0a1b-2c3d'
export CAMUNDA_CLIENT_CLOUD_REGION='bru-2'
`

// credentialFaults returns the faults of a credentials file and these variables.
func credentialFaults(t *testing.T, path string, variables ...string) []string {
	t.Helper()
	_, err := config.LoadWithCredentials(config.NewEnvironment(variables), path)
	list, _ := errors.AsType[config.FaultsError](err)
	return list
}

func TestTheDownloadedCredentialsAreAllThatSaaSNeeds(t *testing.T) {
	t.Parallel()
	cfg, err := config.LoadWithCredentials(config.NewEnvironment([]string{"RETRY_CLUSTER_NAME=prod"}), file(t, downloaded))
	check.Must(t, err)
	check.Same(t, "grpcs://0a1b-2c3d.bru-2.zeebe.camunda.io:443", cfg.Address().String(), "address")
	check.Same(t, config.AuthOIDC, cfg.AuthStrategy(), "strategy")
	check.Same(t, []string{"wor~ker.-_", "s3cr~et.-_", "https://login.cloud.camunda.io/oauth/token", "zeebe.camunda.io"},
		[]string{cfg.ZeebeClientID, string(cfg.ZeebeClientSecret), cfg.ZeebeAuthorizationURL, cfg.ZeebeTokenAudience}, "OAuth")
	check.Same(t, "ZEEBE_REST_ADDRESS", cfg.UnusedAddressVariable(), "unused address")
	check.Same(t, 0, len(cfg.Warnings()), "warnings")
	for _, s := range cfg.Settings() {
		switch s.Name {
		case "RETRY_CLUSTER_NAME":
			check.Same(t, config.FromEnvironment, s.Source, "source of %s", s.Name)
		case "ZEEBE_CLIENT_SECRET":
			check.Same(t, config.Setting{Name: s.Name, Value: "***", Source: config.FromCredentials}, s, "secret")
		}
	}
}

func TestTheEnvironmentChoosesRESTOfTheCredentialsFile(t *testing.T) {
	t.Parallel()
	const rest = "https://bru-2.zeebe.camunda.io/0a1b-2c3d"
	cfg, err := config.LoadWithCredentials(config.NewEnvironment([]string{"CAMUNDA_REST_ADDRESS=" + rest}), file(t, downloaded))
	check.Must(t, err)
	check.Same(t, "https://bru-2.zeebe.camunda.io:443/0a1b-2c3d", cfg.Address().String(), "address")
	check.Same(t, "", cfg.UnusedAddressVariable(), "unused address")
	got := credentialFaults(t, file(t, downloaded), "CAMUNDA_REST_ADDRESS=https://bru-2.zeebe.camunda.io/another")
	check.Same(t, true, len(got) > 0, "whether another cluster is refused")
}

func TestTheEnvironmentAndTheCredentialsFileMustAgree(t *testing.T) {
	t.Parallel()
	path := file(t, "export ZEEBE_ADDRESS='zeebe.example:443'\n")
	for _, test := range []struct {
		variable, want string
	}{
		{"ZEEBE_ADDRESS=zeebe.example:443", ""},
		{"ZEEBE_ADDRESS=", ""},
		{"ZEEBE_ADDRESS=other.example:443", "ZEEBE_ADDRESS has different values in the environment and in the credentials file; remove one of the two"},
		{"CAMUNDA_GRPC_ADDRESS=other.example:443", "CAMUNDA_GRPC_ADDRESS and ZEEBE_ADDRESS name different addresses, grpcs://other.example:443 and grpcs://zeebe.example:443; remove one of the two"},
	} {
		check.Same(t, test.want, strings.Join(credentialFaults(t, path, test.variable), "\n"), "faults of %s", test.variable)
	}
	path = file(t, strings.ReplaceAll(downloaded, "CAMUNDA_CLIENT_ID", "CAMUNDA_X"))
	got := credentialFaults(t, path, "CAMUNDA_CLIENT_ID=another")
	check.Same(t, []string{"ZEEBE_CLIENT_ID in the credentials file and CAMUNDA_CLIENT_ID have different values; remove one of the two"}, got, "faults")
	got = credentialFaults(t, path, "CAMUNDA_CLIENT_AUTH_CLIENT_SECRET_FILE="+file(t, "another"))
	check.Same(t, []string{"ZEEBE_CLIENT_SECRET in the credentials file and CAMUNDA_CLIENT_AUTH_CLIENT_SECRET_FILE have different values; remove one of the two"}, got, "faults")
}

func TestOneFaultOfTheCredentialsFile(t *testing.T) {
	t.Parallel()
	const noLine = "--credentials line %s is not export NAME='value' with a name that begins with ZEEBE_ or CAMUNDA_"
	line := func(number string) string { return strings.ReplaceAll(noLine, "%s", number) }
	for _, test := range []struct{ name, content, want string }{
		{"other ways to write it", "# of the console\n\n  ZEEBE_ADDRESS=a:1\r\nexport\tZEEBE_CLIENT_ID=\"\"\nexport ZEEBE_TOKEN_SCOPE=\n", ""},
		{"the same twice", "ZEEBE_ADDRESS=a:1\nexport ZEEBE_ADDRESS='a:1'\n", ""},
		{"nothing", "", "--credentials names a file without a single line such as export ZEEBE_CLIENT_ID='...'"},
		{"a command", "ZEEBE_ADDRESS=a:1\nrm -rf s3cret\n", line("2")},
		{"a command in quotes", "ZEEBE_CLIENT_SECRET=\"`s3cret`\"\n", line("1")},
		{"a value that does not end", "export ZEEBE_CLIENT_SECRET='s3cret\n", line("1")},
		{"a name of the worker's own", "export RETRY_DATABASE_URL='s3cret'\n", line("1")},
		{"a control character", "export ZEEBE_CLIENT_SECRET='s3\x1bcret'\n", line("1")},
		{"two values", "ZEEBE_ADDRESS=a:1\nZEEBE_ADDRESS=b:1\n", "--credentials line 2 sets ZEEBE_ADDRESS again, to another value"},
	} {
		check.Same(t, test.want, strings.Join(credentialFaults(t, file(t, test.content)), "\n"), "%s: faults", test.name)
	}
	got := credentialFaults(t, filepath.Join(t.TempDir(), "s3cret"))
	check.Same(t, []string{"--credentials names a file that cannot be used: no such file or directory"}, got, "faults of no file")
	got = credentialFaults(t, file(t, "s3cret\n"+strings.Repeat("\n", 8)+"s3cret\n"))
	check.Same(t, []string{line("1"), line("10")}, got, "faults of two lines")
}

func TestACredentialsFileThatOthersCanReadGetsAWarning(t *testing.T) {
	t.Parallel()
	path := file(t, downloaded)
	check.Must(t, os.Chmod(path, 0o644))
	cfg, err := config.LoadWithCredentials(nil, path)
	check.Must(t, err)
	check.Same(t, 1, len(cfg.Warnings()), "warnings")
	check.Contains(t, strings.Join(cfg.Warnings(), ""), "--credentials: the file has mode 0644")
}
