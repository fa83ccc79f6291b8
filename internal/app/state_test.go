package app_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

func some(n int64) (records []audit.Record) {
	for key := range n {
		records = append(records, audit.Record{Kind: audit.KindRetry, At: time.Now(), Key: audit.Key{Cluster: "test", JobKey: key}, ClaimID: "CLM-001-1"})
	}
	return records
}

// signedBy is the configuration of a worker that has written so many records and has stopped in order.
func signedBy(t *testing.T, records int64) config.Config {
	t.Helper()
	cfg := settings(t, "127.0.0.1:1")
	written(t, cfg, some(records)...)
	ran(t, cfg)
	return cfg
}

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

func TestAStartOnAStoreWithoutSignedRecordsIsRefused(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, cfg config.Config) config.Config{
		"no store": func(t *testing.T, cfg config.Config) config.Config {
			t.Helper()
			check.Must(t, os.Remove(cfg.SQLitePath()), os.Remove(cfg.SQLitePath()+".lock"))
			return cfg
		},
		"an empty file": func(t *testing.T, cfg config.Config) config.Config {
			t.Helper()
			check.Must(t, os.Truncate(cfg.SQLitePath(), 0))
			return cfg
		},
		"another path": func(t *testing.T, cfg config.Config) config.Config {
			t.Helper()
			cfg.AuditKeyFile = cfg.AuditKey()
			cfg.DatabaseURL = config.URL("sqlite://" + filepath.Join(t.TempDir(), "mistyped.db"))
			return cfg
		},
		"an earlier one": func(t *testing.T, cfg config.Config) config.Config {
			t.Helper()
			key := cfg.AuditKey()
			cfg.DatabaseURL = config.URL("sqlite://" + filepath.Join(t.TempDir(), "earlier.db"))
			cfg.AuditKeyFile = key
			written(t, cfg, some(2)...)
			return cfg
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := damage(t, signedBy(t, 3))
			before := exists(cfg.SQLitePath())
			for range 2 {
				refused(t, cfg, "chain 1: the key signed 3 records, the last at 20", "worker audit restore BACKUP", "worker run --new-trail")
			}
			check.Same(t, before, exists(cfg.SQLitePath()), "the store exists after a refused start")

			r := ran(t, cfg.WithNewTrail())
			lines := r.logs.FilterMessage("audit_trail_begun_anew").All()
			if len(lines) != 1 || lines[0].ContextMap()["seq"] != int64(3) || lines[0].ContextMap()["signature"] == nil {
				t.Errorf("logged %v, want the head that is given up", lines)
			}
			secret, err := audit.LoadSecret(cfg.AuditKey())
			check.Must(t, err)
			st, err := audit.LoadState(cfg.AuditKey()+".state", secret.Public())
			if err != nil || len(st.GivenUp) != 1 || st.GivenUp[0].Why != audit.NewTrail || st.GivenUp[0].Heads[0].Seq != 3 {
				t.Errorf("%v; the state has %+v, want what was given up", err, st)
			}
			if r := ran(t, cfg); r.logs.FilterMessage("audit_trail_begun_anew").Len() > 0 {
				t.Error("it begins anew each time")
			}
			check.Same(t, 1, ran(t, cfg.WithNewTrail()).logs.FilterMessage("new_trail_without_effect").Len(), "new_trail_without_effect logged")
		})
	}
}

func TestAKeyOfAMissingStoreRefusesTheStart(t *testing.T) {
	t.Parallel()
	cfg := settings(t, "127.0.0.1:1")
	written(t, cfg, some(1)...)
	check.Must(t, os.Remove(cfg.SQLitePath()), os.Remove(cfg.SQLitePath()+".lock"))
	refused(t, cfg, "was made with a store, and there is none", "--new-trail")
	if exists(cfg.SQLitePath()) {
		t.Error("a start that was refused has made a store")
	}
	ran(t, cfg.WithNewTrail())
	ran(t, cfg)
}

func TestAFirstStartThatEndedAfterTheKeyContinues(t *testing.T) {
	t.Parallel()
	cfg := settings(t, "127.0.0.1:1")
	ran(t, cfg)
	check.Must(t, os.Remove(cfg.SQLitePath()), os.Remove(cfg.SQLitePath()+".lock")) // the key has signed nothing
	if r := ran(t, cfg); r.logs.FilterMessage("audit_key_made").Len() > 0 {
		t.Error("another key was made")
	}
}

func TestAStateOfAKeyThatIsGoneRefusesANewKey(t *testing.T) {
	t.Parallel()
	cfg := signedBy(t, 1)
	check.Must(t, os.Remove(cfg.SQLitePath()), os.Remove(cfg.SQLitePath()+".lock"), os.Remove(cfg.AuditKey()))
	refused(t, cfg, "signed with another key", "move this file away")
	if exists(cfg.AuditKey()) {
		t.Error("a start that was refused has made a key")
	}
}

func TestAFirstStartWithAKeyOfItsOwnIsNormal(t *testing.T) {
	t.Parallel()
	cfg := settings(t, "127.0.0.1:1")
	cfg.AuditKeyFile = filepath.Join(t.TempDir(), "audit.key")
	refused(t, cfg, "openssl genpkey -algorithm ed25519 -out "+cfg.AuditKeyFile, "If it had, restore the key")
	if exists(cfg.AuditKeyFile) {
		t.Error("a key that is named was made")
	}
	secret, err := audit.NewSecret()
	check.Must(t, err, secret.Save(cfg.AuditKeyFile))
	ran(t, cfg)
	ran(t, cfg)
}

func TestAStateThatIsDamagedRefusesTheStart(t *testing.T) {
	t.Parallel()
	cfg := signedBy(t, 1)
	check.Must(t, os.WriteFile(cfg.AuditKey()+".state", []byte("{}"), 0o600))
	refused(t, cfg, cfg.AuditKey()+".state", "move this file away")
	check.Must(t, os.Rename(cfg.AuditKey()+".state", cfg.AuditKey()+".odd"))
	ran(t, cfg)
}

func TestPostgreSQLWithoutWhatTheKeyHasSignedIsRefused(t *testing.T) {
	t.Parallel()
	cfg := settings(t, "127.0.0.1:1")
	cfg.DatabaseURL, cfg.AuditKeyFile = config.URL(devpostgres.Database(t)), filepath.Join(t.TempDir(), "audit.key")
	secret, err := audit.NewSecret()
	check.Must(t, err, secret.Save(cfg.AuditKeyFile))
	ran(t, cfg)
	head := secret.Head(audit.ChainAt(1, 7, audit.Hash{1}), time.Now())
	check.Must(t, secret.SaveState(cfg.AuditKeyFile+".state", audit.State{At: time.Now(), Heads: []audit.Head{head}}))
	// Somebody has removed all but the note that there was a chain.
	conn, err := pgx.Connect(t.Context(), string(cfg.DatabaseURL))
	check.Must(t, err)
	_, err = conn.Exec(t.Context(), "INSERT INTO analyze_retry.meta (name, value) VALUES ('chain 1', now())")
	check.Must(t, err, conn.Close(t.Context()))
	refused(t, cfg, "chain 1: the key signed 7 records", "pg_restore", "--new-trail")
	ran(t, cfg.WithNewTrail())
	ran(t, cfg)
}

func TestAWorkerWhoseFileIsMovedIsNotReadyUntilItIsBack(t *testing.T) {
	t.Parallel()
	_, address := gateway(t)
	cfg := settings(t, address)
	r := start(t, cfg)
	r.awaitReadiness(200, "")
	path := cfg.SQLitePath()
	check.Must(t, os.Rename(path, path+".old"))
	r.awaitReadiness(503, "its file was moved away or removed: move it back")
	if r.logs.FilterMessage("store_lost").Len() == 0 {
		t.Error("store_lost is not logged")
	}
	if status, _ := r.get("/healthz"); status != 200 {
		t.Errorf("it is not alive: %d", status)
	}
	check.Must(t, os.Rename(path+".old", path))
	r.awaitReadiness(200, "")
	r.awaitLog("store_back")
}

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
