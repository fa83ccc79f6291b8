package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/reading"
	"hospital.example/analyze-retry/internal/testing/check"
)

// Unfit is the judgment of a server.
var Unfit = unfit

// TLS returns how a connection to the URL would be secured: "none", "unverified" or "verified".
func TLS(tb testing.TB, url string) string {
	tb.Helper()
	config, err := parseURL(url)
	check.Must(tb, err)
	conn := config.ConnConfig
	switch {
	case conn.TLSConfig == nil:
		return "none"
	case conn.TLSConfig.InsecureSkipVerify:
		return "unverified"
	}
	for _, f := range conn.Fallbacks {
		if f.TLSConfig == nil || f.TLSConfig.InsecureSkipVerify {
			return "unverified"
		}
	}
	return "verified"
}

// Setting returns a setting of the store's session.
func Setting(tb testing.TB, s audit.Store, name string) (value string) {
	tb.Helper()
	check.Must(tb, s.(*store).pool.QueryRow(tb.Context(), "SELECT current_setting($1)", name).Scan(&value))
	return value
}

// Exec runs a statement over the store's own connections.
func Exec(tb testing.TB, s audit.Store, statement string) error {
	tb.Helper()
	_, err := s.(*store).pool.Exec(tb.Context(), statement)
	return err
}

// Reconnect makes the store's next use open a new connection.
func Reconnect(s audit.Store) { s.(*store).pool.Reset() }

// Plan is how the server would answer a query of the store's session.
func Plan(tb testing.TB, s audit.Store, query string, arguments ...any) string {
	tb.Helper()
	rows, err := s.(*store).pool.Query(tb.Context(), "EXPLAIN "+query, arguments...)
	check.Must(tb, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check.Must(tb, err)
	return strings.Join(lines, "\n")
}

// SelectClaim asks for the records of a claim, by its name and the ID of the last record of its row.
var SelectClaim = reading.SelectClaim

// SelectUnpublished asks for the records that are to be published, at most so many.
var SelectUnpublished = reading.Select + selectUnpublished
