package postgres_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// holding is another worker's append about the claim of a job, which neither commits nor ends.
func holding(tb testing.TB, address string, job int) (rollback func()) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), address)
	check.Must(tb, err)
	_, err = conn.Exec(tb.Context(), "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('"+audittest.Record(job).ClaimID+"', 0))")
	check.Must(tb, err)
	end := sync.OnceFunc(func() { _ = conn.Close(context.Background()) })
	tb.Cleanup(end)
	return end
}

func TestAnAppendWaitsForAnotherNoLongerThanItsContext(t *testing.T) {
	address, key := devpostgres.Database(t), audittest.Secret(t)
	s := open(t, address, key)
	rollback := holding(t, address, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Append(ctx, audittest.Entries(audittest.Records(0, 3)...)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v", err)
	}
	// The other one still holds the claim; what has nothing to do with it goes on.
	audittest.Append(t, s, audittest.Record(5))
	// Nor does the server let it wait for ever where no context does.
	_, err := s.Append(t.Context(), audittest.Entries(audittest.Records(0, 3)...))
	check.Fails(t, err, "lock timeout")
	rollback()
	audittest.Append(t, s, audittest.Records(0, 3)...)
	audittest.Verify(t, s, key, 4)
}

func TestALostLeadIsNoticedBeforePublishing(t *testing.T) {
	address, key := devpostgres.Database(t), audittest.Secret(t)
	one, other := open(t, address, key), open(t, address, key)
	id := audittest.Append(t, one, audittest.Record(1))[0].Record.ID
	lost, err := one.Lead(t.Context())
	check.Must(t, err)
	if _, err := other.Lead(t.Context()); !errors.Is(err, audit.ErrNotLeading) {
		t.Fatalf("two lead: %v", err)
	}
	mustSQL(t, address, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
	var again audit.Lead
	check.Await(t, "the other one to lead", func() bool {
		again, err = other.Lead(t.Context())
		return err == nil
	})
	if _, err := lost.Unpublished(t.Context(), 10); err == nil {
		t.Error("it still reads the outbox")
	}
	if err := lost.Published(t.Context(), []int64{id}); err == nil {
		t.Error("it still removes from the outbox")
	}
	lost.Release()
	if _, err := one.Lead(t.Context()); !errors.Is(err, audit.ErrNotLeading) {
		t.Fatalf("after the release of what was lost: %v", err)
	}
	again.Release()
	lead, err := one.Lead(t.Context())
	check.Must(t, err)
	defer lead.Release()
	if records, err := lead.Unpublished(t.Context(), 10); err != nil || len(records) != 1 {
		t.Errorf("%v, %v", records, err)
	}
}

// Without the look at the head's signature the worker would sign what follows a forged head, and the chain would be in
// order again.
func TestATamperedChainIsNotExtended(t *testing.T) {
	for name, meddle := range map[string][]string{
		"its tail cut off and its head changed to fit": {
			"DELETE FROM records WHERE seq > 3",
			"UPDATE heads SET seq = 3, hash = (SELECT hash FROM records WHERE seq = 3) WHERE chain = 1",
		},
		"its head put back": {"UPDATE heads SET (seq, hash, at, signature) = (SELECT seq, hash, at, signature FROM earlier WHERE chain = heads.chain)"},
		"its head unsigned": {"UPDATE heads SET signature = '' WHERE chain = 1"},
	} {
		t.Run(name, func(t *testing.T) {
			address, key := devpostgres.Database(t), audittest.Secret(t)
			s := open(t, address, key)
			prefix := []string{"SET search_path = analyze_retry", "SET session_replication_role = replica"}
			audittest.Append(t, s, audittest.Records(0, 3)...)
			mustSQL(t, address, append(prefix, "CREATE TABLE earlier AS SELECT * FROM heads")...)
			audittest.Append(t, s, audittest.Records(3, 6)...)
			mustSQL(t, address, append(prefix, meddle...)...)
			// By the one who wrote it and by a new one, twice each.
			second := open(t, address, key)
			for i, one := range []audit.Log{s, s, second, second} {
				_, err := one.Append(t.Context(), audittest.Entries(audittest.Record(100+i)))
				brokenChain(t, "append", err)
			}
			_, err := audit.Verify(t.Context(), s, key.Public(), nil)
			brokenChain(t, "verify", err)
		})
	}
}

// brokenChain fails unless the error is that the first chain is broken.
func brokenChain(tb testing.TB, what string, err error) {
	tb.Helper()
	if broken, ok := errors.AsType[*audit.BrokenError](err); !ok || broken.Chain != 1 {
		tb.Errorf("%s: %v", what, err)
	}
}

// The guards are the locks of the claims, the order in which all locks are taken (in another, one waits for the other until the server
// ends one), and that IDs are taken last.
func TestReplicasWithTheSameJobsKeepOneTrail(t *testing.T) {
	address, key := devpostgres.Database(t), audittest.Secret(t)
	stores := []audit.Store{open(t, address, key), open(t, address, key)}
	const rounds, jobs, writers = 100, 16, 4
	var total int64
	for round := range rounds {
		var all sync.WaitGroup
		answers := make([][]audit.Stored, writers)
		for w := range writers {
			all.Go(func() {
				records := roundOf(round, jobs)
				rand.Shuffle(jobs, func(i, j int) { records[i], records[j] = records[j], records[i] })
				for some := range slices.Chunk(records, 1+rand.IntN(jobs)) {
					results, err := stores[w%2].Append(t.Context(), audittest.Entries(some...))
					if err != nil {
						t.Error(err)
					}
					answers[w] = append(answers[w], results...)
				}
			})
		}
		all.Wait()
		answer := map[audit.Key]audit.Record{}
		for _, results := range answers {
			for _, r := range results {
				if first, ok := answer[r.Record.Key]; ok && first != r.Record {
					t.Fatalf("round %d: two answers to one job:\n%+v\n%+v", round, first, r.Record)
				}
				answer[r.Record.Key] = r.Record
			}
		}
		total += jobs
		audittest.Verify(t, stores[round%2], key, total)
	}
}

// The guard is that IDs are taken anew behind the chain.
func TestWritersThatWaitForAChainKeepItsOrder(t *testing.T) {
	address, key := devpostgres.Database(t), audittest.Secret(t)
	stores := []audit.Store{open(t, address, key), open(t, address, key)}
	const writers, each = 8, 50
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				if _, err := stores[w%2].Append(t.Context(), audittest.Entries(audittest.Record(w*each+n))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	audittest.Verify(t, stores[0], key, writers*each)
}

// A purge takes whole claims, though a replica whose clock is ahead has stored in one chain what is later than its neighbors.
func TestAPurgeTakesWholeClaimsWhereClocksDiffer(t *testing.T) {
	d, key := newDatabase(t), audittest.Secret(t)
	s := open(t, d.app, key)
	day, n := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), 0
	store := func(chain int, claim string, at time.Duration, records func(from, to int) []audit.Record) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), d.super)
		check.Must(t, err)
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), "BEGIN; SELECT FROM analyze_retry.heads WHERE chain < $1 FOR UPDATE", pgx.QueryExecModeSimpleProtocol, chain)
		check.Must(t, err)
		r := records(n, n+1)[0]
		r.ClaimID, r.At, n = claim, day.Add(at), n+1
		check.Same(t, chain, audittest.Append(t, s, r)[0].Record.Chain, "chain")
	}
	store(2, "CLM-ahead-1", 2*time.Minute, audittest.Ended)
	store(2, "CLM-ended-1", -6*time.Minute, audittest.Records)
	store(1, "CLM-ended-1", -time.Minute, audittest.Ended)
	_, _, err := audit.Purge(t.Context(), open(t, d.owner, key), day, false)
	check.Must(t, err)
	audittest.Verify(t, s, key, 3)
}

// roundOf makes jobs of a few claims, some of which end, and of none.
func roundOf(round, jobs int) []audit.Record {
	records := audittest.Records(round*jobs, (round+1)*jobs)
	for i := range records {
		r := &records[i]
		r.ClaimID = []string{"CLM-a-1", "CLM-b-1", "CLM-c-1", ""}[i%4]
		r.Kind = []audit.Kind{audit.KindRetry, audit.KindPermanent, audit.KindSubmitted, audit.KindDecisionRefused, audit.KindResubmitted}[(i+round)%5]
		r.ProcessInstanceKey = int64(i % 3)
	}
	return records
}
