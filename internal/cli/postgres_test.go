package cli_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// onPostgres is an archive in a database without tables.
func onPostgres(t *testing.T) (a *archive, address string) {
	t.Helper()
	address = devpostgres.Database(t)
	secret, keyFile := audittest.SavedSecret(t)
	a = with("RETRY_DATABASE_URL="+address, "RETRY_AUDIT_KEY_FILE="+keyFile)
	a.path, a.secret = "STORE", secret
	return a, address
}

func TestCommandsPrintTheSameOnPostgreSQL(t *testing.T) {
	a, address := onPostgres(t)

	a.fails(t, 1, "worker audit migrate", "history", accepted)
	for range 2 {
		if stdout := a.must(t, "audit", "migrate"); !strings.Contains(stdout, "are there") || strings.Contains(stdout, devpostgres.Shared(t).Password()) {
			t.Errorf("output %q", stdout)
		}
	}
	store, err := postgres.Open(t.Context(), address, a.secret)
	check.Must(t, err)
	defer store.Close()
	a.add(t, store, week()...)
	onSQLite := archived(t, week())
	for _, args := range reading {
		if command := strings.Join(args, " "); command != "audit verify" { // it names the store, and when its head was signed
			check.Same(t, onSQLite.must(t, args...), a.must(t, args...), "worker %s", command)
		}
	}
	a.must(t, "audit", "verify")
	a.prints(t, []string{"audit", "purge", "--before", "2020-01-01", "--yes"}, "There is nothing to remove") // while the worker runs
}

// The role is that of docs/operations.md, for reports and auditors.
func TestARoleThatOnlyReadsPostgreSQLAnswersEveryQuestion(t *testing.T) {
	a, owner := onPostgres(t)
	a.must(t, "audit", "migrate")
	store, err := postgres.Open(t.Context(), owner, a.secret)
	check.Must(t, err)
	defer store.Close()
	a.add(t, store, week()...)

	conn, err := pgx.Connect(t.Context(), owner)
	check.Must(t, err)
	const role, password = "analyze_retry_reader", "reads-only"
	_, err = conn.Exec(t.Context(), "CREATE ROLE "+role+" LOGIN PASSWORD '"+password+"'; "+readerGrants(t))
	check.Must(t, err)
	t.Cleanup(func() { // roles are the server's, not the database's
		_, err := conn.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		check.Must(t, errors.Join(err, conn.Close(context.Background())))
	})
	u, err := url.Parse(owner)
	check.Must(t, err)
	u.User = url.UserPassword(role, password)
	a.settings[0] = "RETRY_DATABASE_URL=" + u.String()
	for _, args := range reading {
		a.must(t, args...)
	}
}

// readerGrants are the rights that the documentation names for a role that only reads.
func readerGrants(t *testing.T) string {
	t.Helper()
	_, sql, _ := strings.Cut(read(t, "../../docs/operations.md"), "LOGIN;    -- and a password\n")
	sql, _, found := strings.Cut(sql, "```")
	if !found || !strings.Contains(sql, "GRANT SELECT") {
		t.Fatalf("docs/operations.md has no rights for a reader: %q", sql)
	}
	return sql
}
