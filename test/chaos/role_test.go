package chaos

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// refusedToTheWorker are statements that the worker's own role must not be able to run.
var refusedToTheWorker = []string{
	"UPDATE analyze_retry.records SET claim_id = 'x'", "DELETE FROM analyze_retry.records", "TRUNCATE analyze_retry.records",
	"DROP TABLE analyze_retry.records", "ALTER TABLE analyze_retry.records ADD x int", "ALTER TABLE analyze_retry.records DISABLE TRIGGER ALL",
	"ALTER TABLE analyze_retry.records OWNER TO analyze_retry_app", "DROP TRIGGER append_only ON analyze_retry.records",
	"CREATE RULE r AS ON INSERT TO analyze_retry.records DO INSTEAD NOTHING", "SET session_replication_role = replica", "SET ROLE analyze_retry_owner",
	"UPDATE analyze_retry.cuts SET through = 2", "DELETE FROM analyze_retry.cuts", "TRUNCATE analyze_retry.cuts", "DROP TABLE analyze_retry.cuts",
	"INSERT INTO analyze_retry.cuts SELECT 1, 1, '', now(), ''", "DELETE FROM analyze_retry.heads", "TRUNCATE analyze_retry.heads",
	"DROP TABLE analyze_retry.heads", "UPDATE analyze_retry.meta SET value = 'x'", "DROP SCHEMA analyze_retry CASCADE",
	"DROP FUNCTION analyze_retry.refuse_change CASCADE",
	"CREATE TABLE analyze_retry.mine (x int)", "CREATE TABLE public.mine (x int)",
}

// Row 28, on PostgreSQL. The guards are deploy/postgres/roles.sql and internal/audit/postgres/grants.sql. Seen to fail
// without: granted everything, the role can change what the triggers do not guard, and a forged cut breaks the trail.
func TestRoleOfTheWorkerCanChangeNoRecord(t *testing.T) {
	r := newRig(t, setup{row: 28, what: "UPDATE, DELETE, TRUNCATE, DROP, ALTER as the worker's role", store: inPostgres})
	app := r.asRole()
	r.warm(100)
	submitted := make(chan error, 1)
	go func() { submitted <- r.trySubmit(200) }() // the worker is at it meanwhile
	refused := 0
	for _, statement := range refusedToTheWorker {
		_, err := app.Exec(t.Context(), statement)
		if answer, is := errors.AsType[*pgconn.PgError](err); !is || answer.Code != "42501" || strings.Contains(answer.Message, "append-only") {
			t.Errorf("%s: %v, want: permission denied", statement, err)
			continue
		}
		refused++
	}
	r.must(<-submitted)
	invariants(r)
	r.happened(refused, "statements refused")
}

// asRole moves the row's store to a database with the roles of deploy/postgres, made by the built worker as their
// owner, and returns a connection as the worker's role.
func (r *rig) asRole() *pgx.Conn {
	r.Helper()
	server := devpostgres.Shared(r.T)
	roles, err := os.ReadFile("../../deploy/postgres/roles.sql")
	r.must(err)
	super, err := pgx.Connect(r.Context(), r.store.url)
	r.must(err)
	_, err = super.Exec(r.Context(), string(roles)+fmt.Sprintf(
		"ALTER ROLE analyze_retry_owner PASSWORD '%[1]s'; ALTER ROLE analyze_retry_app PASSWORD '%[1]s'", server.Password()))
	r.must(errors.Join(err, super.Close(r.Context())))
	as := func(role string) string {
		return strings.Replace(r.store.url, "//"+devpostgres.Superuser+":", "//"+role+":", 1)
	}
	app := as("analyze_retry_app")
	r.store.url = as("analyze_retry_owner")
	if said, err := r.command("migrate").CombinedOutput(); err != nil {
		r.Fatalf("worker migrate: %v: %s", err, said)
	}
	r.store.url = app
	conn, err := pgx.Connect(r.Context(), app)
	r.must(err)
	r.Cleanup(func() { r.check(conn.Close(context.Background())) })
	return conn
}

// Row 28, on SQLite, where anybody who can write the file can do everything: the triggers keep mistakes away, and row 27
// finds the rest, REPLACE among it, which SQLite does past the triggers. The guards are the triggers of
// internal/audit/sqlite/schema.sql. Seen to fail without: without the one on UPDATE both updates are done, and the record
// without its hash cannot be read; without the one on DELETE all records go, and nothing of the hundred can be verified.
func TestRecordInTheFileIsNotChangedByMistake(t *testing.T) {
	r := newRig(t, setup{row: 28, what: "UPDATE, DELETE next to the worker", store: inSQLite})
	r.warm(100)
	db, err := sql.Open("sqlite", "file:"+r.store.path()+"?_pragma=busy_timeout(5000)")
	r.must(err)
	defer func() { r.check(db.Close()) }()
	refused := 0
	for statement, because := range map[string]string{
		"UPDATE records SET claim_id = 'x'":             "never changed",
		"UPDATE records SET hash = x'00' WHERE seq = 5": "never changed",
		"DELETE FROM records":                           "by purge only",
		"DELETE FROM records WHERE seq = 100":           "by purge only",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil || !strings.Contains(err.Error(), because) {
			t.Errorf("%s: %v, want: %s", statement, err, because)
			continue
		}
		refused++
	}
	r.submit(100)
	invariants(r)
	r.happened(refused, "statements refused")
}
