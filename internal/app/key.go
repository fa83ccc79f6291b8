package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

// secretFor reads the key of the store. It makes only that of a new SQLite store, where no setting names a key and there is
// neither store nor key yet: a store whose key is lost cannot be continued. orphan reports a key in the default place whose
// store does not exist.
func secretFor(cfg config.Config, log *zap.Logger) (secret *audit.Secret, orphan bool, err error) {
	path, inDefaultPlace := cfg.SQLitePath(), cfg.AuditKeyFile == ""
	if path == "" && inDefaultPlace {
		return nil, false, config.FaultsError{"RETRY_AUDIT_KEY_FILE is missing; with postgres:// all replicas need the same key, made once with: " +
			"openssl genpkey -algorithm ed25519 -out audit.key"}
	}
	none := path != "" && empty(path)
	secret, err = audit.LoadSecret(cfg.AuditKey())
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return secret, none && inDefaultPlace, ofKeySetting(cfg, err)
	case none && inDefaultPlace:
		secret, err = makeSecret(cfg, log)
		return secret, false, err
	case none || path == "":
		err = fmt.Errorf("%w. If %s has never had records, make the key: openssl genpkey -algorithm ed25519 -out %s. "+
			"If it had, restore the key that they were signed with: another one cannot go on with them", err, cfg.DatabaseURL, cfg.AuditKey())
	default:
		err = fmt.Errorf("%w: the audit store %s needs the key that it was made with; restore it from the backup", err, cfg.DatabaseURL)
	}
	return nil, false, ofKeySetting(cfg, err)
}

// makeSecret makes the key of a new SQLite store. The state comes first: where a start ends between the key and the store,
// it shows the next one that the key has signed nothing.
func makeSecret(cfg config.Config, log *zap.Logger) (*audit.Secret, error) {
	secret, err := audit.NewSecret()
	if err != nil {
		return nil, err
	}
	file := cfg.AuditStates()[0]
	if _, err := audit.LoadState(file, secret.Public()); !errors.Is(err, fs.ErrNotExist) {
		return nil, err // another key has signed something
	}
	if err := secret.SaveState(file, audit.State{At: time.Now()}); err != nil {
		return nil, err
	}
	if err := secret.Save(cfg.AuditKey()); err != nil {
		return nil, err
	}
	log.Warn("audit_key_made", zap.String("file", cfg.AuditKey()), zap.String("key", secret.Public().ID()),
		zap.String("detail", "back it up apart from the store: without it the audit trail can neither be checked nor continued"))
	return secret, nil
}

// ofKeySetting names the setting of the key in an error about it, where the path is in that setting.
func ofKeySetting(cfg config.Config, err error) error {
	if err == nil || cfg.AuditKeyFile == "" {
		return err
	}
	return fmt.Errorf("RETRY_AUDIT_KEY_FILE: %w", err)
}

// empty reports whether there is no store at the path, or nothing in the file.
func empty(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}
