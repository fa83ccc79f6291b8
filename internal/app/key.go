package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/config"
)

// secretOf reads the key of the store. It returns none where one may be made: that of a new SQLite store, where no setting names
// a key and there is neither store nor key yet. A store whose key is lost cannot be continued, and a key in the default place
// without its store shows that the store is lost. fresh reports that there is no SQLite store yet.
func secretOf(cfg config.Config, fresh bool) (*audit.Secret, error) {
	inDefaultPlace, postgres := cfg.AuditKeyFile == "", cfg.SQLitePath() == ""
	if postgres && inDefaultPlace {
		return nil, faultsOf("RETRY_AUDIT_KEY_FILE", errors.New("is missing; with postgres:// all replicas need the same key, made once with: "+
			"openssl genpkey -algorithm ed25519 -out audit.key"))
	}
	secret, err := audit.LoadSecret(cfg.AuditKey())
	switch {
	case err == nil && fresh && inDefaultPlace:
		return nil, fmt.Errorf("the key %s was made with a store, and there is none at %s: see that this is the right place (a volume that is not mounted?), "+
			"or restore a backup (worker audit restore BACKUP); if there were no records, or they are gone and that is accepted, move the key away: "+
			"the next start makes a new store with a new key", cfg.AuditKey(), cfg.DatabaseURL)
	case !errors.Is(err, fs.ErrNotExist):
		return secret, ofKeySetting(cfg, err)
	case fresh && inDefaultPlace:
		return nil, nil //nolint:nilnil // there is none, and one may be made
	case fresh || postgres:
		err = fmt.Errorf("%w. If %s has never had records, make the key: openssl genpkey -algorithm ed25519 -out %s. "+
			"If it had, restore the key that they were signed with: another one cannot go on with them", err, cfg.DatabaseURL, cfg.AuditKey())
	default:
		err = fmt.Errorf("%w: the audit store %s needs the key that it was made with; restore it from the backup", err, cfg.DatabaseURL)
	}
	return nil, ofKeySetting(cfg, err)
}

// makeSecret makes the key of a new SQLite store.
func makeSecret(cfg config.Config, log *zap.Logger) (*audit.Secret, error) {
	secret, err := audit.NewSecret()
	if err != nil {
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
