package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/process"
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
		return "", errors.New("the worker is built from its source: call this in the project's directory")
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

// workerCommand returns a call of the worker for a broker without TLS, with the caller's settings.
func workerCommand(ctx context.Context, binary, gateway, subcommand string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, subcommand)
	// The clock of this broker is moved on purpose, by days too.
	cmd.Env = append([]string{"RETRY_MAX_CLOCK_SKEW=87600h"}, callersSettings()...)
	cmd.Env = append(cmd.Env, "ZEEBE_ADDRESS="+gateway, "ZEEBE_INSECURE_CONNECTION=true")
	return cmd
}

// callersSettings returns those of the caller's variables that reach the worker: its own (RETRY_*). An empty one counts as
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

// storeOf is the setting that names the worker's store in the broker's directory.
func storeOf(broker devbroker.State) string {
	return storeSetting + "sqlite://" + filepath.Join(broker.Dir, "analyze-retry.db")
}

// deployModels runs `worker deploy`, which puts the bundled models on the broker.
func deployModels(ctx context.Context, binary, gateway string) error {
	if out, err := workerCommand(ctx, binary, gateway, "deploy").CombinedOutput(); err != nil {
		return fmt.Errorf("deploy the models: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// runWorker starts a worker that outlives us if it is detached, and returns when it is ready. Its log is appended to
// the file. Unless the caller's settings name another store, its decisions are kept with the broker's data and removed with
// it: they are known by the broker's keys, which start again on an empty broker.
func runWorker(ctx context.Context, w workerState, broker *devbroker.Broker, logPath string, detach bool) (*process.Process, error) {
	cmd := workerCommand(context.WithoutCancel(ctx), w.Binary, broker.Address(), "run")
	if !callerKeepsStore() {
		cmd.Env = append(cmd.Env, storeOf(broker.State()))
	}
	cmd.Env = append(cmd.Env, "RETRY_HTTP_ADDRESS="+w.HTTPAddress)
	ctx, cancel := context.WithTimeout(ctx, workerStartTimeout)
	defer cancel()
	running, err := process.Serve(ctx, cmd, logPath, detach, func(ctx context.Context) bool { return isReady(ctx, w.HTTPAddress) })
	if err != nil {
		return nil, fmt.Errorf("start the worker: %w", err)
	}
	return running, nil
}

// isReady reports whether the worker at an address says that it is ready.
func isReady(ctx context.Context, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
