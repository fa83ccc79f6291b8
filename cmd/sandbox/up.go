package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/engine/gateway"
	"hospital.example/analyze-retry/internal/testing/process"
)

// home is a directory with what `up` has started: the engine's data, logs, and a file that says what runs.
type home struct {
	dir    string
	Engine struct {
		PID int               `json:"pid"`
		At  gateway.Addresses `json:"at"`
	} `json:"engine"`
	Worker struct {
		PID         int    `json:"pid"`
		Binary      string `json:"binary"`
		HTTPAddress string `json:"httpAddress"`
	} `json:"worker"`
}

// open returns what was started last in a directory.
func open(dir string) (*home, error) {
	h := &home{dir: filepath.Join(dir, "sandbox")}
	raw, err := os.ReadFile(h.file())
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, h)
	}
	if err != nil {
		return nil, fmt.Errorf("read what is running from %s: %w", h.file(), err)
	}
	return h, nil
}

func (h *home) file() string { return filepath.Join(h.dir, "state.json") }

// save keeps what runs for the commands that come later.
func (h *home) save() error {
	raw, err := json.MarshalIndent(h, "", "  ")
	if err == nil {
		err = os.WriteFile(h.file(), raw, 0o600)
	}
	return err
}

// engine and worker are the processes, which may have ended. The directory is in the command line of the
// engine.
func (h *home) engine() *process.Process { return process.Attach(h.Engine.PID, h.dir) }
func (h *home) worker() *process.Process { return process.Attach(h.Worker.PID, h.Worker.Binary) }

func (h *home) cluster() *cluster.Cluster { return cluster.Attach(dataOf(h.dir), h.Engine.At) }

// dataOf returns where the data of an engine is.
func dataOf(dir string) string { return filepath.Join(dir, "engine") }

// running returns the engine that `up` has started.
func running(dir string) (*cluster.Cluster, error) {
	h, err := open(dir)
	if err != nil {
		return nil, err
	}
	if !h.engine().Alive() {
		return nil, errors.New("nothing is running: start it with `make up`")
	}
	return h.cluster(), nil
}

// addressFlags are the flags of `serve`, and some of `up`.
func addressFlags(command *cobra.Command, at *gateway.Addresses) {
	flags := command.Flags()
	flags.StringVar(&at.GRPC, "grpc-address", "127.0.0.1:26500", "where the engine's gRPC gateway is")
	flags.StringVar(&at.REST, "rest-address", "127.0.0.1:8088", "where its REST API is")
	flags.StringVar(&at.Monitoring, "monitoring-address", "127.0.0.1:9600", "where its clock and its metrics are")
}

func newServe(dir *string) *cobra.Command {
	var at gateway.Addresses
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run an engine of this project, alone and in the foreground",
		Args:  cobra.NoArgs,
		Long: `Runs an engine of this project until it is interrupted. Its data is in --dir: killed and
started again, it goes on where it was. It says where it listens.`,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := cluster.Start(cluster.Options{Dir: dataOf(*dir), At: at})
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "gRPC %s, REST %s, clock and metrics %s\n",
				c.Address(), c.RESTURL(), c.MonitoringURL())
			<-command.Context().Done()
			return c.Stop()
		},
	}
	addressFlags(command, &at)
	return command
}

func newUp(dir *string) *cobra.Command {
	var at gateway.Addresses
	var httpAddress string
	command := &cobra.Command{
		Use:   "up",
		Short: "Start an engine of this project and the worker and leave them running",
		Args:  cobra.NoArgs,
		Long: `Starts an engine of this project, puts the bundled models on it, starts the worker, and
leaves both running. What already runs is left alone. The engine's data and the
worker's decisions stay from one time to the next.`,
		RunE: func(command *cobra.Command, _ []string) error {
			h, err := open(*dir)
			if err != nil {
				return err
			}
			return h.up(command.Context(), at, httpAddress, command.OutOrStdout())
		},
	}
	addressFlags(command, &at)
	command.Flags().StringVar(&httpAddress, "http-address", "127.0.0.1:8080", "where the worker's metrics are")
	return command
}

// up starts what does not run yet.
func (h *home) up(ctx context.Context, at gateway.Addresses, httpAddress string, out io.Writer) error {
	if h.engine().Alive() && h.worker().Alive() {
		fmt.Fprintln(out, "It is already up.")
		h.describe(out)
		return nil
	}
	// A worker whose engine has gone would take up the new one, but it may be an old build.
	if _, err := h.worker().Stop(ctx, stopGrace); err != nil {
		return err
	}
	if err := free(httpAddress); err != nil {
		return err
	}
	if !h.engine().Alive() {
		if err := h.startEngine(ctx, at); err != nil {
			return err
		}
	}
	w, err := newWorker(h.Engine.At.GRPC, h.dir)
	if err != nil {
		return err
	}
	if err := w.deploy(ctx); err != nil {
		return fmt.Errorf("%w\nThe engine stays up: try again, or stop it with `make down`", err)
	}
	running, err := w.run(ctx, httpAddress, true)
	if err != nil {
		return fmt.Errorf("%w\nThe engine stays up: try again, or stop it with `make down`", err)
	}
	h.Worker.PID, h.Worker.Binary, h.Worker.HTTPAddress = running.PID(), w.binary, httpAddress
	if err := h.save(); err != nil {
		return errors.Join(err, running.Kill())
	}
	h.describe(out)
	return nil
}

// free returns an error where something listens on one of these addresses.
func free(addresses ...string) error {
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("choose another address (see sandbox up --help): %w", err)
		}
		_ = listener.Close()
	}
	return nil
}

// startEngine starts an engine as a process of its own.
func (h *home) startEngine(ctx context.Context, at gateway.Addresses) error {
	if err := free(at.GRPC, at.REST, at.Monitoring); err != nil {
		return err
	}
	if err := os.MkdirAll(h.dir, 0o750); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{
		"serve", "--dir", h.dir,
		"--grpc-address", at.GRPC, "--rest-address", at.REST, "--monitoring-address", at.Monitoring,
	}
	h.Engine.At = at
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, args...)
	isReady := func(ctx context.Context) bool {
		_, err := h.cluster().Now(ctx)
		return err == nil
	}
	running, err := process.Serve(ctx, cmd, filepath.Join(h.dir, "engine.log"), true, isReady)
	if err != nil {
		return fmt.Errorf("start the engine: %w", err)
	}
	h.Engine.PID = running.PID()
	// Saved at once: whatever fails from here on, `down` finds the engine.
	if err := h.save(); err != nil {
		return errors.Join(err, running.Kill())
	}
	return nil
}

func (h *home) describe(out io.Writer) {
	w := worker{h.Worker.Binary, h.Engine.At.GRPC, h.dir}
	rest := h.Engine.At.REST + "/v2"
	fmt.Fprintf(out, `
  gRPC gateway        %s   plaintext; for a worker of yours: ZEEBE_INSECURE_CONNECTION=true
                      RETRY_MAX_CLOCK_SKEW=87600h, for the clock is moved
  REST API            http://%s
  clock               http://%s/actuator/clock
  worker's metrics    http://%s/metrics
  logs and data       %s

  bin/sandbox tasks      list the user tasks that wait for a person
  make down              stop both

  A claim by hand; you are the insurer:

  curl %s/process-instances -d '{"processDefinitionId":"SUB_06","variables":{"claimId":"CLM-001-1"}}'
  curl %s/jobs/activation -d '{"type":"submit-claim","timeout":600000,"maxJobsToActivate":1}'
  curl %s/jobs/KEY/error -d '{"errorCode":"FAILED","variables":{"submissionError":"TIMEOUT"}}'
  curl http://%s/actuator/clock/add -d '{"offsetMilli":600000}'
      # the wait is over: activate submit-claim again
  curl %s/user-tasks/KEY/completion -d '{"variables":{"manualDecision":"ABANDON","justification":"..."}}'
  %s
`, h.Engine.At.GRPC, h.Engine.At.REST, h.Engine.At.Monitoring, h.Worker.HTTPAddress, h.dir,
		rest, rest, rest, h.Engine.At.Monitoring, rest, w.ask("history CLM-001-1"))
}

func newDown(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop what `up` started; the data stays",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			h, err := open(*dir)
			if err != nil {
				return err
			}
			return h.down(command.Context(), command.OutOrStdout())
		},
	}
}

// down stops the worker first, so that it can release its jobs.
func (h *home) down(ctx context.Context, out io.Writer) error {
	if !h.worker().Alive() && !h.engine().Alive() {
		fmt.Fprintln(out, "Nothing is running.")
		return nil
	}
	_, workerErr := h.worker().Stop(ctx, stopGrace)
	_, err := h.engine().Stop(ctx, 10*time.Second)
	if err := errors.Join(workerErr, err); err != nil {
		return err
	}
	fmt.Fprintf(out, "Stopped the worker and the engine. Their data stays in %s.\n", h.dir)
	return nil
}
