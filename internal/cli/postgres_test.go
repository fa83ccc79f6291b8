package cli_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// onPostgres is an archive in a database without tables.
func onPostgres(t *testing.T) (a *archive, url string) {
	t.Helper()
	url = devpostgres.Database(t)
	secret, keyFile := audittest.SavedSecret(t)
	a = with("RETRY_DATABASE_URL="+url, "RETRY_AUDIT_KEY_FILE="+keyFile)
	a.path, a.secret = "STORE", secret
	return a, url
}

func TestCommandsPrintTheSameOnPostgreSQL(t *testing.T) {
	a, url := onPostgres(t)

	a.fails(t, 1, "worker migrate", "history", accepted)
	for range 2 {
		if stdout := a.must(t, "migrate"); !strings.Contains(stdout, "up to date") || strings.Contains(stdout, devpostgres.Shared(t).Password()) {
			t.Errorf("output %q", stdout)
		}
	}
	store, err := postgres.Open(t.Context(), url, a.secret, postgres.Options{})
	check.Must(t, err)
	defer store.Close()
	a.add(t, store, week()...)
	answer(t, store, a.ids)
	a.pinned(t, "store_", storeGolden)
	a.must(t, "audit", "verify")
	a.prints(t, []string{"audit", "purge"}, "Removed nothing.") // while the worker runs
	if n := len(subjects(t, a.must(t, "events", "tail", "--unpublished"))); n != len(week()) {
		t.Errorf("%d events wait to be published", n)
	}
}

func TestEmptiedPostgreSQLStoreIsAFinding(t *testing.T) {
	a, url := onPostgres(t)
	a.must(t, "migrate")
	a.fails(t, 1, "there are no records, and no stubs", "audit", "verify")
	a.must(t, "audit", "verify", "--expect-empty")
	store, err := postgres.Open(t.Context(), url, a.secret, postgres.Options{})
	check.Must(t, err)
	defer store.Close()
	a.add(t, store, week()...)
	conn, err := pgx.Connect(t.Context(), url)
	check.Must(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `SET search_path = analyze_retry; SET session_replication_role = replica;
		DELETE FROM records; DELETE FROM heads; DELETE FROM meta; DELETE FROM outbox; DELETE FROM unanswered`); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"audit", "verify"}, {"audit", "verify", "--expect-empty"}} {
		a.fails(t, 1, "has given out record IDs through 16", args...)
	}
}
