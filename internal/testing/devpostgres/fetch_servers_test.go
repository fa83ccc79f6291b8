//go:build servers

package devpostgres

import (
	"testing"

	embedded "github.com/fergusstrange/embedded-postgres"
	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/testing/check"
)

// Where a PostgreSQL is installed, too.
func TestAFetchedServerAnswers(t *testing.T) {
	bin, err := fetched(t.Context(), cacheDir(), embedded.DefaultConfig())
	check.Must(t, err)
	server, err := startFrom(t.Context(), bin)
	check.Must(t, err)
	conn, err := pgx.Connect(t.Context(), server.URL("postgres", Superuser))
	check.Must(t, err)
	var version string
	check.Must(t, conn.QueryRow(t.Context(), "SHOW server_version").Scan(&version), conn.Close(t.Context()))
	if version+".0" != fetchedVersion {
		t.Errorf("it is version %s", version)
	}
	check.Must(t, server.Close())
}
