package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"time"

	"hospital.example/analyze-retry/internal/testing/process"
)

// Program is a worker's binary with its settings, each NAME=value, of which the last of a name counts. Nothing of the caller's
// environment reaches it: that may name a store in production.
type Program struct {
	Path     string
	Settings []string
}

// NewProgram is a binary at a cluster, with these settings.
func NewProgram(path, gateway string, settings ...string) Program {
	return Program{path, append([]string{
		"ZEEBE_ADDRESS=" + gateway,
		"ZEEBE_INSECURE_CONNECTION=true",
		"GORACE=atexit_sleep_ms=0", // by default the race detector lets every process linger for a second
	}, settings...)}
}

// Command is a call of the program.
func (p Program) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = p.Settings
	return cmd
}

// Says runs a command, and returns its exit code and all that it prints.
func (p Program) Says(ctx context.Context, args ...string) (code int, text string, err error) {
	cmd := p.Command(ctx, args...)
	out, err := cmd.CombinedOutput()
	if _, is := errors.AsType[*exec.ExitError](err); is {
		err = nil
	}
	return cmd.ProcessState.ExitCode(), string(out), err
}

// Worker is a process that works jobs.
type Worker struct {
	*process.Process
	HTTP string // where its HTTP server is, host:port
	Log  string // the file with all that it prints
}

// Start starts a worker, and returns when its HTTP server answers. It outlives ctx, so that it can release its jobs.
func (p Program) Start(ctx context.Context, log string, settings ...string) (*Worker, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	w := &Worker{HTTP: address, Log: log}
	cmd := p.Command(context.WithoutCancel(ctx), "run")
	cmd.Env = slices.Concat(p.Settings, []string{"RETRY_HTTP_ADDRESS=" + address}, settings)
	w.Process, err = process.Serve(ctx, cmd, log, func(ctx context.Context) bool {
		status, _ := w.Get(ctx, "/healthz")
		return status != 0
	})
	if err != nil {
		return nil, fmt.Errorf("start the worker: %w", err)
	}
	return w, nil
}

// stopGrace is how long a worker may take to end after SIGTERM. It has limits of its own, and ends with exit code 1 when it
// keeps to one of them.
const stopGrace = 50 * time.Second

// Stop ends the worker with SIGTERM. It must end by itself, with exit code 0.
func (w *Worker) Stop() error {
	return errors.Join(w.Process.Stop(stopGrace), w.Err())
}

// Get asks the worker's HTTP server once. The status is 0 where it does not answer, and the text says why.
func (w *Worker) Get(ctx context.Context, path string) (status int, text string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.HTTP+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	request.Close = true // a connection that is kept would outlive the test
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}
