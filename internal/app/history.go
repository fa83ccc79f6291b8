package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
)

// OpenHistory opens the store that the configuration names for questions. It changes nothing, needs no key, and works
// beside a running worker.
func OpenHistory(ctx context.Context, cfg config.Config) (audit.Store, error) {
	if path := cfg.SQLitePath(); path != "" {
		if err := mustExist(cfg, path); err != nil {
			return nil, err
		}
		store, err := sqlite.OpenReadOnly(ctx, path)
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	store, err := postgres.OpenReadOnly(ctx, string(cfg.DatabaseURL))
	if err != nil {
		return nil, err
	}
	return store, nil
}

// OpenStore opens the store that the configuration names for writing, and its key. Unlike the worker it makes neither.
func OpenStore(ctx context.Context, cfg config.Config) (audit.Store, *audit.Secret, error) {
	if path := cfg.SQLitePath(); path != "" {
		if err := mustExist(cfg, path); err != nil {
			return nil, nil, err
		}
	}
	if _, err := audit.LoadSecret(cfg.AuditKey()); err != nil {
		return nil, nil, err
	}
	store, st, err := openStore(ctx, cfg, zap.NewNop())
	if err != nil {
		return nil, nil, err
	}
	return store, st.secret, nil
}

// Migrate brings the tables of a PostgreSQL store up to date; the URL must name the role that owns them. A SQLite store
// is brought up to date by the worker that opens it.
func Migrate(ctx context.Context, cfg config.Config) error {
	return postgres.Migrate(ctx, string(cfg.DatabaseURL))
}

func mustExist(cfg config.Config, path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no audit store at RETRY_DATABASE_URL=%s (%w); a worker makes it at its first start", cfg.DatabaseURL, err)
	}
	return nil
}

// Backup copies a SQLite store into a new file, also while a worker writes to it. PostgreSQL has means of its own.
func Backup(ctx context.Context, cfg config.Config, target string) error {
	path := cfg.SQLitePath()
	if path == "" {
		return errors.New("only a SQLite store is backed up by this command; PostgreSQL by its own means, such as pg_dump (docs/operations.md)")
	}
	if err := mustExist(cfg, path); err != nil {
		return err
	}
	return sqlite.Backup(ctx, path, target)
}
