package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/internal/worker/contract"
)

const (
	// startTimeout bounds the wait for a worker that has just been started. A tenth of a second is usual.
	startTimeout = time.Minute
	// stopGrace is how long a worker may take to finish its jobs.
	stopGrace = 40 * time.Second
)

// worker is how the worker is run on a cluster.
type worker struct {
	binary  string
	gateway string
	// dir gets its log and, unless the caller's settings name another, its store.
	dir string
}

// newWorker returns the worker that was built next to this program.
func newWorker(gateway, dir string) (worker, error) {
	self, err := os.Executable()
	if err != nil {
		return worker{}, err
	}
	w := worker{filepath.Join(filepath.Dir(self), "worker"), gateway, dir}
	if _, err := os.Stat(w.binary); err != nil {
		return worker{}, fmt.Errorf("the worker is not built, call make build: %w", err)
	}
	return w, nil
}

// settings returns those of the caller's variables that reach the worker: its own (RETRY_*). An empty one
// counts as unset, as it does for the worker.
func settings() map[string]string {
	found := map[string]string{}
	for _, pair := range new(exec.Cmd).Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "RETRY_") && value != "" {
			found[name] = value
		}
	}
	return found
}

// analyses returns the job types of the worker's decisions.
func analyses() ([]string, error) {
	const name = "RETRY_JOB_TYPES"
	text := settings()[name]
	if text == "" {
		return []string{contract.JobType, contract.BackoffJobType}, nil
	}
	var read config.JobTypes
	if err := read.Decode(text); err != nil {
		return nil, badInput{fmt.Errorf("%s is %q: %w", name, text, err)}
	}
	var types []string
	for _, t := range read {
		types = append(types, t.Type)
	}
	return types, nil
}

const storeSetting = "RETRY_DATABASE_URL"

// ask returns a command line that asks the worker's store, to be pasted.
func (w worker) ask(args string) string {
	prefix := ""
	if settings()[storeSetting] == "" {
		prefix = storeSetting + "=" + w.store() + " "
	}
	return prefix + relative(w.binary) + " " + args
}

func (w worker) store() string { return "sqlite://" + filepath.Join(w.dir, "store.db") }

func (w worker) log() string { return filepath.Join(w.dir, "worker.log") }

// relative returns a path as it is seen from here, if it is below.
func relative(path string) string {
	here, err := os.Getwd()
	if err == nil {
		if short, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(short) {
			return short
		}
	}
	return path
}

// command returns a call of the worker for a cluster without TLS, with the caller's settings.
func (w worker) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.binary, args...)
	// The clock of the cluster is moved on purpose, by days too.
	cmd.Env = []string{"RETRY_MAX_CLOCK_SKEW=87600h", storeSetting + "=" + w.store()}
	for name, value := range settings() {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "ZEEBE_ADDRESS="+w.gateway, "ZEEBE_INSECURE_CONNECTION=true")
	return cmd
}

// deploy puts models on the cluster, the bundled ones if no file is given.
func (w worker) deploy(ctx context.Context, files ...string) error {
	if out, err := w.command(ctx, append([]string{"deploy"}, files...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("deploy the models: %w:\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// run starts a worker and returns when it is ready.
func (w worker) run(ctx context.Context, httpAddress string) (*process.Process, error) {
	cmd := w.command(context.WithoutCancel(ctx), "run")
	cmd.Env = append(cmd.Env, "RETRY_HTTP_ADDRESS="+httpAddress)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	running, err := process.Serve(ctx, cmd, w.log(), func(ctx context.Context) bool { return isReady(ctx, httpAddress) })
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
