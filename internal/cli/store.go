package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

// withStore opens the store of the configuration for reading, also while a worker runs, and closes it when do is done.
func withStore(command *cobra.Command, do func(ctx context.Context, cfg config.Config, store audit.Store) error) error {
	cfg, err := loadConfig(command)
	if err != nil {
		return err
	}
	ctx := command.Context()
	store, err := app.OpenHistory(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, cfg, store), store.Close())
}

// withClaim reads what is known of a claim, and its records, oldest first. It is an error if there are none.
func withClaim(command *cobra.Command, claimID string, do func(*audit.State, []audit.Record) error) error {
	return withStore(command, func(ctx context.Context, cfg config.Config, store audit.Store) error {
		state, records, err := store.Claim(ctx, claimID)
		switch {
		case err != nil:
			return err
		case len(records) > 0:
			return do(&state, records)
		}
		return fmt.Errorf("nothing is known of %q in %s: no decision was asked for it, or its retention is over; a claim's id is CLM-<any>-<digits>",
			claimID, cfg.DatabaseURL)
	})
}

// patience is how long a call may take after its context has ended.
const patience = 2 * time.Second

// bounded calls do, which may hang on a file, and gives up patience after ctx has ended: a hung file system ignores contexts,
// and the first signal must end a start. The call itself goes on until the process ends, which is at once.
func bounded[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(patience):
		return *new(T), ctx.Err()
	}
}

// loadConfig reads the configuration and the files that it names for secrets.
func loadConfig(command *cobra.Command) (config.Config, error) {
	return loadBy(command, config.Load)
}

// loadAll does so, and tries what the configuration names.
func loadAll(command *cobra.Command) (config.Config, error) {
	return loadBy(command, app.LoadConfig)
}

func loadBy(command *cobra.Command, load func(credentials string) (config.Config, error)) (config.Config, error) {
	path, _ := command.Flags().GetString(config.CredentialsFlag) // empty also if the command has no such flag
	if path == "" && command.Flags().Changed(config.CredentialsFlag) {
		return config.Config{}, usageError{fmt.Errorf("--%s names no file", config.CredentialsFlag)}
	}
	return bounded(command.Context(), func() (config.Config, error) { return load(path) })
}

// withCredentials adds the flag --credentials to a command that connects to the cluster.
func withCredentials(command *cobra.Command) *cobra.Command {
	command.Flags().String(config.CredentialsFlag, "", "`FILE` with the cluster's credentials, as downloaded")
	return command
}
