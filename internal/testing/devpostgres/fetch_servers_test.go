//go:build servers

package devpostgres

import (
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

// Where a PostgreSQL is installed, too.
func TestAFetchedServerAnswers(t *testing.T) {
	cache, err := cacheDir()
	check.Must(t, err)
	bin, err := fetched(t.Context(), cache, repository())
	check.Must(t, err)
	server, err := startFrom(t.Context(), bin)
	check.Must(t, err)
	url, err := server.NewDatabase(t.Context())
	check.Must(t, err)
	if got := ask[string](t, connect(t, url), "SHOW server_version"); got+".0" != fetchedVersion {
		t.Errorf("it is version %s", got)
	}
	check.Must(t, server.Close())
}
