package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hospital.example/analyze-retry/cmd/sandbox/demo"
	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
	"hospital.example/analyze-retry/internal/testing/devbroker"
)

// demoOptions are the flags of `demo`.
type demoOptions struct {
	version string
	claims  string
	json    bool
	keep    bool
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
		Args: noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return demonstrate(command.Context(), o, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.version, "zeebe", devbroker.VersionFromEnv(), "the broker's version")
	flags.StringVar(&o.claims, "claims", "examples/claims.csv", "the file with the claims")
	flags.BoolVar(&o.json, "json", false, "print the result as one JSON object; progress goes to standard error")
	flags.BoolVar(&o.keep, "keep", false, "leave the broker and the worker running (stop them with `sandbox down`)")
	return command
}

// demonstrate plays the claims and prints the result to out; how far it is goes to progress.
func demonstrate(ctx context.Context, o demoOptions, out, progress io.Writer) error {
	claims, err := readClaims(o.claims)
	if err != nil {
		return err
	}
	line := newProgress(progress)
	s := &demoStage{keep: o.keep, say: line.say}
	run, err := perform(ctx, o, claims, s, line)
	// Everything is stopped before something is printed: the reader may stop reading (`| head`).
	summary, stopErr := s.tearDown(context.WithoutCancel(ctx))
	if err = errors.Join(err, stopErr); err == nil {
		err = printRun(out, run, o.json)
	}
	if summary != "" {
		line.say(summary)
	}
	if failed := run.Failed(); err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d claims did not go as %s says", failed, len(claims), o.claims)
	}
	return err
}

// perform starts broker and worker and plays the claims.
func perform(ctx context.Context, o demoOptions, claims []script.Claim, s *demoStage, line *progress) (run demo.Run, err error) {
	started := time.Now()
	if err := s.setUp(ctx, o.version); err != nil {
		return run, err
	}
	line.say(fmt.Sprintf("playing the %d claims of %s ...", len(claims), o.claims))
	run = demo.Run{File: o.claims, Zeebe: s.broker.State().Version}
	run.Results, run.Simulated, err = s.play(ctx, claims, line.show)
	line.clear()
	if err != nil {
		return run, fmt.Errorf("the demo broke off: %w (the worker's log is %s)", err, s.logPath)
	}
	run.Elapsed = time.Since(started)
	s.completed = true
	return run, nil
}

func printRun(out io.Writer, run demo.Run, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(out, "\n%s\n%s", demo.Table(run.Results, columns(out)), run.Summary())
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

// columns is how wide a table for out should be.
func columns(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			return columns
		}
	}
	return demo.DefaultWidth
}
