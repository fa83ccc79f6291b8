package cli_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(devpostgres.Main{M: m}) }

var update = flag.Bool("update", false, "rewrite the golden files")

// worker runs a command line in an environment without settings but those given, "NAME=value".
func worker(t *testing.T, args []string, settings ...string) (code int, stdout, stderr string) {
	t.Helper()
	set(t, settings...)
	var out, complaints bytes.Buffer
	code = cli.Run(t.Context(), args, &out, &complaints)
	return code, out.String(), complaints.String()
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		write(t, path, got)
	}
	want := read(t, path)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got); if it is meant, run go test ./internal/cli -update:\n%s", path, diff)
	}
}

// golden are the command lines whose output is pinned.
var golden = map[string][]string{
	"help":                   {"--help"},
	"config_help":            {"config", "--help"},
	"explain_help":           {"explain", "--help"},
	"policies_night_json":    {"policies", "night", "--json", "--file", "testdata/night.yaml"},
	"policies_night":         {"policies", "night", "--file", "testdata/night.yaml"},
	"migrate":                {"migrate"},
	"config":                 {"config"},
	"config_json":            {"config", "--json"},
	"explain_transient":      {"explain", "--error", "TIMEOUT after 30 s"},
	"explain_unknown":        {"explain", "--error", "weird", "--retry-count", "3"},
	"explain_permanent":      {"explain", "--error", "INSURANCE_EXPIRED and TIMEOUT"},
	"explain_exhausted":      {"explain", "--error", "503", "--retry-count", "5"},
	"explain_last_but_one":   {"explain", "--error", "503", "--retry-count", "4"},
	"explain_claim":          {"explain", "--error", "TIMEOUT", "--retry-count", "1", "--claim", "CLM-001-1"},
	"explain_instance":       {"explain", "--error", "TIMEOUT", "--claim", "CLM-001-1", "--process-instance", "2251799813685249"},
	"explain_instance_json":  {"explain", "--error", "TIMEOUT", "--retry-count", "3", "--claim", "CLM-001-1", "--process-instance", "2251799813685249", "--json"},
	"explain_permanent_json": {"explain", "--error", "DUPLICATE_CLAIM", "--json"},
	"explain_transient_json": {"explain", "--error", "TIMEOUT", "--retry-count", "4", "--json"},
	"explain_exhausted_json": {"explain", "--error", "weird", "--retry-count", "9", "--json"},
	"explain_sample_json":    {"explain", "--error", "TIMEOUT", "--retry-count", "4", "--claim", "CLM-001-1", "--json"},
}

func TestTheOutputIsPinned(t *testing.T) {
	for name, args := range golden {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := worker(t, args, "RETRY_WORKER_NAME=billing-1", "ZEEBE_ADDRESS=zeebe.example:443",
				"ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET=c4n4ry", "ZEEBE_TOKEN_AUDIENCE=zeebe-api",
				"ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token")
			if code != 0 || stderr != "" {
				t.Errorf("exit code %d, complaints %q", code, stderr)
			}
			if strings.Contains(stdout, "c4n4ry") {
				t.Error("the secret is shown")
			}
			checkScreen(t, stdout)
			if strings.HasSuffix(name, "_json") && !json.Valid([]byte(stdout)) {
				t.Error("that is no JSON")
			}
			checkGolden(t, name, stdout)
		})
	}
}

func TestMistakeIsOneLineWithRemedyAndExitCode2(t *testing.T) {
	for _, test := range []struct {
		name, args string
		want       []string // parts of the complaint
	}{
		{"a misspelt command", "explian", []string{`there is no command "explian"; did you mean explain?`, "worker --help"}},
		{"nothing like a command", "frobnicate", []string{`there is no command "frobnicate"` + "\n"}},
		{"an argument too many", "run now", []string{`run takes no arguments, but got "now"`, "worker run --help"}},
		{"an unknown flag", "explain --foo", []string{"unknown flag: --foo", "worker explain --help"}},
		{"a number that is none", "explain --error x --retry-count two", []string{"--retry-count"}},
		{"no error text", "explain", []string{"--error is empty"}},
		{"all that is wrong at once", "explain --claim x --retry-count -1", []string{"--claim is", "--error is empty", "--retry-count is -1"}},
		{"a misspelt command of a command", "audit verfy", []string{`there is no command "audit verfy"; did you mean verify?`, "worker audit --help"}},
		{"no claim", "history", []string{"worker history wants one claim", "worker history --help"}},
		{"two claims", "audit export CLM-1-1 CLM-1-2", []string{"worker audit export wants one claim, such as CLM-001-7, but got 2 arguments"}},
		{"a time without a unit", "kpi --since 7", []string{"--since", "7d, 24h or 90m"}},
		{"a time of nothing", "pending --since 0d", []string{"--since", "7d, 24h or 90m"}},
		{"a time in weeks", "events tail --since 2w", []string{"--since", "7d, 24h or 90m"}},
		{"an empty time", "kpi --since=", []string{"--since", "7d, 24h or 90m"}},
		{"all of the last hour", "events tail --all --since 1h", []string{"--all and --since exclude each other", "worker events tail --help"}},
		{"to follow what waits", "events tail --unpublished --follow", []string{"--unpublished is what waits now"}},
		{"a wait of nothing", "explain --error x --base 0s", []string{"--base is 0s but must be more than 0"}},
		{"an override that makes no sense", "explain --error x --max-retries 2000", []string{"maxRetries is 2000 but must be from 0 to 1000"}},
		{"a policy that is not known", "explain --error x --policy nope", []string{`there is no policy "nope"`, "tiss"}},
		{"a time that is none", "explain --error x --retry-until tomorrow", []string{"--retry-until", "RFC 3339"}},
		{"a claim for a policy of claims", "explain --error x --claim JOB-1", []string{"--claim is", "CLM-<any>-<digits>"}},
		{"a purge that shortens and previews", "audit purge --shorten --dry-run", []string{"--shorten removes nothing"}},
		{"a purge that shortens by any clock", "audit purge --shorten --trust-clock", []string{"--shorten removes nothing"}},
		{"a preview by any clock", "audit purge --dry-run --trust-clock", []string{"--dry-run and --trust-clock exclude each other"}},
		{"a yes to no question", "audit purge --yes", []string{"--yes goes with --shorten"}},
		{"a replay under no policy", "replay", []string{"--policy is missing"}},
		{"a replay under an unknown policy", "replay --policy none", []string{`there is no policy "none"`}},
		{"an argument of replay", "replay --policy tiss extra", []string{`replay takes no arguments, but got "extra"`}},
		{"a flag without its value", "replay --policy tiss --since", []string{"--since"}},
		{"a simulation without an outage", "simulate", []string{"--outage is missing"}},
		{"an outage without a unit", "simulate --outage 3", []string{"500ms, 90s, 5m or 24h"}},
		{"an outage without a length", "simulate --outage 3h+", []string{"500ms, 90s, 5m or 24h"}},
		{"an outage of part of a second", "simulate --outage 1500ms", []string{"an outage is from 0s to 1.5s but must last a second or more, in whole seconds"}},
		{"two faults of a simulation", "simulate --outage 3h --claims 0 --failure-rate 1", []string{"claims are 0 but must be 1 to 1000000\nworker: the failure rate is 1"}},
		{"arrivals without a unit", "simulate --outage 3h --arrivals 90", []string{"--arrivals"}},
		{"an instance of no claim", "explain --error x --process-instance 7", []string{"--process-instance needs --claim"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := worker(t, strings.Fields(test.args))
			if code != 2 || stdout != "" {
				t.Errorf("exit code %d, output %q", code, stdout)
			}
			for _, part := range test.want {
				if !strings.Contains(stderr, part) {
					t.Errorf("the complaint lacks %q:\n%s", part, stderr)
				}
			}
			if strings.Contains(stderr, "Usage:") || strings.Contains(stderr, "goroutine") {
				t.Errorf("the complaint is buried:\n%s", stderr)
			}
		})
	}
}

func TestCommandsReportAllConfigurationFaults(t *testing.T) {
	const want = `worker: the configuration has 2 faults:
  RETRY_LOG_LEVEL is "loud"; allowed: debug, info, warn or error
  RETRY_HTP_ADDRESS is not a setting; did you mean RETRY_HTTP_ADDRESS?
Every name, its default and what it may hold: worker config --help
`
	for _, args := range [][]string{
		{},
		{"run"},
		{"deploy"},
		{"config"},
		{"config", "--json"},
		{"history", "CLM-1-1"},
		{"pending"},
		{"kpi"},
		{"migrate"},
		{"redrive", "--claim", "CLM-1-1", "--reason", "why"},
		{"events", "tail"},
		{"audit", "verify"},
		{"audit", "export", "CLM-1-1"},
		{"audit", "purge"},
		{"audit", "purge", "--dry-run"},
		{"simulate", "--outage", "1h"},
		{"replay", "--policy", "tiss"},
	} {
		code, stdout, stderr := worker(t, args, "RETRY_LOG_LEVEL=loud", "RETRY_HTP_ADDRESS=:1")
		if diff := cmp.Diff(want, stderr); code != 2 || stdout != "" || diff != "" {
			t.Errorf("worker %v: exit code %d, output %q, complaint (-want +got):\n%s", args, code, stdout, diff)
		}
	}
}

func TestExplainAndVersionNeedNoConfiguration(t *testing.T) {
	for _, args := range [][]string{{"explain", "--error", "x"}, {"version"}, {"--version"}, {"--help"}} {
		if code, stdout, stderr := worker(t, args, "RETRY_LOG_LEVEL=loud"); code != 0 || stdout == "" || stderr != "" {
			t.Errorf("worker %v: exit code %d, complaint %q", args, code, stderr)
		}
	}
}

func TestDeployPutsTheBundledModelsOnTheBroker(t *testing.T) {
	gateway := gatewaytest.New()
	defer gateway.Close()
	address, err := gateway.Listen()
	if err != nil {
		t.Fatal(err)
	}
	settings := []string{"ZEEBE_ADDRESS=" + address, "ZEEBE_INSECURE_CONNECTION=true"}

	// The gateway of the test takes a file's name for the process id.
	code, stdout, stderr := worker(t, []string{"deploy"}, settings...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, complaint %s", code, stderr)
	}
	checkGolden(t, "deploy", stdout)

	code, stdout, _ = worker(t, []string{"deploy", "--json"}, settings...)
	var list []struct {
		ProcessID, Resource string
		Version             int
		Key                 int64
	}
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != 0 || len(list) != 2 ||
		list[1].ProcessID != "sub-06.bpmn" || list[1].Version != 1 || list[1].Key == 0 {
		t.Errorf("exit code %d, error %v, output %s", code, err, stdout)
	}
}

func TestDeployWithoutBrokerNamesRemedy(t *testing.T) {
	code, stdout, stderr := worker(t, []string{"deploy"}, "ZEEBE_ADDRESS=127.0.0.1:1", "ZEEBE_INSECURE_CONNECTION=true")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "ZEEBE_ADDRESS=127.0.0.1:1") || strings.Contains(stderr, "Usage:") {
		t.Errorf("exit code %d, output %q, complaint %s", code, stdout, stderr)
	}
}
