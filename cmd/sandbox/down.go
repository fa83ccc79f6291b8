package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/testing/devbroker"
)

func newDown() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop what `up` started; the broker's data stays",
		Args:  noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return down(command.Context(), command.OutOrStdout())
		},
	}
}

// down stops the worker first, so that it can release its jobs.
func down(ctx context.Context, out io.Writer) error {
	s, err := load()
	if err != nil {
		return err
	}
	worker, broker := s.Worker.process(), devbroker.Attach(s.Broker)
	if !worker.Alive() && !broker.Alive() {
		fmt.Fprintln(out, "Nothing is running.")
		return sandbox{}.save()
	}
	var failed error
	if worker.Alive() {
		byItself, err := worker.Stop(ctx, workerStopGrace)
		failed = errors.Join(failed, err)
		sayStopped(out, fmt.Sprintf("worker (process %d)", worker.PID()), byItself, err)
	}
	if broker.Alive() {
		err := broker.Stop(ctx)
		failed = errors.Join(failed, err)
		sayStopped(out, fmt.Sprintf("broker (%s)", broker.Address()), true, err)
	}
	if failed != nil {
		return failed
	}
	fmt.Fprintf(out, "The broker's data stays in %s.\n", s.Broker.Dir)
	return sandbox{}.save()
}

func sayStopped(out io.Writer, what string, byItself bool, err error) {
	switch {
	case err != nil:
	case byItself:
		fmt.Fprintf(out, "Stopped the %s.\n", what)
	default:
		fmt.Fprintf(out, "Killed the %s: it did not stop in %s.\n", what, workerStopGrace)
	}
}
