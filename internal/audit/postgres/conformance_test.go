package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

func TestTheStoreKeepsItsPromisesAsTheApplicationRole(t *testing.T) {
	audittest.Exercise(t, func(t *testing.T) audittest.Database {
		t.Helper()
		return newDatabase(t)
	})
}

// database has its tables, made by the owner, and is used by the application role.
type database struct{ super, owner, app string }

const (
	ownerRole = "analyze_retry_owner"
	appRole   = "analyze_retry_app"
)

// newDatabase follows the instructions in deploy/postgres.
func newDatabase(tb testing.TB) database {
	tb.Helper()
	d := newRoles(tb)
	check.Must(tb, postgres.Migrate(tb.Context(), d.owner))
	return d
}

// rolesMu is held by who changes the roles, which all databases share.
var rolesMu sync.Mutex

// newRoles is an empty database with the two roles.
func newRoles(tb testing.TB) database {
	tb.Helper()
	super := devpostgres.Database(tb)
	d := database{super, as(tb, super, ownerRole), as(tb, super, appRole)}
	roles, err := os.ReadFile("../../../deploy/postgres/roles.sql")
	check.Must(tb, err)
	rolesMu.Lock()
	defer rolesMu.Unlock()
	password := " PASSWORD '" + devpostgres.Shared(tb).Password() + "'"
	mustSQL(tb, super, string(roles), "ALTER ROLE "+ownerRole+password, "ALTER ROLE "+appRole+password)
	return d
}

func (d database) Open(t *testing.T, key *audit.Secret) (audit.Store, error) {
	t.Helper()
	return postgres.Open(t.Context(), d.app, key)
}

func (d database) Tamper(t *testing.T, statement string) {
	t.Helper()
	mustSQL(t, d.super, "SET search_path = analyze_retry", "SET session_replication_role = replica", statement)
}

func (d database) Purger(t *testing.T, _ audit.Store, key *audit.Secret) audit.Store {
	t.Helper()
	return open(t, d.owner, key)
}

func (d database) Later(column string) string { return column + " + interval '7 seconds'" }

func (d database) Bytes(b []byte) string { return fmt.Sprintf(`'\x%x'::bytea`, b) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(devpostgres.Main{M: m}) }

func open(tb testing.TB, url string, key *audit.Secret) audit.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), url, key)
	check.Must(tb, err)
	tb.Cleanup(func() { check.Must(tb, s.Close()) })
	return s
}

// sql runs statements as the role of the URL.
func sql(tb testing.TB, url string, statements ...string) error {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	check.Must(tb, err)
	defer func() { _ = conn.Close(context.Background()) }()
	for _, statement := range statements {
		if _, err := conn.Exec(tb.Context(), statement); err != nil {
			return err
		}
	}
	return nil
}

func mustSQL(tb testing.TB, url string, statements ...string) {
	tb.Helper()
	check.Must(tb, sql(tb, url, statements...))
}

// as is the same database for another role; its password is that of the URL.
func as(tb testing.TB, url, role string) string {
	tb.Helper()
	return strings.Replace(url, "//"+devpostgres.Superuser+":", "//"+role+":", 1)
}
