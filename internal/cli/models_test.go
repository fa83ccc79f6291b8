package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/modellint"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

const (
	modelCorpus  = "../modellint/testdata/"
	goodModel    = modelCorpus + "good/loop.bpmn"
	ownPolicy    = modelCorpus + "good/own-policy.bpmn"
	ownPolicies  = modelCorpus + "policies.yaml"
	brokenModel  = modelCorpus + "bad/timer-duration-no-pt.bpmn"
	warningModel = modelCorpus + "bad/outcome-not-recorded-submitted.bpmn"
	noteModel    = modelCorpus + "bad/retries-unset.bpmn"
)

func TestModelsLintExitCodeFollowsSeverity(t *testing.T) {
	empty := t.TempDir()
	missing := filepath.Join(empty, "missing.bpmn")
	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"nothing", []string{goodModel}, 0, "No findings in 1 file."},
		{"information", []string{noteModel}, 0, "information retries-unset"},
		{"a warning", []string{warningModel}, 1, "the models have 1 warning"},
		{"an error", []string{goodModel, brokenModel}, 1, "timer-duration-no-pt.bpmn:83: error timer-duration"},
		{"a file twice", []string{brokenModel, brokenModel}, 1, "the models have 1 error"},
		{"a directory", []string{modelCorpus + "good", "--policies", ownPolicies}, 0, "No findings in 11 files."},
		{"no BPMN", []string{ownPolicies}, 1, "unreadable"},
		{"a missing file", []string{goodModel, missing}, 2, "no such file"},
		{"a directory without models", []string{empty}, 2, "holds no .bpmn file"},
		{"nothing named", nil, 2, "give one or more BPMN files"},
		{"two formats", []string{goodModel, "--json", "--sarif"}, 2, "--json and --sarif exclude one another"},
		{"an unknown policy", []string{ownPolicy}, 1, "policy-unknown"},
		{"a known policy", []string{ownPolicy, "--policies", ownPolicies}, 0, "No findings"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			settings := with("RETRY_JOB_TYPES=analyze-retry=tiss,analyze-retry-unimed=tiss")
			code, stdout, stderr := settings.run(t, append([]string{"models", "lint"}, tt.args...)...)
			if code != tt.code || !strings.Contains(unwrapped(stdout+stderr), tt.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, tt.code, tt.says, stdout, stderr)
			}
			checkHarmless(t, stdout+stderr)
		})
	}
}

func TestModelsLintKnowsThePoliciesAndJobTypesOfTheSettings(t *testing.T) {
	with("RETRY_POLICIES_FILE="+ownPolicies).prints(t, []string{"models", "lint", ownPolicy}, "No findings")
	mine := filepath.Join(t.TempDir(), "mine.bpmn")
	write(t, mine, strings.Replace(read(t, brokenModel), `type="analyze-retry"`, `type="decide"`, 1))
	code, stdout, _ := with("RETRY_JOB_TYPES=decide=tiss").run(t, "models", "lint", mine)
	if code != 1 || !strings.Contains(stdout, "timer-duration") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

func TestModelsLintReadsStandardInput(t *testing.T) {
	file, err := os.Open(brokenModel)
	check.Must(t, err)
	before := os.Stdin
	os.Stdin = file
	t.Cleanup(func() { os.Stdin = before; _ = file.Close() })
	code, stdout, _ := with().run(t, "models", "lint", "-")
	if code != 1 || !strings.Contains(stdout, "standard input:83: error timer-duration") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

func TestFindingsOfModelsArePrintedForPrograms(t *testing.T) {
	var found []modellint.Finding
	with().decodes(t, 1, &found, "models", "lint", brokenModel)
	if len(found) != 1 || found[0].Rule != "timer-duration" || found[0].Element != "Event_WaitBackoff" || found[0].Line != 83 || !strings.Contains(found[0].Fix, "PT") {
		t.Errorf("%+v", found)
	}
	with().decodes(t, 0, &found, "models", "lint", goodModel)
	if found == nil || len(found) != 0 {
		t.Errorf("%+v, want an empty list", found)
	}
	code, stdout, _ := with().run(t, "models", "lint", "--sarif", brokenModel)
	contains(t, "SARIF", stdout, `"version": "2.1.0"`, `"ruleId": "timer-duration"`, `"startLine": 83`)
	check.Same(t, 1, code, "exit code")
}

func TestDeployRefusesModelsWithErrors(t *testing.T) {
	gateway := enginetest.New()
	defer gateway.Close()
	address, err := gateway.Listen()
	check.Must(t, err)
	broker := with("ZEEBE_ADDRESS="+address, "ZEEBE_INSECURE_CONNECTION=true")
	form := filepath.Join(t.TempDir(), "task.form")
	write(t, form, `{"id":"task"}`)
	for _, tt := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"an error", []string{goodModel, brokenModel}, 1, "", "nothing is deployed: the models have 1 error; --force deploys all the same"},
		{"an error, forced", []string{brokenModel, "--force"}, 0, "timer-duration-no-pt.bpmn", "error timer-duration"},
		{"a warning", []string{warningModel}, 0, "outcome-not-recorded-submitted.bpmn", "warning outcome-not-recorded"},
		{"no finding", []string{goodModel, form}, 0, "task.form", ""},
		{"another kind of file", []string{goodModel, ownPolicies}, 2, "", "policies.yaml is no .bpmn or .form file"},
		{"one name twice", []string{goodModel, goodModel}, 2, "", "two files are named loop.bpmn"},
		{"a missing file", []string{form + ".form"}, 2, "", "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := len(gateway.Calls(enginetest.DeployResource))
			code, stdout, stderr := broker.run(t, append([]string{"deploy"}, tt.args...)...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(unwrapped(stderr), tt.stderr) || tt.stderr == "" && stderr != "" {
				t.Errorf("exit code %d, want %d, %q and %q:\n%s%s", code, tt.code, tt.stdout, tt.stderr, stdout, stderr)
			}
			if sent := len(gateway.Calls(enginetest.DeployResource)) > before; sent != (tt.code == 0) {
				t.Errorf("sent: %v, with exit code %d", sent, code)
			}
		})
	}
}

func TestEveryRuleOfModelsHasItsPage(t *testing.T) {
	page := read(t, "../../docs/models-lint.md")
	for _, r := range modellint.Rules() {
		if !strings.Contains(page, "\n### "+r.ID+"\n") || !strings.Contains(unwrapped(page), unwrapped(r.Text)) {
			t.Errorf("docs/models-lint.md has no heading %s with: %s", r.ID, r.Text)
		}
	}
	headings := strings.Count(page, "\n### ")
	if headings != len(modellint.Rules()) {
		t.Errorf("%d headings for %d rules", headings, len(modellint.Rules()))
	}
}
