package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/process"
)

// binaries is where TestMain has built the sandbox and the worker.
var binaries string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	var err error
	if binaries, err = os.MkdirTemp("", "sandbox-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(binaries)
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", binaries, "../...")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build the sandbox and the worker: %v\n%s", err, out))
	}
	return m.Run()
}

// sandbox runs the built program in the project's directory, as make does, with files of its own in dir.
func sandbox(t *testing.T, dir string, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "sandbox"), append(args, "--dir", dir)...)
	cmd.Dir = "../.."
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

// played is the demo's result as JSON.
type played struct {
	OK     bool
	Claims []struct {
		Claim, End string
		Faults     []string
		Tries      []struct{ Decision *struct{ Outcome string } }
	}
}

// plays runs the demo and returns its result.
func plays(t *testing.T, env []string, args ...string) (p played) {
	t.Helper()
	out, complaint, code := sandbox(t, t.TempDir(), env, append([]string{"demo", "--json"}, args...)...)
	if code != exitOK {
		t.Fatalf("exit %d: %s\n%s", code, complaint, out)
	}
	check.Must(t, json.Unmarshal([]byte(out), &p))
	if !p.OK || len(p.Claims) < 12 {
		t.Errorf("ok %v, %d claims, want 12 or more that go as the file says: %+v", p.OK, len(p.Claims), p.Claims)
	}
	return p
}

func TestDemoGoesAsItsFileSaysAndLeavesAStoreToAsk(t *testing.T) {
	t.Parallel()
	out, complaint, code := sandbox(t, t.TempDir(), nil, "demo")
	if code != exitOK {
		t.Fatalf("exit %d: %s\n%s", code, complaint, out)
	}
	check.Contains(t, out, "All 17 claims went as examples/claims.csv says: 5 ABANDONED, 1 INCIDENT, 11 SUBMITTED.")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, want := range []string{"Claim CLM-2026-004214", "CLM-2026-004217", "# Resubmission of claims"} {
		line := lines[len(lines)-3+i]
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = "../.."
		cmd.Env = append(cmd.Environ(), "RETRY_LANG=en")
		answer, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %v\n%s", line, err, answer)
		}
	}
}

// Each model of the examples plays the claims file, with errors of which its policy may know nothing.
func TestDemoPlaysModelsOfOnesOwn(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]string{
		"caller":             "",
		"email":              ",examples/review-job.form",
		"fast-retry":         ",examples/review-job.form",
		"job-queue":          ",examples/review-job.form",
		"policy-by-insurer":  "",
		"submission-backoff": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends := map[string]int{}
			for _, c := range plays(t, nil, "--model", "examples/"+name+".bpmn"+with).Claims {
				ends[c.End]++
				if c.Claim == "CLM-2026-004215" && (len(c.Tries) < 2 || c.Tries[0].Decision == nil) {
					t.Errorf("the claim that times out again and again was not retried: %+v", c)
				}
			}
			if ends["SUBMITTED"] < 6 || ends["ABANDONED"] < 2 || ends["INCIDENT"] != 1 {
				t.Errorf("ends %v, want 6 submitted, 2 abandoned and an incident at least", ends)
			}
		})
	}
	_, complaint, code := sandbox(t, t.TempDir(), nil, "demo", "--model", "examples/end-claim.bpmn")
	check.Same(t, exitUsage, code, "exit code")
	check.Contains(t, complaint, "no task of EndClaimProcess, nor of what it calls, has a job type of the worker")
}

// addresses returns free ones for an engine.
func addresses(t *testing.T) (grpc, rest, monitoring string) {
	t.Helper()
	for _, address := range []*string{&grpc, &rest, &monitoring} {
		free, err := process.FreeAddress()
		check.Must(t, err)
		*address = free
	}
	return grpc, rest, monitoring
}

func TestDemoPlaysOnAClusterOfOnesOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	grpc, rest, monitoring := addresses(t)
	serve := exec.Command(filepath.Join(binaries, "sandbox"), "serve", "--dir", dir,
		"--grpc-address", grpc, "--rest-address", rest, "--monitoring-address", monitoring)
	running, err := process.Serve(t.Context(), serve, filepath.Join(t.TempDir(), "log"), false, func(context.Context) bool {
		return free(grpc, rest, monitoring) != nil
	})
	check.Must(t, err)
	defer func() { check.Must(t, running.Kill()) }()
	env := []string{
		"ZEEBE_ADDRESS=" + grpc, "ZEEBE_REST_ADDRESS=http://" + rest,
		"ZEEBE_TEST_MONITORING=http://" + monitoring, "ZEEBE_TEST_RECORDS=" + filepath.Join(dataOf(dir), "records.jsonl"),
	}
	plays(t, env)
	post(t, rest, "process-instances", `{"processDefinitionId":"SUB_06","variables":{"claimId":"CLM-001-1"}}`)
	plays(t, env) // next to the claims of before, and one of somebody else
	activate(t, rest, "submit-claim")
}

func TestWhatIsUpComesBackAfterItWasKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	grpc, rest, monitoring := addresses(t)
	metrics, err := process.FreeAddress()
	check.Must(t, err)
	up := []string{
		"up", "--grpc-address", grpc, "--rest-address", rest, "--monitoring-address", monitoring, "--http-address", metrics,
	}
	do := func(args ...string) string {
		t.Helper()
		out, complaint, code := sandbox(t, dir, nil, args...)
		if code != exitOK {
			t.Fatalf("%v: exit %d: %s", args, code, complaint)
		}
		return out
	}
	defer do("down")
	check.Contains(t, do(up...), grpc, rest, monitoring, metrics)
	check.Contains(t, do(up...), "It is already up.")

	post(t, rest, "process-instances", `{"processDefinitionId":"SUB_06","variables":{"claimId":"CLM-001-1"}}`)
	submit := activate(t, rest, "submit-claim")
	post(t, rest, "jobs/"+submit+"/error", `{"errorCode":"FAILED","variables":{"submissionError":"INSURANCE_EXPIRED"}}`)
	do("fault", "CompleteJob code=UNAVAILABLE", "pace=1ms")
	do("fault", "heal")
	post(t, rest, "jobs/"+activate(t, rest, "notify-team")+"/completion", `{}`)
	before := do("tasks")
	check.Contains(t, before, "Task_CorrectData", "registration")

	h, err := open(dir)
	check.Must(t, err)
	check.Must(t, h.engine().Kill())
	_, complaint, code := sandbox(t, dir, nil, "skip", "10m")
	check.Same(t, exitFailure, code, "exit code while the engine is away")
	check.Contains(t, complaint, "nothing is running")
	do(up...)
	check.Same(t, before, do("tasks"), "open tasks after the kill")

	key, _, _ := strings.Cut(strings.Split(before, "\n")[1], " ")
	do("complete", key, `{"manualDecision":"RESUBMIT","justification":"carteira renovada"}`)
	check.Contains(t, do("skip", "10m"), "The engine's clock went 10m0s forward")
	post(t, rest, "jobs/"+activate(t, rest, "submit-claim")+"/completion", `{}`)
	check.Same(t, "No user task waits.\n", do("tasks"), "open tasks at the end")

	check.Contains(t, do("down"), "Stopped the worker and the engine.")
	check.Same(t, "Nothing is running.\n", do("down"), "down again")
}

// post sends JSON to the engine's REST API and returns the answer.
func post(t *testing.T, address, path, body string) []byte {
	t.Helper()
	response, err := http.Post("http://"+address+"/v2/"+path, "application/json", strings.NewReader(body))
	check.Must(t, err)
	defer response.Body.Close()
	var answer bytes.Buffer
	_, err = answer.ReadFrom(response.Body)
	check.Must(t, err)
	if response.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s: %s: %s", path, response.Status, answer.String())
	}
	return answer.Bytes()
}

// activate waits for a job of a type and returns its key.
func activate(t *testing.T, address, jobType string) string {
	t.Helper()
	var answer struct {
		Jobs []struct{ JobKey json.Number }
	}
	check.Must(t, json.Unmarshal(post(t, address, "jobs/activation", fmt.Sprintf(
		`{"type":%q,"timeout":%d,"maxJobsToActivate":1,"requestTimeout":%d}`, jobType, time.Hour.Milliseconds(), time.Minute.Milliseconds(),
	)), &answer))
	if len(answer.Jobs) == 0 {
		t.Fatalf("no job of the type %s", jobType)
	}
	return answer.Jobs[0].JobKey.String()
}
