package app

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
)

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
	r := Restored{Restored: done, Key: secret.Public().ID()}
	signed := st.Heads
	for _, h := range done.Before {
		signed = audit.Latest(signed, h)
	}
	if missing, is := errors.AsType[*audit.MissingError](audit.State{Heads: signed}.Missing(done.Heads)); is {
		r.Missing = missing.Chains
	}
	st.giveUp(audit.Restored, signed, done.Heads)
	if err := st.write(); err != nil {
		return Restored{}, fmt.Errorf("the store was restored from %s%s, but what is given up with that could not be noted, so the next start may be refused; "+
			"mend what is wrong and run the same command again: %w", backup, keptAs(done.Aside), err)
	}
	return r, nil
}

func keptAs(aside string) string {
	if aside == "" {
		return ""
	}
	return " (the one before is kept as " + aside + ")"
}
