package app

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/zeebe"
)

// A worker that has not heard of the broker goes by the newest head: not at its start, and not while the store is idle.
func TestWithoutABrokerTheNewestHeadShowsTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret, err := audit.NewSecret()
		check.Must(t, err)
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "audit.db"), secret, sqlite.Options{})
		check.Must(t, err)
		var answered []int64
		add := func(job int64, at time.Time) {
			t.Helper()
			results, err := store.Append(t.Context(), []audit.Record{{
				Kind: audit.KindRetry, At: at.UTC(), Key: audit.Key{Cluster: "test", JobKey: job}, ClaimID: "CLM-old-1",
			}}, answered)
			check.Must(t, err)
			answered = []int64{results[0].Record.ID}
		}
		add(1, time.Now().AddDate(-6, 0, 0))
		add(2, time.Now())

		core, logs := observer.New(zapcore.InfoLevel)
		a := &App{
			cfg: config.Config{AuditRetention: 60}, log: zap.New(core), store: store, secret: secret,
			trail: &trailState{secret: secret, log: zap.NewNop(), files: []string{filepath.Join(t.TempDir(), "audit.key.state")}},
			clock: zeebe.NewClock(24*time.Hour, time.Now, zap.NewNop()), numbers: metrics.New(prometheus.NewRegistry(), policy.BuiltIns().All()),
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { a.keep(ctx); close(done) }()
		began := time.Now()
		at := func(since time.Duration, announced, held, removed int) {
			t.Helper()
			<-time.After(time.Until(began.Add(since))) // on the bubble's clock
			synctest.Wait()
			for event, want := range map[string]int{
				"audit_records_to_be_removed": announced, "audit_retention_held": held, "audit_records_removed": removed,
			} {
				check.Same(t, want, logs.FilterMessage(event).Len(), "after %v, lines %s", since, event)
			}
		}
		at(59*time.Minute, 0, 0, 0)
		at(61*time.Minute, 1, 0, 0)
		at(25*time.Hour+time.Minute, 1, 1, 0) // the head is more than a day old
		at(30*time.Hour+30*time.Minute, 1, 1, 0)
		add(3, time.Now())
		at(31*time.Hour+time.Minute, 1, 1, 1)
		check.Same(t, 1, logs.FilterMessage("audit_retention_resumed").Len(), "audit_retention_resumed logged")
		stop()
		<-done
		check.Must(t, store.Close())
	})
}
