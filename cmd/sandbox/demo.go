package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/cmd/sandbox/demo"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/term"
	"hospital.example/analyze-retry/internal/testing/devbroker"
	"hospital.example/analyze-retry/internal/testing/process"
)

// tearDownTimeout bounds the time it takes to stop everything.
const tearDownTimeout = time.Minute

// demoOptions are the flags of `demo`.
type demoOptions struct {
	version, claims string
	json            bool
}

func newDemo() *cobra.Command {
	var o demoOptions
	command := &cobra.Command{
		Use:   "demo",
		Short: "Play sample claims on a real broker with the worker",
		Long: `Starts a broker of its own and the worker, brings each claim of a file to its end,
and shows what happened to it, as the broker's records have it. The insurer and
the people are played by the demo, from the file; the broker's clock is moved
through the waits. At the end both are stopped and the broker's data is removed,
and with it what the worker decided, unless RETRY_DATABASE_URL names its store.

The file is a CSV with one row for each claim; a cell may hold several lines:
  claim     its number
  shows     what it is there to show
  answers   the insurer's answer to each submission, one a line: the text of an
            error, EMPTY for an error without a text, or OK
  outcomes  what must become of each: OK, TRANSIENT, UNKNOWN, PERMANENT_ERROR,
            MAX_RETRIES_EXCEEDED, INCIDENT; "INCIDENT, TRANSIENT" if resolved
  people    what people do, one act a line:
            billing|registration RESUBMIT <why>, billing|registration ABANDON,
            operator <variable>=<value> (corrects it, resolves the incident)
  end       how it must end: SUBMITTED, ABANDONED or INCIDENT (left as one)

Exit codes: 0 all claims went as the file says, 1 one did not or the demo broke
off, 2 wrong arguments or a faulty file, 130 interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return demonstrate(command.Context(), o, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.version, "zeebe", devbroker.VersionFromEnv(), "the broker's version")
	flags.StringVar(&o.claims, "claims", "examples/claims.csv", "the file with the claims")
	flags.BoolVar(&o.json, "json", false, "print the result as one JSON object; progress goes to standard error")
	return command
}

// demonstrate plays the claims and prints the result to out; how far it is goes to progress.
func demonstrate(ctx context.Context, o demoOptions, out, progress io.Writer) error {
	claims, err := readClaims(o.claims)
	if err != nil {
		return err
	}
	s := &stage{say: func(line string) { fmt.Fprintln(progress, line) }}
	run, err := s.perform(ctx, o, claims, progress)
	// Everything is stopped before something is printed: the reader may stop reading (`| head`).
	summary, stopErr := s.tearDown(context.WithoutCancel(ctx))
	if err = errors.Join(err, stopErr); err == nil {
		err = printRun(out, run, o.json)
	}
	if summary != "" {
		s.say(summary)
	}
	if failed := run.Failed(); err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d claims did not go as %s says", failed, len(claims), o.claims)
	}
	return err
}

func printRun(out io.Writer, run demo.Run, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(out, "\n%s\n%s", demo.Table(run.Results), run.Summary())
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false) // SOAP faults stay readable
	return encoder.Encode(run.Document())
}

func readClaims(path string) ([]script.Claim, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the claims (--claims names another file): %w", err)
	}
	defer file.Close()
	claims, err := script.Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be played:\n%w", path, err)
	}
	return claims, nil
}

// stage is the broker and the worker of one demo.
type stage struct {
	say func(line string)

	dir     string // of the broker's data
	broker  *devbroker.Broker
	worker  *process.Process
	logPath string // of the worker
}

// perform starts broker and worker and plays the claims. Whatever it returns, tearDown has to be called.
func (s *stage) perform(ctx context.Context, o demoOptions, claims []script.Claim, progress io.Writer) (run demo.Run, err error) {
	started := time.Now()
	if err := s.setUp(ctx, o.version); err != nil {
		return run, err
	}
	s.say(fmt.Sprintf("playing the %d claims of %s ...", len(claims), o.claims))
	line := term.NewProgress(progress)
	play := demo.Play{Broker: s.broker, Check: s.check, Progress: func(at demo.Status) {
		line.Show("%s on the broker's clock: %d of %d claims done, %d waiting", term.About(at.Passed), at.Settled, at.Claims, at.Waiting)
	}}
	run = demo.Run{File: o.claims, Zeebe: s.broker.State().Version}
	run.Results, err = play.Run(ctx, claims)
	line.Clear()
	if err != nil {
		return run, fmt.Errorf("the demo broke off: %w (the worker's log is %s)", err, s.logPath)
	}
	run.Simulated, run.Elapsed = play.Passed(), time.Since(started)
	return run, nil
}

// setUp starts a broker with data of its own, puts the models on it and starts the worker.
func (s *stage) setUp(ctx context.Context, version string) (err error) {
	if s.dir, err = os.MkdirTemp("", "analyze-retry-demo-"); err != nil {
		return err
	}
	var state workerState
	s.say("building the worker ...")
	group, both := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		s.broker, err = devbroker.Start(both, devbroker.Options{
			Version: version, Dir: filepath.Join(s.dir, "zeebe"), Records: true, Progress: s.say,
		})
		return err
	})
	group.Go(func() (err error) {
		state.Binary, err = buildWorker(both)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if err := deployModels(ctx, state.Binary, s.broker.Address()); err != nil {
		return err
	}
	s.logPath = filepath.Join(filepath.Dir(state.Binary), "demo-worker.log")
	if err := os.Remove(s.logPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the last demo's log: %w", err)
	}
	if state.HTTPAddress, err = process.FreeAddress(); err != nil {
		return err
	}
	if s.worker, err = runWorker(ctx, state, s.broker, s.logPath, false); err != nil {
		return err
	}
	s.say(fmt.Sprintf("the worker runs as process %d, its log is %s", s.worker.PID(), s.logPath))
	return nil
}

// check reports whether the broker and the worker are still there.
func (s *stage) check() error {
	switch {
	case !s.worker.Alive():
		return errors.New("the worker has ended")
	case !s.broker.Alive():
		return errors.New("the broker has ended")
	default:
		return nil
	}
}

// tearDown stops what runs and removes the broker's data, and returns what there is to say about it.
func (s *stage) tearDown(ctx context.Context) (summary string, err error) {
	ctx, cancel := context.WithTimeout(ctx, tearDownTimeout)
	defer cancel()
	if s.worker != nil {
		_, err = s.worker.Stop(ctx, workerStopGrace)
	}
	if s.broker != nil {
		err = errors.Join(err, s.broker.Stop(ctx))
	}
	if err = errors.Join(err, os.RemoveAll(s.dir)); err != nil || s.broker == nil {
		return "", err
	}
	switch {
	case s.worker == nil:
		return "Stopped the broker, removed its data", nil
	case callerKeepsStore():
		return "Stopped broker and worker, removed the broker's data, kept the store of RETRY_DATABASE_URL and the log " + s.logPath, nil
	default:
		return "Stopped broker and worker, removed their data, kept the log " + s.logPath, nil
	}
}
