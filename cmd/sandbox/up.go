package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/testing/devbroker"
)

// upOptions are the flags of `up`.
type upOptions struct {
	version        string
	gatewayPort    int
	monitoringPort int
	httpAddress    string
	fresh          bool
	say            func(line string)
}

func newUp() *cobra.Command {
	var o upOptions
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a broker and the worker and leave them running",
		Long: `Starts a Zeebe broker, puts the bundled models on it, starts the worker, and leaves
both running. What already runs is left alone. The broker's data and the worker's
decisions stay from one time to the next. An engine in Camunda's test gateway
(8.7 and later) starts empty each time.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.say = func(line string) { fmt.Fprintln(command.OutOrStdout(), line) }
			return up(command.Context(), o, command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.version, "zeebe", devbroker.VersionFromEnv(), "the broker's version")
	flags.IntVar(&o.gatewayPort, "gateway-port", 26500, "where the broker's gateway listens, 0 for any free port")
	flags.IntVar(&o.monitoringPort, "monitoring-port", 9600, "where the broker's metrics and clock are, 0 for any free port")
	flags.StringVar(&o.httpAddress, "http-address", "127.0.0.1:8080", "where the worker's metrics are")
	flags.BoolVar(&o.fresh, "fresh", false, "start on an empty broker: forget the data of the last time, the worker's decisions too unless RETRY_DATABASE_URL names their store")
	return command
}

// up starts what does not run yet.
func up(ctx context.Context, o upOptions, out io.Writer) error {
	s, err := load()
	if err != nil {
		return err
	}
	broker := s.broker()
	if broker.Alive() && s.Worker.process().Alive() {
		fmt.Fprintln(out, "It is already up.")
		printUp(out, s)
		return nil
	}
	// A worker whose broker has gone would take up the new one, but it may be an old build.
	if _, err := s.Worker.process().Stop(ctx, workerStopGrace); err != nil {
		return err
	}
	if s.Worker, err = newWorker(ctx, o); err != nil {
		return err
	}
	if !broker.Alive() {
		if broker, err = startBroker(ctx, o); err != nil {
			return err
		}
		s.Broker = broker.State()
		// Saved at once: whatever fails from here on, `down` finds the broker.
		if err := s.save(); err != nil {
			return errors.Join(err, broker.Kill())
		}
	}
	o.say("deploying the models ...")
	if err := deployModels(ctx, s.Worker.Binary, broker.Address()); err != nil {
		return brokerStays(err)
	}
	o.say("starting the worker; it is ready when the broker is, up to a minute after its clock was moved ...")
	dir, err := home()
	if err != nil {
		return err
	}
	running, err := runWorker(ctx, s.Worker, broker, filepath.Join(dir, "worker.log"), true)
	if err != nil {
		return brokerStays(err)
	}
	s.Worker.PID = running.PID()
	if err := s.save(); err != nil {
		return errors.Join(err, running.Kill())
	}
	printUp(out, s)
	return nil
}

// brokerStays adds to an error what it leaves running.
func brokerStays(err error) error {
	return fmt.Errorf("%w\nThe broker stays up: try again, or stop it with `make down`", err)
}

// newWorker builds the worker and sees whether its address is free, before anything is started.
func newWorker(ctx context.Context, o upOptions) (workerState, error) {
	listener, err := net.Listen("tcp", o.httpAddress)
	if err != nil {
		return workerState{}, fmt.Errorf("the worker cannot listen on %s, choose another --http-address: %w", o.httpAddress, err)
	}
	_ = listener.Close()
	o.say("building the worker ...")
	binary, err := buildWorker(ctx)
	return workerState{Binary: binary, HTTPAddress: o.httpAddress}, err
}

func startBroker(ctx context.Context, o upOptions) (*devbroker.Broker, error) {
	dir, err := home()
	if err != nil {
		return nil, err
	}
	// Each version has its own data: an older broker cannot read what a newer one wrote.
	dir = filepath.Join(dir, "zeebe-"+o.version)
	// An engine in memory starts empty, and numbers its jobs from the start again: decisions of the last time would be taken for theirs.
	if o.fresh || devbroker.InMemory(o.version) {
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("forget the broker's data: %w", err)
		}
	}
	return devbroker.Start(ctx, devbroker.Options{
		Version: o.version, Dir: dir, GatewayPort: o.gatewayPort, MonitoringPort: o.monitoringPort,
		Records: true, // for `tasks`: a broker alone has no other list of user tasks
		Detach:  true, Progress: o.say,
	})
}

func printUp(out io.Writer, s sandbox) {
	broker := s.broker()
	fmt.Fprintf(out, `
  Zeebe %s gateway   %s   (plaintext; ZEEBE_INSECURE_CONNECTION=true)
                        a worker of yours: RETRY_MAX_CLOCK_SKEW=87600h, for the clock is moved
  its REST API          %s
  broker's monitoring   %s
  worker's metrics      http://%s/metrics
  logs and data         %s
%s
  bin/sandbox skip 10m   move the broker's clock, so that timers fire
  bin/sandbox tasks      list the user tasks that wait for a person
  bin/sandbox complete KEY '{"manualDecision":"ABANDON","justification":"..."}'
  make down              stop both
`, s.Broker.Version, broker.Address(), broker.RESTURL(), broker.MonitoringURL(), s.Worker.HTTPAddress, filepath.Dir(s.Broker.Dir), storeHint(s.Broker))
	if zbctl := devbroker.Zbctl(s.Broker.Version); zbctl != "" {
		fmt.Fprintf(out, `
  A claim by hand, with the command line client that comes with the broker:

  alias zbctl='%s --insecure --address %s'
  zbctl create instance SUB_06 --variables '{"claimId":"CLM-001-1"}'
  zbctl activate jobs submit-claim     # you are the insurer; note the job's key
  zbctl throwError job KEY --errorCode FAILED --variables '{"submissionError":"TIMEOUT"}'
  bin/sandbox skip 6m                  # the wait is over: activate submit-claim again
`, zbctl, broker.Address())
	}
}

// storeHint is how the commands of the worker find its store, empty where the settings name one already.
func storeHint(broker devbroker.State) string {
	if callerKeepsStore() {
		return ""
	}
	return "\n  export " + storeOf(broker) + "\n  bin/worker history CLM-001-1   what the worker decided about a claim\n"
}

func newDown() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop what `up` started; the broker's data stays",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return down(command.Context(), command.OutOrStdout()) },
	}
}

// down stops the worker first, so that it can release its jobs.
func down(ctx context.Context, out io.Writer) error {
	s, err := load()
	if err != nil {
		return err
	}
	worker, broker := s.Worker.process(), s.broker()
	if !worker.Alive() && !broker.Alive() {
		fmt.Fprintln(out, "Nothing is running.")
		return nil
	}
	if worker.Alive() {
		byItself, err := worker.Stop(ctx, workerStopGrace)
		if err != nil {
			return errors.Join(err, broker.Stop(ctx))
		}
		how := "Stopped"
		if !byItself {
			how = fmt.Sprintf("After %s killed", workerStopGrace)
		}
		fmt.Fprintf(out, "%s the worker (process %d).\n", how, worker.PID())
	}
	if err := broker.Stop(ctx); err != nil {
		return err
	}
	stays := "Its data stays in " + s.Broker.Dir + "."
	if s.Broker.InMemory {
		stays = "Its data was in memory and is gone."
	}
	fmt.Fprintf(out, "Stopped the broker (%s). %s\n", broker.Address(), stays)
	return nil
}
