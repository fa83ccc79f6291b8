package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/testing/devbroker"
)

func newSkip() *cobra.Command {
	return &cobra.Command{
		Use:     "skip DURATION",
		Short:   "Move the broker's clock forward, so that timers fire",
		Example: "  sandbox skip 10m\n  sandbox skip 1h30m",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("skip takes one argument, by how much to move the clock, e.g. 10m")}
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			by, err := time.ParseDuration(args[0])
			if err != nil || by < time.Millisecond {
				return usageError{fmt.Errorf("%q is no time to skip: write e.g. 90s, 10m or 1h30m", args[0])}
			}
			broker, err := runningBroker()
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

func newStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Say what runs and where",
		Args:  noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			out := command.OutOrStdout()
			s, err := load()
			if err != nil {
				return err
			}
			broker := devbroker.Attach(s.Broker)
			if !broker.Alive() && !s.Worker.process().Alive() {
				fmt.Fprintln(out, "Nothing is running.")
				return nil
			}
			fmt.Fprintf(out, "broker  %s\n", described(broker.Alive(), broker.Address()))
			fmt.Fprintf(out, "worker  %s\n", described(s.Worker.process().Alive(), "http://"+s.Worker.HTTPAddress))
			if !broker.Alive() {
				return nil
			}
			now, err := broker.Now(command.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "clock   %s\n", now.Format(time.RFC3339))
			return nil
		},
	}
}

func described(alive bool, where string) string {
	if alive {
		return "up, " + where
	}
	return "down"
}

func newFetch() *cobra.Command {
	return &cobra.Command{
		Use:   "fetch [VERSION ...]",
		Short: "Fetch all that a broker needs, so that later starts need no network",
		RunE: func(command *cobra.Command, versions []string) error {
			if len(versions) == 0 {
				versions = []string{devbroker.VersionFromEnv()}
			}
			for _, version := range versions {
				if err := devbroker.Fetch(command.Context(), version, sayTo(command)); err != nil {
					return err
				}
				fmt.Fprintf(command.OutOrStdout(), "Zeebe %s is there.\n", version)
			}
			return nil
		},
	}
}
