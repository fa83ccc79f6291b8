package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// Failover. The guard is the chain, whose head a transaction writes also where it only finds its records: without that the second append
// returns at once.
func TestADecisionIsAnsweredOnlyOnceTheStandbyHasIt(t *testing.T) {
	server, err := devpostgres.Start(t.Context()) // of its own: no commit of its database ends
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, server.Close()) })
	address, err := server.NewDatabase(t.Context())
	check.Must(t, err)
	s := open(t, address, audittest.Secret(t))
	// A standby that is cut off.
	mustSQL(t, address, "ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()")
	conn, err := pgx.Connect(t.Context(), address)
	check.Must(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	inCommit := func() (n int) {
		check.Must(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&n))
		return n
	}
	// appending is an append that ends when its commit waits for the standby.
	appending := func(job int) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := s.Append(ctx, audittest.Entries(audittest.Record(job)))
			ended <- err
		}()
		check.Await(t, "the commit", func() bool { return inCommit() > 0 || len(ended) > 0 })
		cancel()
		return <-ended
	}
	job := 0
	check.Await(t, "a standby to be asked for", func() bool {
		job++
		return errors.Is(appending(job), context.Canceled)
	})
	check.Await(t, "the record to be seen", func() bool {
		_, stored, err := s.Claim(t.Context(), audittest.Record(job).ClaimID)
		check.Must(t, err)
		return len(stored) == 1
	})
	if err := appending(job); !errors.Is(err, context.Canceled) {
		t.Errorf("the second time it is answered, and the standby does not have it: %v", err)
	}
}
