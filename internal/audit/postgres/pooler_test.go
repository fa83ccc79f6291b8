//go:build servers

package postgres_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// pooled is the URL by way of a real PgBouncer.
func pooled(t *testing.T, mode, url string) (string, *devpostgres.Pooler) {
	t.Helper()
	p, err := devpostgres.StartPooler(t.Context(), devpostgres.Shared(t), mode)
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, p.Close()) })
	return p.Through(url), p
}

func TestAPoolerThatSharesSessionsIsRefusedAtTheStart(t *testing.T) {
	for _, mode := range []string{"statement", "transaction"} {
		t.Run(mode, func(t *testing.T) {
			direct, key := withTables(t), audittest.Secret(t)
			audittest.Append(t, open(t, direct, key), audittest.Record(1))
			address, _ := pooled(t, mode, direct)
			for what, try := range map[string]func() error{
				"open":      func() error { _, err := postgres.Open(t.Context(), address, key, postgres.Options{}); return err },
				"read only": func() error { _, err := postgres.OpenReadOnly(t.Context(), address, ""); return err },
				"migrate":   func() error { return postgres.Migrate(t.Context(), address) },
			} {
				if err := try(); err == nil || !strings.Contains(err.Error(), "pool_mode = session") {
					t.Errorf("%s: %v, want it refused with what to do", what, err)
				}
			}
		})
	}
}

// The guards are that a probe begins a transaction in a round trip of its own, and the look at each new connection. Seen to
// fail without: the probe goes through, and in statement mode no append does.
func TestAProbeFailsWhereAPoolerBeginsToShareSessions(t *testing.T) {
	for mode, says := range map[string]string{"statement": "transaction blocks not allowed", "transaction": "pool_mode = session"} {
		t.Run(mode, func(t *testing.T) {
			direct, key := devpostgres.Database(t), audittest.Secret(t)
			address, pooler := pooled(t, "session", direct)
			s := open(t, address, key)
			audittest.Append(t, s, audittest.Record(1))
			change := func(mode string) {
				t.Helper()
				check.Must(t, pooler.SetMode(t.Context(), mode))
			}
			change(mode)
			if mode == "transaction" {
				postgres.Reconnect(s) // a change of the mode is noticed with the next connection
			}
			if err := s.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("the first probe: %v", err)
			}
			if err := s.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "pool_mode = session") {
				t.Errorf("the second probe: %v, want it to say what to do", err)
			}
			if _, err := s.Append(t.Context(), audittest.Records(2, 3), nil); err == nil {
				t.Error("an append goes through")
			}
			change("session")
			// A session may still hold what others have prepared in it.
			await(t, "a probe to go through", func() bool { return s.Probe(t.Context()) == nil })
		})
	}
}
