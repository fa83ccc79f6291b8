package events_test

import (
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/events"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/internal/testing/eventstest"
)

// onBothStores runs a test on SQLite, where two relays share the one store, and on PostgreSQL, where each has its own.
func onBothStores(t *testing.T, test func(t *testing.T, first, second audit.Store)) {
	t.Helper()
	secret, err := audit.NewSecret()
	check.Must(t, err)
	opened := func(t *testing.T, s audit.Store, err error) audit.Store {
		t.Helper()
		check.Must(t, err)
		t.Cleanup(func() {
			check.Must(t, s.Close())
		})
		return s
	}
	t.Run("SQLite", func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "audit.db"), audittest.Key(secret))
		store := opened(t, s, err)
		test(t, store, store)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := devpostgres.Database(t)
		one, err := postgres.Open(t.Context(), url, secret)
		first := opened(t, one, err)
		two, err := postgres.Open(t.Context(), url, secret)
		test(t, first, opened(t, two, err))
	})
}

// store appends records of n claims in turn, and returns them as stored. Each call is for another process instance.
func store(t *testing.T, s audit.Store, instance int64, n, rounds int) (stored []audit.Record) {
	t.Helper()
	for _, r := range (&eventstest.Outbox{}).Fill("A", n, rounds) {
		r.JobKey, r.ProcessInstanceKey = 1000*instance+r.ID, instance
		stored = append(stored, audittest.Append(t, s, r)[0].Record)
	}
	return stored
}

func empty(t *testing.T, s audit.Store) func() bool {
	t.Helper()
	return func() bool {
		waiting, err := s.Unpublished(t.Context(), 1)
		return err == nil && len(waiting) == 0
	}
}

func TestTwoRelaysOnOneStoreDoNotPublishConcurrently(t *testing.T) {
	onBothStores(t, func(t *testing.T, first, second audit.Store) {
		t.Helper()
		q := &queue{delay: time.Millisecond}
		records := store(t, first, 1, 40, 3)
		stop := eventstest.Relay(t, first, q, events.Options{})
		eventstest.Relay(t, second, q, events.Options{})
		check.Await(t, "all are published", empty(t, first))
		if repeats := eventstest.Complete(t, records, q.sent); repeats > 0 || q.most > 1 {
			t.Errorf("%d events were sent twice, %d publications ran side by side", repeats, q.most)
		}
		stop()
		more := store(t, second, 2, 10, 1) // by whichever relay is left
		check.Await(t, "the rest is published", empty(t, second))
		if sent, _ := q.counts(); sent != len(records)+len(more) {
			t.Errorf("%d sent of %d", sent, len(records)+len(more))
		}
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(devpostgres.Main{M: m}) }
