// Package cli is the command line. A command reads its arguments, calls the package that does the work, and prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/redrive"
	"hospital.example/analyze-retry/internal/text"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	// Those of a claim that redrive does not send again.
	exitNotFound     = 3
	exitMaxRetries   = 4
	exitInvalidState = 5
)

var redriveExits = map[redrive.Fault]int{
	redrive.JobNotFound: exitNotFound, redrive.MaxRetriesExceeded: exitMaxRetries, redrive.InvalidRetryState: exitInvalidState,
}

// faults are all that is wrong with a command line.
type faults []error

// when adds a fault where something is wrong.
func (f *faults) when(wrong bool, format string, args ...any) {
	if wrong {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// usageError is a mistake in the command line, not a failure of the command.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Run runs the command line (without the program's name) until it is done or the context ends, and returns the exit
// code. Results and the log go to stdout, errors to stderr.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return runAt(ctx, time.Now, args, stdout, stderr)
}

// clock returns the time. The commands that look back from now get it as an argument, so that tests can set it.
type clock func() time.Time

func runAt(ctx context.Context, now clock, args []string, stdout, stderr io.Writer) int {
	root := newRoot(now)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		complain(stderr, "worker: stopped before it was done; what was done until then stays")
		return exitFailure
	}
	if faults, ok := errors.AsType[text.Faults](err); ok && !errors.As(err, &usageError{}) {
		complain(stderr, "worker: the configuration has %s:", text.Count(len(faults), "fault"))
		complainOf(stderr, text.Findings(faults))
		complain(stderr, "Every name, its default and what it may hold: worker config --help")
		return exitUsage
	}
	for line := range strings.Lines(err.Error()) { // of joined errors, one a line
		complain(stderr, "worker: %s", strings.TrimSuffix(line, "\n"))
	}
	if errors.As(err, &usageError{}) {
		complain(stderr, "How it is used: %s --help", command.CommandPath())
		return exitUsage
	}
	if fault, ok := errors.AsType[redrive.Fault](err); ok {
		return redriveExits[fault]
	}
	return exitFailure
}

func newRoot(now clock) *cobra.Command {
	run := newRun()
	root := &cobra.Command{
		Use:   "worker",
		Short: "Decides whether and when a rejected claim is submitted again",
		Long: `The worker takes the analyze-retry jobs of a Zeebe broker and answers each one:
try again in so many minutes, or stop with a BPMN error for a person to look at.

Without a subcommand it runs, like "worker run". It is configured by environment
variables: worker config --help.`,
		Example:       `  ZEEBE_ADDRESS=127.0.0.1:26500 ZEEBE_INSECURE_CONNECTION=true worker`,
		Args:          noArgs,
		RunE:          run.RunE,
		Version:       buildVersion().String(),
		SilenceErrors: true,
		PersistentPreRunE: func(command *cobra.Command, _ []string) error {
			if err := command.ValidateFlagGroups(); err != nil {
				return usageError{err}
			}
			return nil
		},
		SilenceUsage: true,
	}
	root.Flags().AddFlag(run.Flags().Lookup(config.CredentialsFlag))
	root.SetVersionTemplate("{{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		run, newDeploy(), newExplain(now), newPolicies(now), newModels(), newConfig(), newVersion(), newMigrate(), newSimulate(), newReady(),
		newDoctor(now), newHistory(now), newClaims(now), newReport(now), newKPI(now), newAudit(now), newEvents(now), newRedrive(now),
	)
	return root
}

// noArgs refuses arguments; on a command that holds others they are misspelt subcommands.
func noArgs(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !command.HasSubCommands() {
		return usageError{fmt.Errorf("%s takes no arguments, but got %q", command.Name(), args[0])}
	}
	hint := ""
	command.SuggestionsMinimumDistance = 2
	if meant := command.SuggestionsFor(args[0]); len(meant) > 0 {
		hint = "; did you mean " + strings.Join(meant, " or ") + "?"
	}
	_, above, _ := strings.Cut(command.CommandPath()+" ", " ")
	return usageError{fmt.Errorf("there is no command %q%s", above+args[0], hint)}
}

// oneArg requires one argument.
func oneArg(what, example string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("%s wants %s, such as %s, but got %s", command.CommandPath(), what, example, text.Count(len(args), "argument"))}
		}
		return nil
	}
}

// oneClaim requires a claim.
var oneClaim = oneArg("one claim", "CLM-001-7")

// upToOneArg allows one argument.
func upToOneArg(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError{fmt.Errorf("%s takes one %s, but got %q too", command.Name(), what, args[1])}
		}
		return nil
	}
}
