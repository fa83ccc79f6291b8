package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

func newAuditBackup() *cobra.Command {
	command := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy a SQLite store into a new file, and check the copy",
		Long: `Copies the SQLite store at RETRY_DATABASE_URL, as it is at one moment, into a
new file, also while a worker writes to it, and then checks the copy's audit
trail. The key is not copied: keep it apart from the store. PostgreSQL is backed
up by its own means.

To restore: stop the worker, run worker audit restore BACKUP, and start the
worker with the same key. docs/operations.md says what the decisions since the
backup become.`,
		Example: `  worker audit backup /backup/analyze-retry-2026-11-21.db`,
		Args:    oneArg("the new file", "/backup/today.db"),
	}
	asJSON := command.Flags().Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, args []string) error {
		cfg, err := loadConfig(command.Context())
		if err != nil {
			return err
		}
		public, err := audit.LoadPublic(cfg.AuditKey())
		if err != nil && cfg.SQLitePath() != "" {
			return fmt.Errorf("the copy could not be checked without the key: %w", err)
		}
		ctx := command.Context()
		if err := app.Backup(ctx, cfg, args[0]); err != nil {
			return err
		}
		cfg.DatabaseURL = config.URL("sqlite://" + args[0])
		store, err := app.OpenHistory(ctx, cfg)
		if err != nil {
			return err
		}
		c, err := check(command, cfg, store, public, gathered{})
		if closeErr := store.Close(); c == nil || closeErr != nil {
			return errors.Join(err, closeErr)
		}
		return c.print(command, *asJSON, err)
	}
	return command
}
