package postgres_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

func TestAPasswordIsInNoError(t *testing.T) {
	const canary = "s3cr3t/Canary"
	address := devpostgres.Shared(t).Address()
	escaped := url.QueryEscape(canary)
	for name, dsn := range map[string]string{
		"wrong password":     "postgres://postgres:" + escaped + "@" + address + "/postgres?sslmode=disable",
		"nobody listens":     "postgres://postgres:" + escaped + "@127.0.0.1:1/postgres",
		"not escaped":        "postgres://postgres:" + canary + "@" + address + "/postgres",
		"a percent in it":    "postgres://postgres:" + canary + "%zz@" + address + "/postgres",
		"as a parameter":     "postgres://postgres@127.0.0.1:1/postgres?password=" + escaped + "&pool_max_conns=x",
		"a bad port":         "postgres://postgres:" + escaped + "@127.0.0.1:port" + canary + "/postgres",
		"words and no URL":   "host=127.0.0.1 password=" + canary,
		"another scheme":     "mysql://postgres:" + escaped + "@" + address,
		"an unknown sslmode": "postgres://postgres:" + escaped + "@" + address + "/postgres?sslmode=" + canary,
	} {
		for what, try := range map[string]func() error{
			"open": func() error {
				_, err := postgres.Open(t.Context(), dsn, audittest.Secret(t))
				return err
			},
			"migrate": func() error { return postgres.Migrate(t.Context(), dsn) },
		} {
			err := try()
			if err == nil {
				t.Errorf("%s, %s: no error", name, what)
			} else if text := err.Error(); strings.Contains(text, "s3cr3t") || strings.Contains(text, "Canary") {
				t.Errorf("%s, %s: %s", name, what, text)
			}
		}
	}
}

func TestAServerOnAnotherMachineMustProveItself(t *testing.T) {
	for address, want := range map[string]string{
		"worker@192.0.2.1/audit":                           "verified",
		"worker@10.0.0.1/audit?connect_timeout=1":          "verified",
		"worker:sslmode=disable@192.0.2.1/sslmode=disable": "verified", // a password like a parameter
		"worker@127.0.0.1,192.0.2.1/audit":                 "verified",
		"worker@192.0.2.1/audit?sslmode=disable":           "none",
	} {
		if got := postgres.TLS(t, "postgres://"+address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestAModeInWhichNoRecordCanBeSavedIsRefused(t *testing.T) {
	for _, mode := range []string{"exec", "simple_protocol"} {
		_, err := postgres.Open(t.Context(), newDatabase(t).app+"&default_query_exec_mode="+mode, audittest.Secret(t))
		if err == nil || !strings.Contains(err.Error(), "leave it out") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestManyWorkersThatStartAtOnceMigrateOnce(t *testing.T) {
	address, key := devpostgres.Database(t), audittest.Secret(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), address, key)
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	audittest.Append(t, open(t, address, key), audittest.Record(1))
}

// The server of the tests cannot be talked out of syncing, so this is about what it would answer.
func TestAServerThatDoesNotSyncIsRefused(t *testing.T) {
	for _, server := range []struct {
		fsync   string
		standby bool
		says    string
	}{{"off", false, "set fsync=on"}, {"on", true, "standby"}, {"on", false, "<nil>"}} {
		if err := postgres.Unfit(server.fsync, server.standby); !strings.Contains(fmt.Sprint(err), server.says) {
			t.Errorf("%+v: %v", server, err)
		}
	}
}

func TestASessionSyncsWhateverTheServerIsSetTo(t *testing.T) {
	address, key := devpostgres.Database(t), audittest.Secret(t)
	name := address[strings.LastIndex(address, "/")+1 : strings.Index(address, "?")]
	mustSQL(t, address, "ALTER DATABASE "+name+" SET synchronous_commit = off", "ALTER DATABASE "+name+" SET TimeZone = 'America/Sao_Paulo'")
	s := open(t, address, key)
	for setting, want := range map[string]string{
		"synchronous_commit": "on", "TimeZone": "UTC", "lock_timeout": "700ms", "statement_timeout": "30s", "row_security": "off", "application_name": "analyze-retry",
	} {
		if got := postgres.Setting(t, s, setting); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
	mustSQL(t, address, "ALTER DATABASE "+name+" SET synchronous_commit = remote_apply")
	if got := postgres.Setting(t, open(t, address, key), "synchronous_commit"); got != "remote_apply" {
		t.Errorf("synchronous_commit is %s although more was asked for", got)
	}
}

// So do sessions look that a pooler shares among clients: as the server opens them, or as a command left them.
func TestNothingIsSavedOverASessionOfSomebodyElse(t *testing.T) {
	s := open(t, devpostgres.Database(t), audittest.Secret(t))
	audittest.Append(t, s, audittest.Record(1))
	for _, statement := range []string{
		"RESET ALL",
		"SELECT set_config('default_transaction_read_only', 'on', false), set_config('lock_timeout', '0', false)",
	} {
		check.Must(t, postgres.Exec(t, s, statement))
		check.Fails(t, audittest.Probe(t.Context(), s), "in PgBouncer set pool_mode = session")
		check.Must(t, audittest.Probe(t.Context(), s)) // over a new one
	}
}

func TestReadingOnlyWritesNothing(t *testing.T) {
	address, key := devpostgres.Database(t), audittest.Secret(t)
	audittest.Append(t, open(t, address, key), audittest.Records(0, 3)...)
	s, err := postgres.OpenReadOnly(t.Context(), address, nil)
	check.Must(t, err)
	defer s.Close()
	audittest.Verify(t, s, key, 3)
	if would, err := s.Purge(t.Context(), time.Now(), true); err != nil || len(would) != 1 || would[0].Records != 3 {
		t.Errorf("a dry purge: %+v, %v", would, err)
	}
	for name, write := range map[string]func() error{
		"append":    func() error { _, err := s.Append(t.Context(), audittest.Entries(audittest.Record(3))); return err },
		"probe":     func() error { return audittest.Probe(t.Context(), s) },
		"purge":     func() error { _, err := s.Purge(t.Context(), time.Now(), false); return err },
		"lead":      func() error { _, err := s.Lead(t.Context()); return err },
		"by itself": func() error { return postgres.Exec(t, s, "UPDATE outbox SET published = 3") },
	} {
		if write() == nil {
			t.Errorf("%s: went through", name)
		}
	}
	audittest.Verify(t, s, key, 3)
}
