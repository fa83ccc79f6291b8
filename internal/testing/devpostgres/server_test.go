package devpostgres

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/process"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(Main{M: m})
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	check.Must(t, err)
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

func TestCommittedRowsOutliveAStopAndAKill(t *testing.T) {
	s, err := Start(t.Context())
	check.Must(t, err)
	url, err := s.NewDatabase(t.Context())
	check.Must(t, err)
	conn := connect(t, url)
	run(t, conn, "CREATE TABLE claim (id text)")
	run(t, conn, "INSERT INTO claim VALUES ('committed')")
	check.Must(t, s.Stop(), s.Stop()) // a client is there still, and the second time nothing is to be done
	log, err := os.ReadFile(s.LogFile())
	check.Must(t, err)
	check.Contains(t, string(log), "database system is shut down") // it did not wait for its client until it was killed
	check.Must(t, s.Restart(t.Context()))
	open := connect(t, url)
	run(t, open, "BEGIN")
	run(t, open, "INSERT INTO claim VALUES ('open')")
	processes := append(process.Children(s.PID()), s.PID())
	check.Must(t, s.Kill())
	for _, pid := range processes {
		if running(pid) {
			t.Errorf("process %d of the server still runs", pid)
		}
	}
	check.Must(t, s.Restart(t.Context()))
	if got := ask[string](t, connect(t, url), "SELECT string_agg(id, ',') FROM claim"); got != "committed" {
		t.Errorf("after the kill the table holds %q", got)
	}
	check.Must(t, s.Close())
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("the server's directory is left behind: %v", err)
	}
}
