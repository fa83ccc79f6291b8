package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/testing/devbroker"
)

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
