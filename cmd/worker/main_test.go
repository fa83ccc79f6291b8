package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

// asWorker makes the test binary be the worker, so that a test can start, signal and outlive it.
const asWorker = "BE_THE_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// process is a worker that runs as a process of its own.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Scanner // of its standard output
	stdout bytes.Buffer   // what was read of it
	stderr bytes.Buffer
}

func start(t *testing.T, args []string, settings ...string) *process {
	t.Helper()
	// Less than the 45 s after which the system takes a lease away, or a start that hangs on one would go on.
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	t.Cleanup(cancel)
	p := &process{t: t, cmd: exec.CommandContext(ctx, os.Args[0], args...)}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "RETRY_") && !strings.HasPrefix(entry, "ZEEBE_") && !strings.HasPrefix(entry, "CAMUNDA_") {
			p.cmd.Env = append(p.cmd.Env, entry)
		}
	}
	p.cmd.Env = append(p.cmd.Env, asWorker+"=1", "RETRY_HTTP_ADDRESS=127.0.0.1:0", "ZEEBE_INSECURE_CONNECTION=true",
		"RETRY_DATABASE_URL=sqlite://"+filepath.Join(t.TempDir(), "retry.db"))
	p.cmd.Env = append(p.cmd.Env, settings...)
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	check.Must(t, err)
	p.lines = bufio.NewScanner(io.TeeReader(stdout, &p.stdout))
	check.Must(t, p.cmd.Start())
	return p
}

// await reads the log up to the line of an event and returns that line.
func (p *process) await(event string) map[string]any {
	p.t.Helper()
	for p.lines.Scan() {
		var line map[string]any
		if err := json.Unmarshal(p.lines.Bytes(), &line); err != nil {
			p.t.Fatalf("a line of the log is no JSON object: %s", p.lines.Text())
		}
		if line["event"] == event {
			return line
		}
	}
	p.t.Fatalf("the log ended without %s; %v, complaints: %s", event, p.cmd.Wait(), p.stderr.String())
	return nil
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	check.Must(p.t, p.cmd.Process.Signal(s))
}

// end waits for the process to end and returns how, "exit status 1" or "signal: terminated"; "" is exit code 0.
func (p *process) end() string {
	p.t.Helper()
	for p.lines.Scan() {
		continue // the rest of the log: Wait must not close the pipe before
	}
	err := p.cmd.Wait()
	if err == nil {
		return ""
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.String()
	}
	p.t.Fatal(err)
	return ""
}

func gateway(t *testing.T) (g *enginetest.Gateway, setting string) {
	t.Helper()
	g = enginetest.New()
	t.Cleanup(g.Close)
	address, err := g.Listen()
	check.Must(t, err)
	return g, "ZEEBE_ADDRESS=" + address
}

func addJob(g *enginetest.Gateway, claim int) {
	g.Add(enginetest.Job{Type: "analyze-retry", Variables: fmt.Sprintf(
		`{"claimId":"CLM-001-%d","submissionError":"TIMEOUT","retryCount":0}`, claim)})
}

func TestTheFirstSignalStopsTheWorkerInOrder(t *testing.T) {
	g, setting := gateway(t)
	addJob(g, 1)
	p := start(t, nil, setting, "RETRY_WORKER_NAME=billing-1", "TZ=America/Sao_Paulo")
	check.Same(t, "billing-1", p.await("worker_started")["workerName"], "workerName")
	line := p.await("retry_scheduled")
	if line["claimId"] != "CLM-001-1" || line["level"] != "info" || line["errorClassification"] != "TRANSIENT" {
		t.Errorf("retry_scheduled says %v", line)
	}
	if when, err := time.Parse(time.RFC3339, fmt.Sprint(line["timestamp"])); err != nil || when.Location() != time.UTC {
		t.Errorf("the timestamp is %v: %v", line["timestamp"], err)
	}
	p.signal(syscall.SIGTERM)
	p.await("worker_stopping")
	p.await("worker_stopped")
	if how := p.end(); how != "" || p.stderr.Len() > 0 {
		t.Errorf("ended with %q, complaints: %s", how, p.stderr.String())
	}
	if c := g.Counts(); c.Locked > 0 {
		t.Errorf("jobs stay locked: %+v", c)
	}
}

func TestASecondSignalEndsTheWorkerAtOnce(t *testing.T) {
	g, setting := gateway(t)
	g.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Hang: true})
	g.Inject(enginetest.FailJob, enginetest.Fault{Times: -1, Hang: true})
	addJob(g, 1)
	p := start(t, []string{"run"}, setting, "RETRY_SHUTDOWN_TIMEOUT=5m", "RETRY_JOB_TIMEOUT=10m")
	p.await("retry_scheduled")
	p.signal(syscall.SIGTERM)
	p.await("worker_stopping") // and now it waits for the answer that hangs
	p.signal(syscall.SIGTERM)
	check.Same(t, "signal: terminated", p.end(), "how it ended")
}

func TestAFaultyConfigurationEndsWithExitCode2(t *testing.T) {
	p := start(t, nil, "RETRY_LOG_LEVEL=loud", "RETRY_MAX_JOBS=1")
	if how := p.end(); how != "exit status 2" || strings.Count(p.stderr.String(), "error    settings ") != 2 {
		t.Errorf("ended with %q, complaints: %s", how, p.stderr.String())
	}
}
