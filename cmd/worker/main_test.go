package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
	// Nothing of the caller's environment reaches it: that may name a store in production.
	p.cmd.Env = append([]string{
		asWorker + "=1", "RETRY_HTTP_ADDRESS=127.0.0.1:0", "ZEEBE_INSECURE_CONNECTION=true",
		"RETRY_DATABASE_URL=sqlite://" + filepath.Join(t.TempDir(), "retry.db"),
	}, settings...)
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

// end waits for the process to end and returns how, as "exit status 1" or "signal: terminated".
func (p *process) end() string {
	p.t.Helper()
	for p.lines.Scan() {
		continue // the rest of the log: Wait must not close the pipe before
	}
	_ = p.cmd.Wait() // what it says is the state, too
	return p.cmd.ProcessState.String()
}

func gateway(t *testing.T) (g *enginetest.Gateway, setting string) {
	t.Helper()
	g = enginetest.New()
	t.Cleanup(g.Close)
	address, err := g.Listen()
	check.Must(t, err)
	return g, "ZEEBE_ADDRESS=" + address
}

func addJob(g *enginetest.Gateway) {
	g.Add(enginetest.Job{Type: "analyze-retry", Variables: `{"claimId":"CLM-001-1","submissionError":"TIMEOUT","retryCount":0}`})
}

func TestTheFirstSignalStopsTheWorkerInOrder(t *testing.T) {
	_, setting := gateway(t)
	p := start(t, nil, setting, "RETRY_WORKER_NAME=billing-1")
	check.Same(t, "billing-1", p.await("worker_started")["workerName"], "workerName")
	p.signal(syscall.SIGTERM)
	p.await("worker_stopping")
	p.await("worker_stopped")
	check.Same(t, "exit status 0", p.end(), "how it ended")
	check.Same(t, "", p.stderr.String(), "complaints")
}

func TestASecondSignalEndsTheWorkerAtOnce(t *testing.T) {
	g, setting := gateway(t)
	g.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Hang: true})
	g.Inject(enginetest.FailJob, enginetest.Fault{Times: -1, Hang: true})
	addJob(g)
	p := start(t, []string{"run"}, setting, "RETRY_SHUTDOWN_TIMEOUT=5m", "RETRY_JOB_TIMEOUT=10m")
	p.await("retry_scheduled")
	p.signal(syscall.SIGTERM)
	p.await("worker_stopping") // and now it waits for the answer that hangs
	p.signal(syscall.SIGTERM)
	check.Same(t, "signal: terminated", p.end(), "how it ended")
}
