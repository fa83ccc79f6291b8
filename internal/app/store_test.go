package app_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// ran starts a worker and stops it.
func ran(t *testing.T, cfg config.Config) *running {
	t.Helper()
	r := start(t, cfg)
	r.stopped()
	return r
}

func refused(t *testing.T, cfg config.Config, parts ...string) {
	t.Helper()
	_, err := app.New(t.Context(), cfg, zap.NewNop(), "test")
	check.Fails(t, err, parts...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func TestAKeyWithoutItsStoreRefusesTheStart(t *testing.T) {
	t.Parallel()
	cfg := settings(t, nobody)
	ran(t, cfg)
	check.Must(t, os.Truncate(cfg.SQLitePath(), 0))
	refused(t, cfg, "was made with a store, and there is none")
	check.Must(t, os.Remove(cfg.SQLitePath()))
	refused(t, cfg, "was made with a store, and there is none", "worker audit restore BACKUP", "move the key away")
	check.Same(t, false, exists(cfg.SQLitePath()), "a store was made")
	check.Must(t, os.Rename(cfg.AuditKey(), cfg.AuditKey()+".old"))
	ran(t, cfg)
	ran(t, cfg)
}

func TestAStoreWhoseKeyIsLostGetsNoOther(t *testing.T) {
	t.Parallel()
	cfg := settings(t, nobody)
	written(t, cfg)
	check.Must(t, os.Remove(cfg.AuditKey()))
	refused(t, cfg, "RETRY_AUDIT_KEY_FILE: ", "restore the key that they were signed with from the backup")
	check.Same(t, false, exists(cfg.AuditKey()), "a key was made")
	wantDiagnosis(t, examine(t, cfg), "error key: ", "restore the key")
}

func TestAFirstStartThatFailsLeavesNoKeyBehind(t *testing.T) {
	t.Parallel()
	cfg := settings(t, nobody)
	journal := cfg.SQLitePath() + "-journal"
	check.Must(t, os.Mkdir(journal, 0o700)) // so that no table can be made
	refused(t, cfg, "unable to open database file")
	check.Same(t, false, exists(cfg.AuditKey()), "the key that was made is left, and refuses the next start")
	check.Must(t, os.Remove(journal))
	ran(t, cfg)
}

func TestAFirstStartWithAKeyOfItsOwnIsNormal(t *testing.T) {
	t.Parallel()
	cfg := settings(t, nobody)
	cfg.AuditKeyFile = filepath.Join(t.TempDir(), "audit.key")
	refused(t, cfg, cfg.AuditKeyFile, "restore the key", "openssl genpkey -algorithm ed25519 -out audit.key")
	check.Same(t, false, exists(cfg.AuditKeyFile), "a key that is named was made")
	secret, err := audit.NewSecret()
	check.Must(t, err, secret.Save(cfg.AuditKeyFile))
	ran(t, cfg)
	ran(t, cfg)
}

// written makes a store in which these records are.
func written(t *testing.T, cfg config.Config, records ...audit.Record) {
	t.Helper()
	secret, err := audit.NewSecret()
	check.Must(t, err, secret.Save(cfg.AuditKey()))
	s, err := sqlite.Open(t.Context(), cfg.SQLitePath(), audittest.Key(secret))
	check.Must(t, err)
	audittest.Append(t, s, records...)
	check.Must(t, s.Close())
}

// Of two first starts at once one makes store and key, and the path is good afterwards.
func TestFirstStartsAtOnceLeaveOneStoreWithItsKey(t *testing.T) {
	t.Parallel()
	for range 10 {
		cfg := settings(t, nobody)
		var starts sync.WaitGroup
		for range 3 {
			starts.Go(func() {
				a, err := app.New(t.Context(), cfg, zap.NewNop(), "test")
				if err == nil {
					stopped, stop := context.WithCancel(t.Context())
					stop()
					err = a.Run(stopped)
				}
				if err != nil && !errors.Is(err, audit.ErrHeld) {
					t.Errorf("it ended with %v", err)
				}
			})
		}
		starts.Wait()
		ran(t, cfg)
	}
}
