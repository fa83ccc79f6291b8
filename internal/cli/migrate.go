package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
)

func newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Make the tables of the audit store",
		Long: `Makes the tables of the audit store at RETRY_DATABASE_URL, where there are none.
On PostgreSQL the URL must name the role that owns the tables (deploy/postgres).
A SQLite store needs no such step: the worker that opens it does it.`,
		Example: `  RETRY_DATABASE_URL=postgres://owner@db.example/retry worker migrate`,
		Args:    noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			cfg, err := loadConfig(command)
			if err != nil {
				return err
			}
			if cfg.SQLitePath() != "" {
				fmt.Fprintf(command.OutOrStdout(), "Nothing to do for %s:\nthe worker that opens the file makes them.\n", cfg.DatabaseURL)
				return nil
			}
			if err := app.Migrate(command.Context(), cfg); err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "The tables at %s are there.\n", cfg.DatabaseURL)
			return nil
		},
	}
}
