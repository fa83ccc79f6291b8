// Package exhaustive tries the SQLite store at hundreds of places: bytes, orders, long histories. One goroutine opens one
// store after the other, so the race detector would make that ten times slower and find nothing. `make race` leaves this
// package out.
package exhaustive

import (
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, path string, secret *audit.Secret) audit.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, audittest.Key(secret))
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, s.Close()) })
	return s
}
