package app_test

import (
	"database/sql"
	"net/http"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

// aged returns n records of one claim that were decided at a time, a second apart.
func aged(n int, at time.Time) []audit.Record {
	records := make([]audit.Record, n)
	for i := range records {
		records[i] = audit.Record{
			Kind: audit.KindRetry, At: at.Add(time.Duration(i) * time.Second).UTC().Truncate(time.Microsecond),
			Key: audit.Key{Cluster: "test", JobKey: int64(i + 1)}, ClaimID: "CLM-old-1",
		}
	}
	return records
}

// left is how many of the aged records are in the store.
func left(t *testing.T, cfg config.Config) int {
	t.Helper()
	s, err := sqlite.OpenReadOnly(t.Context(), cfg.SQLitePath(), "")
	check.Must(t, err)
	records, err := s.Claim(t.Context(), "CLM-old-1")
	check.Must(t, err, s.Close())
	return len(records)
}

// onFile executes a statement on the file of a store.
func onFile(t *testing.T, cfg config.Config, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", cfg.SQLitePath())
	check.Must(t, err)
	result, err := db.ExecContext(t.Context(), statement, args...)
	check.Must(t, err, db.Close())
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

// headFrom dates the head of a store's trail, as if its last record had been stored then.
func headFrom(t *testing.T, cfg config.Config, at time.Time) {
	t.Helper()
	secret, err := audit.LoadSecret(cfg.AuditKey())
	check.Must(t, err)
	s, err := sqlite.OpenReadOnly(t.Context(), cfg.SQLitePath(), "")
	check.Must(t, err)
	heads, err := s.Heads(t.Context())
	check.Must(t, err, s.Close())
	head := secret.Head(audit.ChainAt(heads[0].Chain, heads[0].Seq, heads[0].Hash), at)
	onFile(t, cfg, "UPDATE heads SET at = ?, signature = ?", head.At.UnixMicro(), head.Signature)
}

func TestOldRecordsAreRemovedByTheRunAfterTheirAnnouncement(t *testing.T) {
	t.Parallel()
	g, address := gateway(t)
	cfg := settings(t, address)
	now := time.Now()
	written(t, cfg, append(aged(3, now.AddDate(-5, -2, 0)), aged(5, now.AddDate(-4, -11, 0))[3:]...)...)
	for range 2 { // a restart on the same day
		g.Add(jobs(1, "TIMEOUT")...)
		r := start(t, cfg)
		r.awaitLog("audit_records_to_be_removed")
		fields := r.logs.FilterMessage("audit_records_to_be_removed").All()[0].ContextMap()
		notBefore, _ := fields["notBefore"].(time.Time)
		if wait := time.Until(notBefore); fields["records"] != int64(3) || wait < 19*time.Hour || wait > 20*time.Hour {
			t.Errorf("announced %v", fields)
		}
		r.stopped()
		if n := left(t, cfg); n != 5 || r.logged("audit_records_removed") > 0 {
			t.Fatalf("%d records are left, want all 5", n)
		}
	}
	onFile(t, cfg, "UPDATE meta SET value = ? WHERE name LIKE 'announced %'", now.Add(-21*time.Hour).UTC().Format(time.RFC3339))
	g.Add(jobs(1, "TIMEOUT")...)
	r := start(t, cfg)
	r.awaitLog("audit_records_removed")
	r.stopped()
	check.Same(t, 2, left(t, cfg), "records are left")
}

// The host's clock is 5.1 years ahead: all that it finds, and the broker, are as long ago by it.
func TestAClockYearsAheadRemovesNoFreshRecord(t *testing.T) {
	t.Parallel()
	const ahead = -1862 * 24 * time.Hour
	for name, skew := range map[string]time.Duration{"where no job is decided by it": 24 * time.Hour, "where jobs are decided by it": 87600 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, address := gateway(t)
			g.SetClock(ahead)
			cfg := settings(t, address)
			cfg.MaxClockSkew = skew
			fresh := time.Now().Add(ahead)
			written(t, cfg, aged(100, fresh)...)
			headFrom(t, cfg, fresh.Add(time.Hour))
			// Not even where it was announced long ago.
			cutoff := audit.Cutoff(time.Now(), 60).Format(time.DateOnly)
			onFile(t, cfg, "INSERT INTO meta (name, value) VALUES (?, ?)", "announced "+cutoff, fresh.Format(time.RFC3339))
			for range 2 { // the second time with heads of the wrong clock, where it decides
				g.Add(jobs(3, "TIMEOUT")...)
				r := start(t, cfg)
				r.awaitLog("audit_retention_held")
				fields := r.logs.FilterMessage("audit_retention_held").All()[0].ContextMap()
				check.Same(t, "the broker's clock", fields["reference"], "reference")
				r.stopped()
				if n := r.logged("audit_records_removed") + r.logged("audit_records_to_be_removed"); n > 0 || left(t, cfg) != 100 {
					t.Fatalf("%d of 100 records are left", left(t, cfg))
				}
			}
		})
	}
}

func TestAShorterRetentionRemovesNothingAndIsLogged(t *testing.T) {
	t.Parallel()
	g, address := gateway(t)
	cfg := settings(t, address)
	start(t, cfg).stopped() // it was five years
	written(t, cfg, aged(10, time.Now().AddDate(0, -18, 0))...)
	cfg.AuditRetention = 5
	g.Add(jobs(1, "TIMEOUT")...)
	r := start(t, cfg)
	await(t, g, func(c enginetest.Counts) bool { return c.Completed == 1 })
	r.stopped()
	if left(t, cfg) != 10 || r.logged("audit_records_to_be_removed") > 0 {
		t.Error("records are announced or removed that were to be kept for five years")
	}
	warnings := r.logs.FilterMessage("audit_retention_shorter_than_before").All()
	if len(warnings) != 1 || warnings[0].ContextMap()["setting"] != "5m" || warnings[0].ContextMap()["kept"] != "5y" {
		t.Errorf("warned %v", warnings)
	}
}

// A clock 463 days behind would say that every retry was due long ago, and worker pending would miss it.
func TestNoDecisionIsRecordedByAClockThatIsDaysOff(t *testing.T) {
	t.Parallel()
	g, address := gateway(t)
	const ahead = 463 * 24 * time.Hour
	g.SetClock(ahead)
	keys := g.Add(jobs(20, "TIMEOUT")...)
	cfg := settings(t, address)
	r := start(t, cfg)
	body := r.awaitReadiness(http.StatusServiceUnavailable, "the clocks differ too much for a decision")
	check.Contains(t, body, time.Now().UTC().Format("2006-01-02T"), time.Now().Add(ahead).UTC().Format("2006-01-02T"), "correct the wrong one")
	await(t, g, func(c enginetest.Counts) bool { return c.Waiting == 20 })
	if pending := openClaims(t, cfg); pending > 0 {
		t.Errorf("%d decisions are recorded", pending)
	}
	g.SetClock(0)
	r.awaitReadiness(http.StatusOK, "")
	await(t, g, func(c enginetest.Counts) bool { return c.Completed == 20 })
	for _, key := range keys {
		if _, retries, _ := g.Job(key); retries != 3 {
			t.Errorf("job %d has lost a retry", key)
		}
	}
	check.Same(t, 1, r.logged("clock_wrong"), "lines logged")
	r.stopped()
	check.Same(t, 20, openClaims(t, cfg), "claims that wait")
}

// openClaims is how many claims the store knows as open.
func openClaims(t *testing.T, cfg config.Config) int {
	t.Helper()
	s, err := app.OpenHistory(t.Context(), cfg)
	check.Must(t, err)
	n := 0
	check.Must(t, s.OpenClaims(t.Context(), func(*audit.OpenClaim) error { n++; return nil }), s.Close())
	return n
}
