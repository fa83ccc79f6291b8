package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
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
	return newRoles(tb, devpostgres.Shared(tb), withTables(tb))
}

// withTables returns the URL of a new database for its superuser. The tables are copied from those of the first one.
func withTables(tb testing.TB) string {
	tb.Helper()
	server := devpostgres.Shared(tb)
	name := fmt.Sprintf("copy%d", copies.Add(1))
	mustSQL(tb, server.URL("postgres", devpostgres.Superuser), "CREATE DATABASE "+name+" TEMPLATE "+template(tb, server))
	return server.URL(name, devpostgres.Superuser)
}

var (
	copies   atomic.Int64
	original struct {
		sync.Mutex
		name string
	}
)

// template returns the name of a database that has the tables and nothing in them.
func template(tb testing.TB, server *devpostgres.Server) string {
	tb.Helper()
	original.Lock()
	defer original.Unlock()
	if original.name == "" {
		d := newRoles(tb, server, devpostgres.Database(tb))
		check.Must(tb, postgres.Migrate(tb.Context(), d.owner))
		config, err := pgx.ParseConfig(d.super)
		check.Must(tb, err)
		original.name = config.Database
	}
	return original.name
}

// rolesMu is held by who changes the roles, which all databases share.
var rolesMu sync.Mutex

// newRoles is an empty database with the two roles.
func newRoles(tb testing.TB, server *devpostgres.Server, super string) database {
	tb.Helper()
	d := database{super, as(tb, super, ownerRole), as(tb, super, appRole)}
	roles, err := os.ReadFile("../../../deploy/postgres/roles.sql")
	check.Must(tb, err)
	rolesMu.Lock()
	defer rolesMu.Unlock()
	password := " PASSWORD '" + server.Password() + "'"
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
