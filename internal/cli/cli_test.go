package cli_test

import (
	"bytes"
	"context"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // the system of the tests
	goleak.VerifyTestMain(devpostgres.Main{M: m})
}

var update = flag.Bool("update", false, "rewrite the golden files")

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
	with("RETRY_WORKER_NAME=billing-1", "ZEEBE_ADDRESS=zeebe.example:443", "ZEEBE_CLIENT_ID=worker", "ZEEBE_CLIENT_SECRET=c4n4ry",
		"ZEEBE_TOKEN_AUDIENCE=zeebe-api", "ZEEBE_AUTHORIZATION_SERVER_URL=https://login.example/token").pinned(t, "", golden)
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
		{"a page beyond all numbers", "claims --limit 9223372036854775807 --page 2", []string{"--limit is 9223372036854775807 but must be from 1 to 1000000"}},
		{"no page", "claims --limit 0 --page 1000001", []string{"--limit is 0", "--page is 1000001 but must be from 1 to 1000000"}},
		{"KPIs of the future", "kpi --month 2999-05 --tz UTC", []string{"the time begins 2999-05-01T00:00:00Z, which is not in the past"}},
		{"a report of the future", "report --from 2999-05-01 --tz UTC", []string{"the time begins 2999-05-01T00:00:00Z, which is not in the past"}},
		{"two times", "kpi --since 7d --month 2026-01", []string{"give either --since, or --month, --from and --to"}},
		{"two ends", "kpi --since 7d --to 2026-01-01", []string{"give either --since, or --month, --from and --to"}},
		{"no error text", "explain", []string{"--error is empty"}},
		{"a misspelt command of a command", "audit verfy", []string{`there is no command "audit verfy"; did you mean verify?`, "worker audit --help"}},
		{"no claim", "history", []string{"worker history wants one claim", "worker history --help"}},
		{"two claims", "audit export CLM-1-1 CLM-1-2", []string{"worker audit export wants one claim, such as CLM-001-7, but got 2 arguments"}},
		{"a time without a unit", "kpi --since 7", []string{"--since", "7d, 24h or 90m"}},
		{"a time of nothing", "kpi --since 0d", []string{"--since", "7d, 24h or 90m"}},
		{"an empty time", "kpi --since=", []string{"--since", "7d, 24h or 90m"}},
		{"all of the last hour", "events tail --all --since 1h", []string{"--all and --since exclude each other", "worker events tail --help"}},
		{"to follow what waits", "events tail --unpublished --follow", []string{"--unpublished is what waits now"}},
		{"an override that makes no sense", "explain --error x --max-retries 2000", []string{"maxRetries is 2000 but must be from 0 to 1000"}},
		{"a time that is none", "explain --error x --retry-until tomorrow", []string{"--retry-until", "RFC 3339"}},
		{"a claim for a policy of claims", "explain --error x --claim JOB-1", []string{"--claim is", "CLM-<any>-<digits>"}},
		{"a purge before no day", "audit purge --yes", []string{"--before is missing"}},
		{"a replay under no policy", "replay", []string{"--policy is missing"}},
		{"a flag without its value", "replay --policy tiss --since", []string{"--since"}},
		{"a simulation without an outage", "simulate", []string{"--outage is missing"}},
		{"an outage without a unit", "simulate --outage 3", []string{"500ms, 90s, 5m or 24h"}},
		{"an outage of part of a second", "simulate --outage 1500ms", []string{"an outage is from 0s to 1.5s but must last a second or more, in whole seconds"}},
		{"two faults of a simulation", "simulate --outage 3h --claims 0 --failure-rate 1", []string{"claims are 0 but must be 1 to 1000000\nworker: the failure rate is 1"}},
		{"arrivals without a unit", "simulate --outage 3h --arrivals 90", []string{"--arrivals"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := with().run(t, strings.Fields(test.args)...)
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

// What is wrong with the values of flags is reported together.
func TestAllFaultsOfACommandLineAreReported(t *testing.T) {
	for args, want := range map[string]string{
		"explain --max-retries 2.5 --base 1q --json=perhaps": `worker: --max-retries is "2.5" but must be a whole number
worker: --base is "1q"; that is no duration such as 500ms, 90s, 5m or 24h, or PT5M
worker: --json is "perhaps" but must be true or false
`,
		"simulate --outage 3h+ --claims many --seed -1 --failure-rate x --outage 2h --svgg x": `worker: --outage is "3h+"; "" in it is no duration such as 500ms, 90s, 5m or 24h, or PT5M
worker: --claims is "many" but must be a whole number
worker: --seed is "-1" but must be a whole number, 0 or more
worker: --failure-rate is "x" but must be a number
worker: unknown flag: --svgg
`,
		"redrive --timeout 3 --since 7": `worker: --timeout is "3" but must be a span of time such as 500ms, 90s, 5m or 24h
worker: --since is "7"; give a whole number of days, hours or minutes, such as 7d, 24h or 90m
`,
		"explain --retry-count 99999999999999999999": `worker: --retry-count is "99999999999999999999", which is too large
`,
		"explain --policy tiss --base 0s --max 9600h --deadline=-5m --retry-until x --first-failure y --claim 7 --retry-count -1": `worker: --base is 0s but must be more than 0
worker: --deadline is -5m but must be more than 0
worker: --retry-until is "x" but must be an RFC 3339 time or a local date-time, from the year 2000 on, or absent
worker: --first-failure is "y" but must be an RFC 3339 time or a local date-time, from the year 2000 on, or absent
worker: the overrides make no sense: max is 9600h but must be at most 8784h
worker: --claim is "7" but must be a text that matches CLM-<any>-<digits> on one line, without control characters, at most 128 bytes
worker: --error is empty but must be the text of the submission error, not blank
worker: --retry-count is -1 but must be a whole number, 0 or more (absent counts as 0)
`,
		"explain --policy nope --base 0s --process-instance 3": `worker: --base is 0s but must be more than 0
worker: --process-instance needs --claim
worker: there is no policy "nope"; there are fast, job-queue, rn-bil-005, smtp, smtp-dev, tiss. A policy of another file is named FILE:NAME
`,
	} {
		command, _, _ := strings.Cut(args, " ")
		code, stdout, stderr := with().run(t, strings.Fields(args)...)
		if diff := cmp.Diff(want+"How it is used: worker "+command+" --help\n", stderr); code != 2 || stdout != "" || diff != "" {
			t.Errorf("worker %s: exit code %d, output %q, complaint (-want +got):\n%s", args, code, stdout, diff)
		}
	}
}

func TestCommandsReportAllConfigurationFaults(t *testing.T) {
	const want = `worker: the configuration has 2 faults:
  RETRY_LOG_LEVEL is "loud"; allowed: debug, info, warn or error
  RETRY_HTP_ADDRESS is not a setting; did you mean RETRY_HTTP_ADDRESS?
Every name, its default and what it may hold: worker config --help
`
	for _, args := range append([][]string{
		{},
		{"run"},
		{"deploy"},
		{"config"},
		{"config", "--json"},
		{"migrate"},
		{"redrive", "--claim", "CLM-1-1", "--reason", "why"},
		{"audit", "purge", "--before", "2020-01-01"},
		{"simulate", "--outage", "1h"},
	}, reading...) {
		code, stdout, stderr := with("RETRY_LOG_LEVEL=loud", "RETRY_HTP_ADDRESS=:1").run(t, args...)
		if diff := cmp.Diff(want, stderr); code != 2 || stdout != "" || diff != "" {
			t.Errorf("worker %v: exit code %d, output %q, complaint (-want +got):\n%s", args, code, stdout, diff)
		}
	}
}

func TestExplainAndVersionNeedNoConfiguration(t *testing.T) {
	for _, args := range [][]string{{"explain", "--error", "x"}, {"version"}, {"--version"}, {"--help"}} {
		if with("RETRY_LOG_LEVEL=loud").must(t, args...) == "" {
			t.Errorf("worker %v prints nothing", args)
		}
	}
}

func TestDeployPutsTheBundledModelsOnTheBroker(t *testing.T) {
	gateway := enginetest.New()
	defer gateway.Close()
	address, err := gateway.Listen()
	check.Must(t, err)
	broker := with("ZEEBE_ADDRESS="+address, "ZEEBE_INSECURE_CONNECTION=true")
	checkGolden(t, "deploy", broker.must(t, "deploy"))
	var list []struct {
		ProcessID, FormID, Resource string
		Version                     int
		Key                         int64
	}
	stdout, _ := broker.decodes(t, 0, &list, "deploy")
	if len(list) != 4 || list[3].ProcessID != "" || list[3].FormID != "analyze-retry-correct-data" || list[3].Resource != "correct-data.form" || list[1].ProcessID != "SUB_06" || list[1].Version != 1 || list[1].Key == 0 {
		t.Errorf("output %s", stdout)
	}
}

func TestDeployWithoutBrokerNamesRemedy(t *testing.T) {
	with("ZEEBE_ADDRESS=127.0.0.1:1", "ZEEBE_INSECURE_CONNECTION=true").fails(t, 1, "check ZEEBE_ADDRESS, which is read as grpc://127.0.0.1:1, gRPC over plaintext", "deploy")
}

func TestTheHelpOfEveryCommandFitsATerminal(t *testing.T) {
	commands := cli.Commands()
	if !slices.Contains(commands, " policies lint") {
		t.Fatalf("these are not all commands: %q", commands)
	}
	for _, command := range commands {
		checkScreen(t, with().must(t, append(strings.Fields(command), "--help")...))
	}
}

func TestStoppedCommandReportsWhatItChanged(t *testing.T) {
	a := archived(t, week())
	const early = "worker: stopped before it was done; "
	reports := func(want string, args ...string) {
		t.Helper()
		set(t, a.settings...)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		var out, complaints bytes.Buffer
		if code := cli.Run(ctx, args, &out, &complaints); code != 1 || complaints.String() != early+want+"\n" || out.Len() > 0 {
			t.Errorf("worker %s: exit code %d, output %q, complaint %q", args, code, &out, &complaints)
		}
	}
	for _, args := range append(reading, []string{"simulate", "--outage", "3h"}) {
		reports("nothing was changed", args...)
	}
	reports("what was done until then stays", "audit", "purge", "--before", "2020-01-01", "--yes")
	reports("what was done until then stays", "redrive", "--claim", waiting, "--reason", "why")
}
