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

// openStore opens the store that the configuration names, for writing, and the key of its audit trail. It refuses a store
// without records that the key has signed, unless --new-trail accepts that.
func openStore(ctx context.Context, cfg config.Config, log *zap.Logger) (audit.Store, *trailState, error) {
	secret, orphan, err := secretFor(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	st, err := loadState(cfg, secret, log)
	if err != nil {
		return nil, nil, err
	}
	orphan = orphan && st.At.IsZero()
	if orphan && !cfg.NewTrail() {
		return nil, nil, incomplete(cfg, fmt.Errorf("the key %s was made with a store, and there is none", cfg.AuditKey()))
	}
	open := openPostgres
	if cfg.SQLitePath() != "" {
		open = openSQLite
	}
	store, err := open(ctx, cfg, st, false)
	missing, is := errors.AsType[*audit.MissingError](err)
	switch {
	case is && !cfg.NewTrail():
		return nil, nil, incomplete(cfg, err)
	case is:
		if store, err = open(ctx, cfg, st, true); err == nil {
			err = st.beginAnew(ctx, store, missing)
		}
	case err == nil && orphan:
		err = st.beginAnew(ctx, store, &audit.MissingError{})
	case err == nil && cfg.NewTrail():
		log.Warn("new_trail_without_effect", zap.String("detail", "the store has all that its key is known to have signed; start without --new-trail"))
	}
	if err != nil {
		if store != nil {
			err = errors.Join(err, store.Close())
		}
		return nil, nil, err
	}
	return store, st, nil
}

func openSQLite(ctx context.Context, cfg config.Config, st *trailState, newTrail bool) (audit.Store, error) {
	return sqlite.Open(ctx, cfg.SQLitePath(), st.secret, sqlite.Options{Worker: cfg.WorkerName, Tenant: cfg.Tenant, Signed: st.Heads, NewTrail: newTrail})
}

func openPostgres(ctx context.Context, cfg config.Config, st *trailState, newTrail bool) (audit.Store, error) {
	store, err := postgres.Open(ctx, string(cfg.DatabaseURL), st.secret, postgres.Options{Worker: cfg.WorkerName, Tenant: cfg.Tenant})
	if err != nil {
		return nil, err
	}
	if newTrail {
		return store, nil
	}
	err = audit.Compare(ctx, store, st.Heads)
	if _, is := errors.AsType[*audit.MissingError](err); is {
		return nil, errors.Join(err, store.Close())
	}
	if err != nil { // somebody holds a lock; the store takes no jobs meanwhile, and each save of the state compares it
		st.log.Warn("audit_state_not_compared", zap.Error(err))
	}
	return store, nil
}

// OpenStore opens the store that the configuration names for writing, and its key. Unlike the worker it makes neither.
func OpenStore(ctx context.Context, cfg config.Config) (audit.Store, *audit.Secret, error) {
	if err := mustExist(cfg); err != nil {
		return nil, nil, err
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

// OpenHistory opens the store that the configuration names for questions. It changes nothing, needs no key, and works
// while a worker runs.
func OpenHistory(ctx context.Context, cfg config.Config) (audit.Store, error) {
	if err := mustExist(cfg); err != nil {
		return nil, err
	}
	if path := cfg.SQLitePath(); path != "" {
		return sqlite.OpenReadOnly(ctx, path, cfg.Tenant)
	}
	return postgres.OpenReadOnly(ctx, string(cfg.DatabaseURL), cfg.Tenant)
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

// Restored is what a restore has found and done.
type Restored struct {
	sqlite.Restored

	// Key is the short name of the key, Missing what it is known to have signed and the restored store does not have.
	Key     string
	Missing []audit.MissingChain
}

// Restore puts a backup in the place of a SQLite store, and notes next to the key what is given up with that.
func Restore(ctx context.Context, cfg config.Config, backup string) (Restored, error) {
	path := cfg.SQLitePath()
	if path == "" {
		return Restored{}, errors.New("only a SQLite store is restored by this command; restore PostgreSQL with pg_restore, " +
			"then start one worker with --new-trail (docs/operations.md)")
	}
	secret, err := audit.LoadSecret(cfg.AuditKey())
	if err != nil {
		return Restored{}, err
	}
	st, err := loadState(cfg, secret, zap.NewNop())
	if err != nil {
		return Restored{}, err
	}
	done, err := sqlite.Restore(ctx, path, backup, secret.Public())
	if err != nil {
		return Restored{}, err
	}
	signed := st.Heads
	for _, h := range done.Before {
		signed = audit.Latest(signed, h)
	}
	r := Restored{Restored: done, Key: secret.Public().ID()}
	if missing, is := errors.AsType[*audit.MissingError](audit.State{Heads: signed}.Missing(done.Heads)); is {
		r.Missing = missing.Chains
	}
	st.giveUp(audit.Restored, signed, done.Heads)
	if err := st.write(); err != nil {
		kept := ""
		if done.Aside != "" {
			kept = " (the one before is kept as " + done.Aside + ")"
		}
		return Restored{}, fmt.Errorf("the store was restored from %s%s, but what is given up with that could not be noted, so the next start may be refused; "+
			"mend what is wrong and run the same command again: %w", backup, kept, err)
	}
	return r, nil
}
