package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// call runs a command line with a directory of its own, so that it neither sees nor touches what the
// developer has up.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints strings.Builder
	code = run(t.Context(), append(args, "--dir", t.TempDir()), &out, &complaints)
	return code, out.String(), complaints.String()
}

func TestMistakesAreNamedWithTheirExitCode(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"frob"}, exitUsage, `unknown command "frob"`},
		{[]string{"down", "now"}, exitUsage, `unknown command "now" for "sandbox down"`},
		{[]string{"up", "--frob"}, exitUsage, "unknown flag: --frob"},
		{[]string{"up", "--fault", "FrobJob"}, exitUsage, `fault "FrobJob"`},
		{[]string{"serve", "--fault", "pace=4"}, exitUsage, `fault "pace=4"`},
		{[]string{"skip"}, exitUsage, "accepts 1 arg(s), received 0"},
		{[]string{"skip", "10"}, exitUsage, `"10" is no time to skip`},
		{[]string{"skip", "0s"}, exitUsage, `"0s" is no time to skip`},
		{[]string{"skip", "10m"}, exitFailure, "nothing is running"},
		{[]string{"tasks"}, exitFailure, "nothing is running"},
		{[]string{"complete", "x", "{}"}, exitUsage, `"x" is no key of a user task`},
		{[]string{"complete", "7", "[]"}, exitUsage, "the variables are no JSON object"},
		{[]string{"complete", "7", "{}"}, exitFailure, "nothing is running"},
		{[]string{"fault", "heal", "frob", "CompleteJob code=FROB"}, exitUsage, "fault \"frob\""},
		{[]string{"fault", "heal"}, exitFailure, "nothing is running"},
		{[]string{"up", "--http-address", "192.0.2.1:1"}, exitFailure, "choose another address"},
	} {
		code, _, complaint := call(t, c.args...)
		if code != c.code || !strings.Contains(complaint, c.says) || strings.Contains(complaint, "How it is used") != (c.code == exitUsage) {
			t.Errorf("%v: exit %d, %q", c.args, code, complaint)
		}
	}
}

func TestAllFaultyInputsOfTheDemoAreNamedAtOnce(t *testing.T) {
	dir := t.TempDir()
	claims, model := filepath.Join(dir, "claims.csv"), filepath.Join(dir, "my.bpmn")
	check.Must(t, os.WriteFile(claims, []byte("claim,answers,end\nCLM-1-1,,SUBMITTED\nCLM-1-2,OK,GONE\n"), 0o600))
	check.Must(t, os.WriteFile(model, []byte("<definitions/>"), 0o600))
	t.Setenv("ZEEBE_ADDRESS", "127.0.0.1:26500")
	t.Setenv("RETRY_JOB_TYPES", "")
	code, out, complaint := call(t, "demo", "--claims", claims, "--model", model)
	check.Same(t, exitUsage, code, "exit code")
	check.Same(t, "", out, "output")
	check.Contains(t, complaint, claims+" cannot be played", "line 2: answers is empty", `line 3: "GONE" is no end`,
		"the models cannot be played", model, "ZEEBE_REST_ADDRESS", "ZEEBE_TEST_MONITORING", "ZEEBE_TEST_RECORDS")

	t.Setenv("RETRY_JOB_TYPES", "analyze-retry")
	code, _, complaint = call(t, "demo", "--claims", "no-such.csv")
	check.Same(t, exitUsage, code, "exit code")
	check.Contains(t, complaint, "open no-such.csv", `RETRY_JOB_TYPES is "analyze-retry"`)
}
