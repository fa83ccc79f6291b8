package app_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

// written is a store in which these records are, answered.
func written(t *testing.T, cfg config.Config, records ...audit.Record) {
	t.Helper()
	secret, err := audit.LoadSecret(cfg.AuditKey())
	if errors.Is(err, fs.ErrNotExist) {
		if secret, err = audit.NewSecret(); err == nil {
			err = secret.Save(cfg.AuditKey())
		}
	}
	check.Must(t, err)
	s, err := sqlite.Open(t.Context(), cfg.SQLitePath(), secret, sqlite.Options{})
	check.Must(t, err)
	results, err := s.Append(t.Context(), records, nil)
	check.Must(t, err)
	for _, r := range results {
		if _, err := s.Append(t.Context(), nil, []int64{r.Record.ID}); err != nil {
			t.Fatal(err)
		}
	}
	check.Must(t, s.Close())
}

func TestAKeyIsMadeOnlyWhereThereIsNoStoreYet(t *testing.T) {
	cfg := settings(t, "127.0.0.1:1")
	written(t, cfg)
	check.Must(t, os.Remove(cfg.AuditKey()))
	_, err := app.New(t.Context(), cfg, zap.NewNop(), "test")
	check.Fails(t, err, "restore it from the backup")
	if _, err := os.Stat(cfg.AuditKey()); err == nil {
		t.Error("another key was made, with which the store cannot be used")
	}
}

func TestPostgreSQLIsNotUsedWithoutAKey(t *testing.T) {
	cfg := settings(t, "127.0.0.1:1")
	cfg.DatabaseURL = "postgres://retry@127.0.0.1:1/retry"
	_, err := app.New(t.Context(), cfg, zap.NewNop(), "test")
	if faults := config.FaultsError(nil); !errors.As(err, &faults) || !strings.Contains(err.Error(), "RETRY_AUDIT_KEY_FILE is missing") {
		t.Errorf("got %v, want a fault of the configuration", err)
	}
}

// Seen to fail without UnsetPostgresNames in each of the three: the driver finds no service of that name.
func TestVariablesOfPostgreSQLsClientsReachNoStore(t *testing.T) {
	cfg := settings(t, "127.0.0.1:1")
	written(t, cfg) // for its key
	cfg.AuditKeyFile, cfg.DatabaseURL = cfg.AuditKey(), "postgres://retry@127.0.0.1:1/retry?sslmode=disable"
	for what, open := range map[string]func() error{
		"history": func() error { _, err := app.OpenHistory(t.Context(), cfg); return err },
		"migrate": func() error { return app.Migrate(t.Context(), cfg) },
		"run":     func() error { _, err := app.New(t.Context(), cfg, zap.NewNop(), "test"); return err },
	} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("PGSERVICE", "nowhere")
			check.Fails(t, open(), "refused")
		})
	}
}
