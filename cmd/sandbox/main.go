// Command sandbox runs an engine of this project with the worker on it, for the demo and for play. It is a
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
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Once we are stopping, the usual handling is back: a second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// badInput is a mistake in a file or a setting of the caller.
type badInput struct{ error }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	understood := false
	var dir string
	root := &cobra.Command{
		Use:   "sandbox",
		Short: "An engine of this project with the worker on it, for the demo and for play",
		Long: `Runs the engine of this project, which plays BPMN processes as Camunda 8 does, with
the worker on it. demo and up need bin/worker next to it (make build) and nothing else.`,
		RunE:             func(command *cobra.Command, _ []string) error { return command.Help() },
		PersistentPreRun: func(*cobra.Command, []string) { understood = true },
		SilenceErrors:    true,
		SilenceUsage:     true,
	}
	root.PersistentFlags().StringVar(&dir, "dir", ".cache", "where logs and data are")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newDemo(&dir), newUp(&dir), newInsurer(), newClaim())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(ctx.Err(), context.Canceled):
		fmt.Fprintln(stderr, "sandbox: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "sandbox: %v\n", err)
	switch {
	case !understood:
		fmt.Fprintf(stderr, "How it is used: %s --help\n", command.CommandPath())
		return exitUsage
	case errors.As(err, &badInput{}):
		return exitUsage
	}
	return exitFailure
}
