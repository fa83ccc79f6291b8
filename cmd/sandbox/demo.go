package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/bpmn"
	"hospital.example/analyze-retry/cmd/sandbox/demo"
	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/term"
	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/process"
)

// demoOptions are the flags of `demo`.
type demoOptions struct {
	dir, claims string
	models      []string
	json        bool
}

func newDemo(dir *string) *cobra.Command {
	var o demoOptions
	command := &cobra.Command{
		Use:   "demo",
		Short: "Play sample claims on an engine of this project with the worker",
		Long: `Starts an engine of this project and the worker, brings each claim of a file to its
end, and shows what happened to it, as the engine's records have it. The insurer
and the people are played by the demo, from the file; the engine's clock is moved
through the waits. At the end both are stopped. What the worker decided stays in
a store until the next demo, to be asked, unless RETRY_DATABASE_URL names another.

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

With --model the claims are played on models of your own, which may call the
bundled ones. An instance of the process that no other calls is started for each
claim, with its number in claimId. Then the demo works every job that is not the
worker's (RETRY_JOB_TYPES, record-retry-outcome):
  - Where the task has a boundary event for errors, the claim's next answer says
    what happens: OK and all after the last answer complete the job, an error is
    thrown as the BPMN error that is caught there, its text in submissionError.
  - Any other job is completed.
A user task gets the next decision of billing or registration, whoever is to
decide; without one the claim rests there. Outcomes and ends are not compared.

With ZEEBE_ADDRESS it plays on a cluster of your own, whose clock it moves; it
says what else it has to know. Nothing is removed there.

Exit codes: 0 all claims went as the file says, 1 one did not or the demo broke
off, 2 wrong arguments or a faulty file, 130 interrupted.`,
		Example: "  sandbox demo\n  sandbox demo --model my.bpmn,my-task.form --claims my-claims.csv",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.dir = filepath.Join(*dir, "demo")
			return demonstrate(command.Context(), o, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.claims, "claims", "examples/claims.csv", "the file with the claims")
	flags.StringSliceVar(&o.models, "model", nil, "your own models and forms, instead of the bundled ones")
	flags.BoolVar(&o.json, "json", false, "print the result as JSON; progress goes to standard error")
	return command
}

// demonstrate plays the claims and prints the result to out; how far it is goes to progress.
func demonstrate(ctx context.Context, o demoOptions, out, progress io.Writer) error {
	claims, claimsErr := readClaims(o.claims)
	models, modelsErr := readModels(o.models)
	on, err := cluster.FromEnv()
	if err != nil {
		err = badInput{err}
	}
	if err := errors.Join(claimsErr, modelsErr, err); err != nil {
		return err
	}
	s := &stage{cluster: on, say: func(line string) { fmt.Fprintln(progress, line) }}
	run, err := s.perform(ctx, o, claims, models, progress)
	// Everything is stopped before something is printed: the reader may stop reading (`| head`).
	if err = errors.Join(err, s.tearDown(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	if err := printRun(out, run, o.json); err != nil {
		return err
	}
	if !o.json {
		fmt.Fprintf(out, "\nAsk the store that the worker has left behind:\n\n%s\n%s\n%s\n",
			s.worker.ask("history "+longest(run.Results)), s.worker.ask("claims"),
			s.worker.ask("report --from "+time.Now().Format(time.DateOnly)))
	}
	if failed := run.Failed(); failed > 0 {
		return fmt.Errorf("%d of %d claims did not go as %s says", failed, len(claims), o.claims)
	}
	return nil
}

func printRun(out io.Writer, run demo.Run, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(out, "\n%s\n%s", demo.Table(run.Results), run.Summary())
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false) // SOAP faults stay readable
	return encoder.Encode(run)
}

// longest returns the claim with the most submissions.
func longest(results []demo.Result) (id string) {
	most := -1
	for _, r := range results {
		if n := len(r.Tries); n > most {
			id, most = r.ID, n
		}
	}
	return id
}

func readClaims(path string) ([]script.Claim, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, badInput{fmt.Errorf("read the claims (--claims names another file): %w", err)}
	}
	defer file.Close()
	claims, err := script.Parse(file)
	if err != nil {
		return nil, badInput{fmt.Errorf("%s cannot be played:\n%w", path, err)}
	}
	return claims, nil
}

// readModels reads models of the caller's own, the bundled ones where there is none.
func readModels(paths []string) (demo.Models, error) {
	types, err := analyses()
	if err != nil {
		return demo.Models{}, err
	}
	files := bpmn.Models()
	if len(paths) > 0 {
		files = nil
	}
	var faults []error
	for _, path := range paths {
		content, err := os.ReadFile(path)
		faults = append(faults, err)
		files = append(files, bpmn.Model{Name: path, Content: content})
	}
	if err := errors.Join(faults...); err != nil {
		return demo.Models{}, badInput{fmt.Errorf("read the models: %w", err)}
	}
	models, err := demo.ReadModels(files, types)
	if err != nil {
		return models, badInput{fmt.Errorf("the models cannot be played:\n%w", err)}
	}
	models.Own = len(paths) > 0
	return models, nil
}

// stage is the cluster and the worker of one demo.
type stage struct {
	say     func(line string)
	cluster *cluster.Cluster // nil until it is started
	worker  worker
	running *process.Process // nil until it is started
}

// perform starts what is needed and plays the claims. Whatever it returns, tearDown has to be called.
func (s *stage) perform(
	ctx context.Context, o demoOptions, claims []script.Claim, models demo.Models, progress io.Writer,
) (run demo.Run, err error) {
	started := time.Now()
	if err := s.setUp(ctx, o); err != nil {
		return run, err
	}
	s.say(fmt.Sprintf("playing the %d claims of %s on %s ...", len(claims), o.claims, models.Process))
	line := term.NewProgress(progress)
	play := demo.Play{Cluster: s.cluster, Models: models, Check: s.check, Progress: func(at demo.Status) {
		line.Show("%s on the engine's clock: %d of %d claims done, %d waiting",
			term.About(at.Passed), at.Settled, at.Claims, at.Waiting)
	}}
	run = demo.Run{File: o.claims, Process: models.Process, Own: models.Own}
	run.Results, err = play.Run(ctx, claims)
	line.Clear()
	if err != nil {
		return run, fmt.Errorf("the demo broke off: %w (the worker's log is %s)", err, s.worker.log())
	}
	run.OK = run.Failed() == 0
	run.Simulated, run.Elapsed = history.Since(play.Passed()), history.Since(time.Since(started))
	return run, nil
}

// setUp starts an engine, unless there is a cluster, puts the models on it and starts the worker on a new
// store.
func (s *stage) setUp(ctx context.Context, o demoOptions) (err error) {
	if err := errors.Join(os.RemoveAll(o.dir), os.MkdirAll(o.dir, 0o750)); err != nil {
		return fmt.Errorf("forget the last demo: %w", err)
	}
	where := "a cluster of your own"
	if s.cluster == nil {
		where = "the engine"
		if s.cluster, err = cluster.Start(cluster.Options{}); err != nil {
			return err
		}
	}
	if s.worker, err = newWorker(s.cluster.Address(), o.dir); err != nil {
		return err
	}
	if err := s.worker.deploy(ctx); err != nil {
		return err
	}
	if len(o.models) > 0 {
		if err := s.worker.deploy(ctx, o.models...); err != nil {
			return badInput{err}
		}
	}
	address, err := process.FreeAddress()
	if err != nil {
		return err
	}
	s.say(fmt.Sprintf("starting the worker on %s, its log is %s", where, s.worker.log()))
	s.running, err = s.worker.run(ctx, address, false)
	return err
}

// check reports whether the worker is still there.
func (s *stage) check() error {
	if !s.running.Alive() {
		return errors.New("the worker has ended")
	}
	return nil
}

// tearDown stops what was started.
func (s *stage) tearDown(ctx context.Context) (err error) {
	if s.running != nil {
		_, err = s.running.Stop(ctx, stopGrace)
	}
	if s.cluster != nil {
		err = errors.Join(err, s.cluster.Stop())
	}
	return err
}
