package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/text"
)

// openStore opens the store that the configuration names, for writing, and the key of its audit trail. That
// of a SQLite store is read, or made, when the store is held: of two first starts at once one makes both, and
// the other says who holds them.
func openStore(ctx context.Context, cfg config.Config, log *zap.Logger) (
	store audit.Store, secret *audit.Secret, err error,
) {
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

// OpenStore opens the store that the configuration names for writing. Unlike the worker it makes neither
// store nor key.
func OpenStore(ctx context.Context, cfg config.Config) (audit.Store, error) {
	if path := cfg.SQLitePath(); path != "" && empty(path) {
		return nil, fmt.Errorf("audit store %s: %w", path, fs.ErrNotExist)
	}
	store, _, err := openStore(ctx, cfg, zap.NewNop())
	return store, err
}

// OpenHistory opens the store that the configuration names for questions. It changes nothing and works while
// a worker runs. It needs no key; with one, rows of claims that were changed by hand are not believed.
func OpenHistory(ctx context.Context, cfg config.Config) (audit.Store, error) {
	secret, _ := audit.LoadSecret(cfg.AuditKey())
	if path := cfg.SQLitePath(); path != "" {
		store, err := sqlite.OpenReadOnly(ctx, path, secret)
		if errors.Is(err, fs.ErrNotExist) {
			err = text.Messagef("%s; RETRY_DATABASE_URL names it, and a worker's first start makes it", err)
		}
		return store, err
	}
	return postgres.OpenReadOnly(ctx, string(cfg.DatabaseURL), secret)
}

// Migrate makes the tables of a PostgreSQL store; the URL must name the role that owns them. Those of a
// SQLite store are made by the worker that opens it.
func Migrate(ctx context.Context, cfg config.Config) error {
	return postgres.Migrate(ctx, string(cfg.DatabaseURL))
}

var errNotSQLite = text.Messagef("this command is for a SQLite store; PostgreSQL has means of its own: " +
	"pg_dump, pg_restore")

// Backup copies a SQLite store into a new file, also while a worker writes to it.
func Backup(ctx context.Context, cfg config.Config, target string) error {
	if cfg.SQLitePath() == "" {
		return errNotSQLite
	}
	return sqlite.Backup(ctx, cfg.SQLitePath(), target)
}

// Restore puts a backup in the place of a SQLite store. It returns the short name of the key too.
func Restore(ctx context.Context, cfg config.Config, from string) (d sqlite.Restored, key string, err error) {
	if cfg.SQLitePath() == "" {
		return d, "", errNotSQLite
	}
	public, err := audit.LoadPublic(cfg.AuditKey())
	if err == nil {
		d, err = sqlite.Restore(ctx, cfg.SQLitePath(), from, public)
	}
	return d, public.ID(), err
}

// secretOf reads the key of the store. It returns none where one may be made: that of a new SQLite store,
// where no setting names a key and there is neither store nor key yet. A store whose key is lost cannot be
// continued, and a key in the default place without its store shows that the store is lost. fresh reports
// that there is no SQLite store yet.
func secretOf(cfg config.Config, fresh bool) (*audit.Secret, error) {
	mayMake := fresh && cfg.AuditKeyFile == ""
	secret, err := audit.LoadSecret(cfg.AuditKey())
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case err == nil && mayMake:
		return nil, text.Messagef("the key %s was made with a store, and there is none at %s: correct the "+
			"place (a volume not mounted?), or restore a backup: worker audit restore BACKUP. If there were "+
			"no records (a first start that was killed), or they are gone and that is accepted, move the "+
			"key away: the next start makes a new store with a new key", cfg.AuditKey(), cfg.DatabaseURL)
	case missing && mayMake:
		return nil, nil //nolint:nilnil // there is none, and one may be made
	case missing:
		return nil, text.Messagef("RETRY_AUDIT_KEY_FILE: %s: if %s has records, restore the key that they "+
			"were signed with from the backup; if it never had any, make one, for all replicas: "+
			"openssl genpkey -algorithm ed25519 -out audit.key", err, cfg.DatabaseURL)
	}
	return secret, err
}

// makeSecret makes the key of a new SQLite store.
func makeSecret(cfg config.Config, log *zap.Logger) (*audit.Secret, error) {
	secret, err := audit.NewSecret()
	if err == nil {
		err = secret.Save(cfg.AuditKey())
	}
	if err != nil {
		return nil, err
	}
	log.Warn("audit_key_made", zap.String("file", cfg.AuditKey()), zap.String("key", secret.Public().ID()),
		zap.String("detail", "back it up apart from the store: without it the trail cannot be continued"))
	return secret, nil
}

// empty reports whether there is no store at the path, or nothing in the file.
func empty(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}
