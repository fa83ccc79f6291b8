package devpostgres

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/devbroker/process"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(Main{M: m})
}

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
			t.Errorf("the server's directory is left behind: %v", err)
		}
	})
	return s
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func ask[T any](t *testing.T, conn *pgx.Conn, sql string) T {
	t.Helper()
	var got T
	if err := conn.QueryRow(t.Context(), sql).Scan(&got); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return got
}

func TestEveryTestGetsAnEmptyDatabaseOfItsOwn(t *testing.T) {
	first, second := connect(t, Database(t)), connect(t, Database(t))
	run(t, first, "CREATE TABLE claim (id text)")
	if n := ask[int](t, second, "SELECT count(*)::int FROM pg_tables WHERE tablename = 'claim'"); n != 0 {
		t.Error("a table of one database is seen in another")
	}
}

func TestTheServerIsAsDurableAsInProduction(t *testing.T) {
	conn := connect(t, Database(t))
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		if got := ask[string](t, conn, "SELECT current_setting('"+setting+"')"); got != "on" {
			t.Errorf("%s is %s", setting, got)
		}
	}
}

func TestTheServerWantsLoopbackAndAPassword(t *testing.T) {
	server := Shared(t)
	conn := connect(t, Database(t))
	if got := ask[string](t, conn, "SELECT current_setting('listen_addresses') || current_setting('unix_socket_directories')"); got != "127.0.0.1" {
		t.Errorf("it listens on %q", got)
	}
	other := *conn.Config()
	other.Password = "wrong"
	if stranger, err := pgx.ConnectConfig(t.Context(), &other); err == nil {
		_ = stranger.Close(t.Context())
		t.Error("a stranger without the password is let in")
	}
	run(t, conn, "CREATE ROLE reader LOGIN PASSWORD '"+server.Password()+"'")
	if got := ask[string](t, connect(t, server.URL("postgres", "reader")), "SELECT current_user"); got != "reader" {
		t.Errorf("the role's URL leads to %s", got)
	}
}

func TestOnlyCommittedRowsOutliveAKill(t *testing.T) {
	s := start(t)
	url, err := s.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, open := connect(t, url), connect(t, url)
	run(t, conn, "CREATE TABLE claim (id text)")
	run(t, conn, "INSERT INTO claim VALUES ('committed')")
	run(t, open, "BEGIN")
	run(t, open, "INSERT INTO claim VALUES ('open')")
	processes := append(process.Children(s.PID()), s.PID())
	if len(processes) < 3 {
		t.Fatalf("two clients and no processes for them: %v", processes)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range processes {
		if running(pid) {
			t.Errorf("process %d of the server still runs", pid)
		}
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("a killed server answers")
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ask[string](t, connect(t, url), "SELECT string_agg(id, ',') FROM claim"); got != "committed" {
		t.Errorf("after the kill the table holds %q", got)
	}
}

func TestStopDoesNotWaitForClients(t *testing.T) {
	s := start(t)
	url, err := s.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	run(t, conn, "CREATE TABLE claim (id text)")
	before := time.Now()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if time.Since(before) >= stopGrace {
		t.Error("it had to be killed")
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stopping it again: %v", err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask[int](t, connect(t, url), "SELECT count(*)::int FROM claim")
}
