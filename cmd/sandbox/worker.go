package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/devbroker/process"
)

const (
	// workerStartTimeout bounds the wait for a worker that has just been started. A tenth of a second is usual, but a
	// broker whose clock was moved calls itself unhealthy for up to a minute, and the worker is not ready so long.
	workerStartTimeout = 90 * time.Second
	// workerStopGrace is how long a worker may take to finish its jobs.
	workerStopGrace = 40 * time.Second
)

// buildWorker builds the worker from the project's source and returns the path of the binary.
func buildWorker(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "hospital.example/analyze-retry").Output()
	if err != nil {
		return "", errors.New("the worker is built from its source: call this in the project's directory, or name a built worker with --worker")
	}
	dir := strings.TrimSpace(string(root))
	binary := filepath.Join(dir, "bin", "sandbox-worker") // not bin/worker, which `make build` gives a version
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "./cmd/worker")
	build.Dir = dir
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the worker: %w\n%s", err, bytes.TrimSpace(out))
	}
	return binary, nil
}

// workerCommand is a call of the worker for a broker without TLS, with the caller's settings.
func workerCommand(ctx context.Context, binary, gateway, subcommand string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, subcommand)
	// The clock of this broker is moved on purpose, by days too.
	cmd.Env = append([]string{"RETRY_MAX_CLOCK_SKEW=87600h"}, callersSettings()...)
	cmd.Env = append(cmd.Env, "ZEEBE_ADDRESS="+gateway, "ZEEBE_INSECURE_CONNECTION=true")
	return cmd
}

// callersSettings are those of the caller's variables that reach the worker: its own (RETRY_*). An empty one counts as
// unset, as it does for the worker.
func callersSettings() (pairs []string) {
	for _, pair := range new(exec.Cmd).Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "RETRY_") && value != "" {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// callerKeepsStore reports whether the caller's settings name the worker's store, which is then not ours to remove.
func callerKeepsStore() bool {
	return slices.ContainsFunc(callersSettings(), func(pair string) bool { return strings.HasPrefix(pair, storeSetting) })
}

const storeSetting = "RETRY_DATABASE_URL="

// deployModels lets the worker put its bundled models on the broker.
func deployModels(ctx context.Context, binary, gateway string) error {
	if out, err := workerCommand(ctx, binary, gateway, "deploy").CombinedOutput(); err != nil {
		return fmt.Errorf("deploy the models: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// runWorker starts a worker that outlives us if it is detached, and returns when it is ready. Its log is appended to
// the file. What it has decided lies with the broker's data, and goes with it, unless the caller's settings name
// another store: what it is known by are the broker's keys, which start again on an empty broker.
func runWorker(ctx context.Context, w workerState, broker *devbroker.Broker, logPath string, detach bool) (*process.Process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the worker's log: %w", err)
	}
	defer log.Close()
	cmd := workerCommand(context.WithoutCancel(ctx), w.Binary, broker.Address(), "run")
	if !callerKeepsStore() {
		cmd.Env = append(cmd.Env, storeSetting+"sqlite://"+filepath.Join(broker.State().Dir, "analyze-retry.db"))
	}
	cmd.Env = append(cmd.Env, "RETRY_HTTP_ADDRESS="+w.HTTPAddress)
	cmd.Stdout, cmd.Stderr = log, log
	running, err := process.Start(cmd, detach)
	if err != nil {
		return nil, fmt.Errorf("start the worker: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, workerStartTimeout)
	defer cancel()
	if err := awaitWorker(ctx, running, w.HTTPAddress); err != nil {
		return nil, errors.Join(fmt.Errorf("%w; its log is %s", err, logPath), running.Kill())
	}
	return running, nil
}

// awaitWorker returns when the worker says that it is ready.
func awaitWorker(ctx context.Context, running *process.Process, address string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if !running.Alive() {
			return fmt.Errorf("the worker ended before it was ready: %w", running.Err())
		}
		if isReady(ctx, address) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the worker is not ready: %w", ctx.Err())
		}
	}
}

func isReady(ctx context.Context, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
