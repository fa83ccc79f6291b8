//go:build servers

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

// Failover. The guard is the chain, which a transaction takes also where it only finds its records: without it the second append
// returns at once.
func TestADecisionIsAnsweredOnlyOnceTheStandbyHasIt(t *testing.T) {
	server, address := ownServer(t)
	s := open(t, address, audittest.Secret(t))
	audittest.Append(t, s, audittest.Record(1)) // the chain is there, and a reserve of IDs
	standby, err := server.Standby(t.Context())
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, standby.Close()) })
	check.Must(t, standby.CutOff(t.Context()))
	conn, err := pgx.Connect(t.Context(), address)
	check.Must(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	inCommit := func() (n int) {
		check.Must(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&n))
		return n
	}
	// appending is an append that ends when its commit waits for the standby.
	appending := func() error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := s.Append(ctx, audittest.Entries(audittest.Record(2)))
			ended <- err
		}()
		await(t, "the commit", func() bool { return inCommit() > 0 || len(ended) > 0 })
		cancel()
		return <-ended
	}
	if err := appending(); !errors.Is(err, context.Canceled) {
		t.Fatalf("the first time: %v", err)
	}
	await(t, "the record to be seen", func() bool {
		_, stored, err := s.Claim(t.Context(), audittest.Record(2).ClaimID)
		check.Must(t, err)
		return len(stored) == 1
	})
	if err := appending(); !errors.Is(err, context.Canceled) {
		t.Errorf("the second time it is answered, and the standby does not have it: %v", err)
	}
}

// ownServer is a server that a test may kill, and a database on it.
func ownServer(t *testing.T) (server *devpostgres.Server, address string) {
	t.Helper()
	server, err := devpostgres.Start(t.Context())
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, server.Close()) })
	if address, err = server.NewDatabase(t.Context()); err != nil {
		t.Fatal(err)
	}
	return server, address
}
