package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/postgres"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/test/chaos/proxy"
)

// Row 18 of the test matrix. The guard is the sync of each commit: with synchronous_commit=off acknowledged records are
// missing after the kill.
func TestAKilledServerLosesNothingAcknowledged(t *testing.T) {
	server, address := ownServer(t)
	key := audittest.Secret(t)
	s := open(t, address, key)

	const writers, batch, kills = 3, 5, 3
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	var done, failed atomic.Int64
	acknowledged := make([][]audit.Record, writers)
	for w := range writers {
		all.Go(func() {
			job := w * 1_000_000
			for ctx.Err() == nil {
				records := audittest.Records(job, job+batch)
				try, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				appended, err := s.Append(try, records, nil)
				cancel()
				if err != nil { // the same again: whether they were stored is open
					failed.Add(1)
					continue
				}
				for _, a := range appended {
					acknowledged[w] = append(acknowledged[w], a.Record)
				}
				job += batch
				done.Add(1)
			}
		})
	}
	progress := func(what string) {
		from := done.Load()
		await(t, what, func() bool { return done.Load() > from+30 })
	}
	progress("the first appends")
	for range kills {
		before := failed.Load()
		check.Must(t, server.Kill())
		await(t, "an append to fail", func() bool { return failed.Load() > before })
		check.Must(t, server.Restart(t.Context()))
		progress("appends after the restart")
	}
	stop()
	all.Wait()
	total := 0
	for _, records := range acknowledged {
		total += len(records)
		for _, want := range records {
			got, err := s.Claim(t.Context(), want.ClaimID)
			if err != nil || len(got) != 1 {
				t.Fatalf("%s has %d records: %v", want.ClaimID, len(got), err)
			}
			if diff := cmp.Diff(want, got[0]); diff != "" {
				t.Fatal(diff)
			}
		}
	}
	audittest.Verify(t, s, key, int64(total))
	t.Logf("%d records acknowledged over %d kills, %d appends failed", total, kills, failed.Load())
}

// through is the URL by way of a proxy.
func through(tb testing.TB, address string) (string, *proxy.Proxy) {
	tb.Helper()
	server := devpostgres.Shared(tb).Address()
	p, err := proxy.Start(server)
	check.Must(tb, err)
	tb.Cleanup(func() { check.Must(tb, p.Close()) })
	return strings.Replace(address, server, p.Address(), 1), p
}

// Row 18 of the test matrix: the outcome of a COMMIT is unknown. The guard is the look for what is stored before
// anything is linked: without it the second append runs into the unique key each time.
func TestACommitWhoseAnswerWasLostIsReadBack(t *testing.T) {
	address, key := withTables(t), audittest.Secret(t)
	behind, p := through(t, address)
	s := open(t, behind, key)
	direct := open(t, address, key)
	for round := range 5 {
		job := round * 10
		// A lock holds up the second of the two round trips until the way back is broken, however slow the machine is.
		rollback := holding(t, address, job+2)
		waitForEver(t, s)
		failed := make(chan error, 1)
		go func() {
			_, err := s.Append(t.Context(), audittest.Records(job, job+3), nil)
			failed <- err
		}()
		await(t, "the append to wait", func() bool { return waiting(t, address) == 1 })
		p.Set(proxy.Faults{Swallow: [2]bool{proxy.ToClient: true}})
		rollback()
		var stored []audit.Record
		await(t, "the commit", func() bool {
			var err error
			stored, err = direct.Claim(t.Context(), audittest.Record(job+2).ClaimID)
			return err == nil && len(stored) == 1
		})
		p.ResetAll()
		if err := <-failed; err == nil {
			t.Fatal("an append whose answer was lost reports success")
		}
		p.Set(proxy.Faults{})
		for i, a := range audittest.Append(t, s, audittest.Records(job, job+3)...) {
			if !a.Repeated {
				t.Errorf("round %d: record %d was stored twice", round, i)
			}
			if i == 2 && a.Record != stored[0] {
				t.Errorf("round %d: %+v was stored and %+v is answered", round, stored[0], a.Record)
			}
		}
	}
	if swallowed := p.Counts().Swallowed[proxy.ToClient]; swallowed == 0 {
		t.Error("no answer was swallowed")
	}
	audittest.Verify(t, direct, key, 15)
}

// waiting is how many sessions wait for a lock.
func waiting(tb testing.TB, address string) (n int) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), address)
	check.Must(tb, err)
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(tb.Context(), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestAConnectionThatIsCutAnywhereLosesAndDoublesNothing(t *testing.T) {
	address, key := withTables(t), audittest.Secret(t)
	behind, p := through(t, address)
	s := open(t, behind, key)
	const batch = 3
	job := 0
	for _, direction := range []proxy.Direction{proxy.ToServer, proxy.ToClient} {
		for n := int64(50); n < 6000; n += 150 {
			postgres.Reconnect(s)
			faults := proxy.Faults{}
			faults.CutAfter[direction] = n
			p.Set(faults)
			first, err := s.Append(t.Context(), audittest.Records(job, job+batch), nil)
			p.Set(proxy.Faults{})
			p.ResetAll()
			postgres.Reconnect(s)
			for i, a := range audittest.Append(t, s, audittest.Records(job, job+batch)...) {
				if err == nil && a.Record != first[i].Record {
					t.Errorf("cut after %d bytes %v: %+v, then %+v", n, direction, first[i].Record, a.Record)
				}
			}
			job += batch
		}
	}
	cut := p.Counts().Cut
	if cut[proxy.ToServer] < 10 || cut[proxy.ToClient] < 10 {
		t.Errorf("too few connections were cut: %v", cut)
	}
	audittest.Verify(t, open(t, address, key), key, int64(job))
	t.Log(fmt.Sprint("cut to the server and to the client: ", cut))
}
