package main

import (
	"bufio"
	"bytes"
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
	"hospital.example/analyze-retry/internal/testing/cluster"
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

func TestDemoGoesAsItsFileSaysAndLeavesAStoreToAsk(t *testing.T) {
	t.Parallel()
	out, complaint, code := sandbox(t, t.TempDir(), nil, "demo")
	if code != exitOK {
		t.Fatalf("exit %d: %s\n%s", code, complaint, out)
	}
	check.Contains(t, out, "All 17 claims went as examples/claims.yaml says: 5 ABANDONED, 1 INCIDENT, 11 SUBMITTED.")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, want := range []string{"Claim CLM-2026-004214", "CLM-2026-004217", "Resubmission of claims, "} {
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
	for models, says := range map[string]string{
		"examples/caller.bpmn":                              "CallerExampleProcess: 10 ABANDONED, 1 INCIDENT, 6 SUBMITTED",
		"examples/fast-retry.bpmn,examples/review-job.form": "came to rest in FastRetryProcess",
		"examples/policy-by-insurer.bpmn":                   "came to rest in PolicyByInsurerProcess",
		"examples/submission-backoff.bpmn":                  "came to rest in SubmissionBackoffProcess",
	} {
		t.Run(models, func(t *testing.T) {
			t.Parallel()
			out, complaint, code := sandbox(t, t.TempDir(), nil, "demo", "--model", models)
			if code != exitOK {
				t.Fatalf("exit %d: %s\n%s", code, complaint, out)
			}
			check.Contains(t, out, "All 17 claims", says)
		})
	}
}

// started is a sandbox that runs, and the lines that it prints.
type started struct {
	*process.Process
	lines *bufio.Reader
}

func start(t *testing.T, args ...string) started {
	t.Helper()
	read, write, err := os.Pipe()
	check.Must(t, err)
	t.Cleanup(func() { _ = read.Close() })
	check.Must(t, read.SetReadDeadline(time.Now().Add(2*time.Minute)))
	cmd := exec.Command(filepath.Join(binaries, "sandbox"), args...)
	cmd.Stdout, cmd.Stderr = write, write
	p, err := process.Start(cmd)
	_ = write.Close()
	check.Must(t, err)
	t.Cleanup(func() { _ = p.Kill() })
	return started{p, bufio.NewReader(read)}
}

// until reads up to a line that has a part, and returns it.
func (u started) until(t *testing.T, part string) string {
	t.Helper()
	for {
		line, err := u.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%q was not printed: %v", part, err)
		}
		if strings.Contains(line, part) {
			return line
		}
	}
}

func TestWhatIsUpComesBackAfterItWasKilled(t *testing.T) {
	t.Parallel()
	args, addresses := []string{"up", "--dir", t.TempDir()}, map[string]string{}
	for _, of := range []string{"grpc", "rest", "monitoring", "http"} {
		address, err := process.FreeAddress()
		check.Must(t, err)
		args, addresses[of] = append(args, "--"+of+"-address="+address), address
	}
	rest := addresses["rest"]
	u := start(t, args...)
	u.until(t, "http://"+addresses["http"]+"/metrics")
	u.until(t, "Ctrl-C stops both")
	post(t, rest, "process-instances", `{"processDefinitionId":"SUB_06","variables":{"claimId":"CLM-001-1"}}`)
	submit := activate(t, rest, "submit-claim")
	post(t, rest, "jobs/"+submit+"/error", `{"errorCode":"FAILED","variables":{"submissionError":"INSURANCE_EXPIRED"}}`)
	post(t, rest, "jobs/"+activate(t, rest, "notify-team")+"/completion", `{}`)
	waits := u.until(t, "Task_CorrectData for registration")
	check.Must(t, u.Kill())

	u = start(t, args...)
	check.Same(t, waits, u.until(t, "Task_CorrectData"), "the task that waits")
	key := strings.Fields(waits)[0]
	post(t, rest, "user-tasks/"+key+"/completion", `{"variables":{"manualDecision":"RESUBMIT","justification":"carteira renovada"}}`)
	post(t, rest, "jobs/"+activate(t, rest, "submit-claim")+"/completion", `{}`)
	byItself, err := u.Stop(t.Context(), time.Minute)
	if !byItself || err != nil || u.Err() != nil {
		t.Errorf("ended by itself: %v, %v, %v", byItself, err, u.Err())
	}
}

func TestTheInsurerPlaysAClaimThatOneCommandStarts(t *testing.T) {
	t.Parallel()
	c, err := cluster.Start(cluster.Options{})
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, c.Stop()) })
	w := worker{binary: filepath.Join(binaries, "worker"), gateway: c.Address(), dir: t.TempDir()}
	check.Must(t, w.deploy(t.Context()))
	address, err := process.FreeAddress()
	check.Must(t, err)
	running, err := w.run(t.Context(), address)
	check.Must(t, err)
	t.Cleanup(func() { _ = running.Kill() })

	insurer := start(t, "insurer", "--address", c.Address())
	out, complaint, code := sandbox(t, t.TempDir(), nil,
		"claim", "--address", c.Address(), "CLM-001-1", "TIMEOUT", "INSURANCE_EXPIRED")
	check.Same(t, exitOK, code, "exit code (%s)", complaint)
	check.Contains(t, out, "CLM-001-1: process instance ")
	insurer.until(t, "CLM-001-1 Task_SubmitClaim: TIMEOUT")
	_, err = c.AwaitRecord(t.Context(), func(r cluster.Record) bool {
		return r.ValueType == "TIMER" && r.Intent == "CREATED" && bytes.Contains(r.Value, []byte("Event_WaitBackoff"))
	})
	check.Must(t, err)
	_, err = c.Advance(t.Context(), 10*time.Minute) // the first wait is 5, and its jitter
	check.Must(t, err)
	insurer.until(t, "CLM-001-1 Task_SubmitClaim: INSURANCE_EXPIRED")
	insurer.until(t, "CLM-001-1 Task_NotifyRegistration: OK")
	byItself, err := insurer.Stop(t.Context(), time.Minute)
	if !byItself || err != nil || insurer.Err() != nil {
		t.Errorf("ended by itself: %v, %v, %v", byItself, err, insurer.Err())
	}
}

func TestMistakesAreNamedWithTheirExitCode(t *testing.T) {
	dir := t.TempDir()
	claims := filepath.Join(dir, "claims.yaml")
	check.Must(t, os.WriteFile(claims, []byte(
		"- {claim: CLM-1-1, answers: [TIMEOUT], people: [ABANDON], end: ABANDONED}\n"), 0o600))
	unknown := filepath.Join(dir, "unknown.yaml")
	check.Must(t, os.WriteFile(unknown, []byte("- {claim: CLM-1-1, answer: [OK]}\n"), 0o600))
	doubled := filepath.Join(dir, "doubled.yaml")
	check.Must(t, os.WriteFile(doubled, []byte("- {claim: CLM-1-1, answers: [OK]}\n- {claim: CLM-1-1, answers: [OK]}\n"), 0o600))
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"up", "now"}, exitUsage, []string{`unknown command "now" for "sandbox up"`}},
		{[]string{"up", "--rest-address", "192.0.2.1:1"}, exitFailure, []string{"choose other addresses"}},
		{[]string{"demo", "--claims", doubled}, exitUsage, []string{`claim 2 of the file has no number, or that of another: "CLM-1-1"`}},
		{[]string{"demo", "--claims", "no-such.yaml"}, exitUsage, []string{"open no-such.yaml"}},
		{[]string{"demo", "--claims", unknown}, exitUsage, []string{"line 1: field answer not found"}},
		{[]string{"claim"}, exitUsage, []string{"requires at least 1 arg"}},
		{[]string{"claim", "--address", "127.0.0.1:1", "CLM-1-1"}, exitFailure, []string{"start the process of the claim CLM-1-1"}},
		{
			[]string{"demo", "--claims", claims, "--model", "../../examples/end-claim.bpmn"},
			exitUsage,
			[]string{`claim CLM-1-1: "ABANDON" is nothing that people do`, "nothing can fail"},
		},
	} {
		var out, complaint strings.Builder
		code := run(t.Context(), append(c.args, "--dir", t.TempDir()), &out, &complaint)
		check.Same(t, c.code, code, "exit code of %v", c.args)
		check.Contains(t, complaint.String(), c.says...)
	}
}

func TestDemoOfAnotherEndThanTheFilesFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	claims := filepath.Join(dir, "claims.yaml")
	check.Must(t, os.WriteFile(claims, []byte(
		"- {claim: CLM-1-1, answers: [INSURANCE_EXPIRED], end: SUBMITTED}\n"), 0o600))
	out, complaint, code := sandbox(t, dir, nil, "demo", "--claims", claims)
	check.Same(t, exitFailure, code, "exit code")
	check.Contains(t, out, "✗ it ended WITH registration, the file says SUBMITTED", "1 of 1 claims did not go")
	check.Contains(t, complaint, "the claim CLM-1-1 did not go")
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
