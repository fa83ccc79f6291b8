package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
)

// openStore opens the store that the configuration names, for writing, and the key of its audit trail. That of a SQLite store is
// read, or made, when the store is held: of two first starts at once one makes both, and the other says who holds them.
func openStore(ctx context.Context, cfg config.Config, log *zap.Logger) (store audit.Store, secret *audit.Secret, err error) {
	path := cfg.SQLitePath()
	if path == "" {
		if secret, err = secretOf(cfg, false); err == nil {
			store, err = postgres.Open(ctx, string(cfg.DatabaseURL), secret)
		}
		return store, secret, err
	}
	made := false
	store, err = sqlite.Open(ctx, path, func(fresh bool) (_ *audit.Secret, err error) {
		if secret, err = secretOf(cfg, fresh); secret == nil && err == nil {
			secret, err = makeSecret(cfg, log)
			made = err == nil
		}
		return secret, err
	})
	if err != nil && made && empty(path) { // a key without its store would be refused at the next start
		err = errors.Join(err, os.Remove(cfg.AuditKey()))
	}
	return store, secret, err
}

// OpenStore opens the store that the configuration names for writing, and its key. Unlike the worker it makes neither.
func OpenStore(ctx context.Context, cfg config.Config) (audit.Store, *audit.Secret, error) {
	if err := mustExist(cfg); err != nil {
		return nil, nil, err
	}
	if _, err := audit.LoadSecret(cfg.AuditKey()); err != nil {
		return nil, nil, err
	}
	return openStore(ctx, cfg, zap.NewNop())
}

// OpenHistory opens the store that the configuration names for questions. It changes nothing and works while a worker
// runs. It needs no key; with one, rows of claims that were changed by hand are not believed.
func OpenHistory(ctx context.Context, cfg config.Config) (audit.Store, error) {
	if err := mustExist(cfg); err != nil {
		return nil, err
	}
	secret, _ := audit.LoadSecret(cfg.AuditKey())
	if path := cfg.SQLitePath(); path != "" {
		return sqlite.OpenReadOnly(ctx, path, secret)
	}
	return postgres.OpenReadOnly(ctx, string(cfg.DatabaseURL), secret)
}

// mustExist refuses a SQLite store that no worker has made yet.
func mustExist(cfg config.Config) error {
	if cfg.SQLitePath() == "" {
		return nil
	}
	if _, err := os.Stat(cfg.SQLitePath()); err != nil {
		return fmt.Errorf("there is no audit store at RETRY_DATABASE_URL=%s (%w); a worker makes it at its first start", cfg.DatabaseURL, err)
	}
	return nil
}

// Migrate makes the tables of a PostgreSQL store; the URL must name the role that owns them. Those of a SQLite store are made by the
// worker that opens it.
func Migrate(ctx context.Context, cfg config.Config) error {
	return postgres.Migrate(ctx, string(cfg.DatabaseURL))
}

// Backup copies a SQLite store into a new file, also while a worker writes to it. PostgreSQL has means of its own.
func Backup(ctx context.Context, cfg config.Config, target string) error {
	if cfg.SQLitePath() == "" {
		return errors.New("only a SQLite store is backed up by this command; PostgreSQL by its own means, such as pg_dump (docs/operations.md)")
	}
	if err := mustExist(cfg); err != nil {
		return err
	}
	return sqlite.Backup(ctx, cfg.SQLitePath(), target)
}

// Restore puts a backup in the place of a SQLite store. It returns the short name of the key too.
func Restore(ctx context.Context, cfg config.Config, backup string) (done sqlite.Restored, key string, err error) {
	path := cfg.SQLitePath()
	if path == "" {
		return sqlite.Restored{}, "", errors.New("only a SQLite store is restored by this command; restore PostgreSQL with pg_restore (docs/operations.md)")
	}
	public, err := audit.LoadPublic(cfg.AuditKey())
	if err != nil {
		return sqlite.Restored{}, "", err
	}
	done, err = sqlite.Restore(ctx, path, backup, public)
	return done, public.ID(), err
}

// behindTrail returns an error where the newest record of the trail is of a time that this host's clock has not reached by far:
// one of the two was wrong, and what is decided now stands before what was decided earlier.
func behindTrail(heads []audit.Head, now time.Time, most time.Duration) error {
	for _, h := range heads {
		if ahead := h.At.Sub(now); ahead > most {
			return fmt.Errorf("the clock of this host is behind the audit trail: the newest record is from %s, which is in %s; set the clock right, or find out which worker wrote with a wrong one",
				h.At.Format(time.RFC3339), ahead.Round(time.Second))
		}
	}
	return nil
}
