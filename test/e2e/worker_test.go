package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hospital.example/analyze-retry/internal/testing/process"
	"hospital.example/analyze-retry/test/suite"
)

// gateway returns the address by which the workers under test reach the scene's broker.
func (s *scene) gateway() string {
	if overREST(s.T) {
		return s.broker.RESTURL()
	}
	return s.broker.Address()
}

// workerCommand is the worker's binary with an environment of its own: nothing of the developer's shell
// reaches it.
func workerCommand(ctx context.Context, address string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = []string{
		"ZEEBE_ADDRESS=" + address, "ZEEBE_INSECURE_CONNECTION=true",
		"RETRY_MAX_CLOCK_SKEW=87600h", // the tests move the broker's clock through days of waiting
		"GORACE=atexit_sleep_ms=0",    // by default the race detector lets every process linger for a second
	}
	return cmd
}

// worker is a process of the worker under test.
type worker struct {
	*process.Process
	scene *scene
	log   string
	// address is host:port of its HTTP server, see [worker.http].
	address string
}

// startWorker starts a worker at the scene's broker, with further settings if there are any. What it decides it keeps with
// the broker's data, whose keys are in it. When the test ends it is stopped, and must then end well.
func (s *scene) startWorker(settings ...string) *worker {
	s.Helper()
	log, err := os.CreateTemp(logs, "worker-*.log")
	s.must(err)
	defer log.Close()
	w := &worker{scene: s, log: log.Name()}
	cmd := workerCommand(context.Background(), s.gateway(), "run")
	store := filepath.Join(s.broker.Dir(), "analyze-retry.db")
	cmd.Env = append(append(cmd.Env, "RETRY_HTTP_ADDRESS=127.0.0.1:0", "RETRY_DATABASE_URL=sqlite://"+store), settings...)
	cmd.Stdout, cmd.Stderr = log, log
	w.Process, err = process.Start(cmd)
	s.must(err)
	s.Cleanup(w.end)
	return w
}

// end stops the worker when its test is over.
func (w *worker) end() {
	if w.Alive() {
		w.stops()
	}
	if w.scene.Failed() {
		text, err := os.ReadFile(w.log)
		w.scene.Logf("the log of worker %d (%v) ends with:\n%s", w.PID(), err, text[max(0, len(text)-8<<10):])
	}
}

// stops sends SIGTERM and waits for the end, which must be a good one.
func (w *worker) stops() {
	w.scene.Helper()
	began := time.Now()
	ctx, cancel := suite.AfterTest()
	defer cancel()
	byItself, err := w.Stop(ctx, patience)
	if err = errors.Join(err, w.Err()); err != nil || !byItself {
		w.scene.Errorf("worker %d, %v after SIGTERM: ended by itself: %v, %v", w.PID(), time.Since(began), byItself, err)
	}
}

// stillRuns fails the test where the worker has ended.
func (w *worker) stillRuns() {
	w.scene.Helper()
	if !w.Alive() {
		w.scene.Errorf("worker %d is gone: %v", w.PID(), w.Err())
	}
}

// shows fails the test unless this is a line of the worker's metrics.
func (w *worker) shows(line string) {
	w.scene.Helper()
	ctx, cancel := w.scene.within(patience)
	defer cancel()
	if _, text := suite.Get(ctx, w.http(), "/metrics"); !slices.Contains(strings.Split(text, "\n"), line) {
		w.scene.Errorf("the metrics lack the line %q:\n%s", line, text)
	}
}

// http returns host:port of the worker's HTTP server, as the worker logs it at its start.
func (w *worker) http() string {
	w.scene.Helper()
	if w.address != "" {
		return w.address
	}
	var text []byte
	w.scene.until("the worker starts", func() bool {
		var err error
		text, err = os.ReadFile(w.log)
		w.scene.must(err)
		for line := range bytes.Lines(text) {
			var started struct{ Event, HTTPAddress string }
			if json.Unmarshal(line, &started) == nil && started.Event == "worker_started" {
				w.address = started.HTTPAddress
			}
		}
		return w.address != ""
	}, func() string { return string(text) })
	return w.address
}
