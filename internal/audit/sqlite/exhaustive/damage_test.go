// Package exhaustive damages the SQLite store at hundreds of places. One goroutine opens one store after the other, so the race
// detector would make that ten times slower and find nothing. `make race` leaves this package out.
package exhaustive

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// Row 17 of the faults: a byte of the store is another one. Either the start on it is refused, or the check of the trail names
// the damage, or every question is answered as before, because the byte is in free space.
//
// The guards are the chain, the keyed hash of each claim's row, and SQLite's own check at the end of a walk. Seen to fail without
// that check: of 1,000 flips in the file 51 are used unseen, most of them in an index, so that a job's record is not found and the
// job is decided again. The place of the outbox stands in eight bytes that nothing covers.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	// damagedRecords is how many records the store gets: enough for tables and indexes of several pages.
	damagedRecords = 144
	// purgedRecords is how many of them are removed, with a cut in their place.
	purgedRecords = 12
	// chained is the question for the records that are left.
	chained = "all records that are left"
)

// whole is a store in order, as the files that it consists of, and what it answers.
type whole struct {
	secret *audit.Secret
	// closed is the file of a store that was closed; file and log are those that a killed process left.
	closed, file, log []byte
	records           []audit.Record // those that are left
	answers           answers
	known             []audit.Head // heads that were kept elsewhere; none at first
}

// newWhole makes a store with records of all kinds, of open claims and of ended ones, and a cut.
func newWhole(t *testing.T) whole {
	t.Helper()
	w, path := whole{secret: audittest.Secret(t)}, filepath.Join(t.TempDir(), "audit.db")
	s, err := sqlite.Open(t.Context(), path, audittest.Key(w.secret))
	check.Must(t, err)
	lead, err := s.Lead(t.Context())
	check.Must(t, err)
	records := audittest.Records(0, damagedRecords)
	for i := range records {
		r := &records[i]
		switch i % 12 {
		case 5:
			r.Kind, r.NextRetryTime, r.Message = audit.KindExhausted, time.Time{}, "MAX_RETRIES_EXCEEDED"
		case 6:
			r.Kind, r.NextRetryTime = audit.KindPermanent, time.Time{}
		case 7:
			r.Kind, r.NextRetryTime, r.ClaimID = audit.KindRejected, time.Time{}, ""
		case 8:
			r.Kind, r.NextRetryTime, r.ClaimID = audit.KindDecisionRefused, time.Time{}, records[i-4].ClaimID
		case 9:
			r.Kind, r.NextRetryTime, r.ClaimID = audit.KindSubmitted, time.Time{}, records[i-8].ClaimID
		case 10: // corrected inputs
			r.JobKey, r.ProcessInstanceKey, r.ClaimID = records[i-10].JobKey, records[i-10].ProcessInstanceKey, records[i-10].ClaimID
		case 11:
			r.Kind, r.NextRetryTime, r.ClaimID = audit.KindAbandoned, time.Time{}, records[i-9].ClaimID
		}
	}
	for i := range purgedRecords {
		records[i].Kind, records[i].NextRetryTime = audit.KindSubmitted, time.Time{}
	}
	for some := range slices.Chunk(records, 40) {
		check.Must(t, lead.Published(t.Context(), audittest.IDs(audittest.Append(t, s, some...))))
	}
	audittest.Append(t, s, audittest.Records(damagedRecords, damagedRecords+5)...)
	w.records = records[purgedRecords:]
	_, err = s.Purge(t.Context(), audittest.Record(purgedRecords).At, false)
	check.Must(t, err)
	w.file, w.log = read(t, path), read(t, path+"-wal")
	w.answers = w.ask(t.Context(), s)
	w.known, _, err = s.Heads(t.Context())
	check.Must(t, err, s.Close())
	w.closed = read(t, path)
	return w
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	check.Must(t, err)
	return content
}

// answers is what a store answers to each of the questions that there are, as hashes by question.
type answers map[string][sha256.Size]byte

// ask asks everything that the worker and its commands ask: each claim by its index, and each job by recording it again.
func (w whole) ask(ctx context.Context, s audit.Store) answers {
	a := answers{}
	say := func(question string) func(answer any, err error) {
		return func(answer any, err error) { a[question] = sha256.Sum256(fmt.Append(nil, answer, err)) }
	}
	last := audittest.Record(damagedRecords + 5).At
	var left []audit.Record
	err := s.Between(ctx, audittest.Start, last, nil, func(r *audit.Record) error {
		if r.Seq > purgedRecords { // the others may be there again
			left = append(left, *r)
		}
		return nil
	})
	say(chained)(left, err)
	for n := range damagedRecords {
		claim := audittest.Record(n).ClaimID
		state, records, err := s.Claim(ctx, claim)
		say("claim "+claim)([]any{state, records}, err)
	}
	var open []string
	err = s.Open(ctx, func(claim string, state *audit.State) error {
		open = append(open, fmt.Sprint(claim, *state))
		return nil
	})
	say("open claims")(open, err)
	var totals []string
	err = s.Totals(ctx, audittest.Start, last, nil, func(one *audit.Total) error { totals = append(totals, fmt.Sprint(*one)); return nil })
	say("totals")(totals, err)
	heads, cuts, err := s.Heads(ctx)
	say("heads and cuts")([]any{heads, cuts}, err)
	var waiting []audit.Record
	lead, err := s.Lead(ctx)
	if err == nil {
		waiting, err = lead.Unpublished(ctx, damagedRecords)
	}
	say("unpublished")(waiting, err)
	backlog, oldest, err := s.Backlog(ctx)
	say("backlog")([]any{backlog, oldest}, err)
	purged, err := s.Purge(ctx, last, true)
	say("purge")(purged, err)
	jobs, err := s.Append(ctx, audittest.Entries(w.records...))
	say("jobs")(jobs, err)
	return a
}

// differ names the questions that are answered in another way.
func (a answers) differ(other answers) (questions []string) {
	for question, answer := range a {
		if other[question] != answer {
			questions = append(questions, question)
		}
	}
	slices.Sort(questions)
	return questions
}

// outcome is what became of a damaged store.
type outcome int

const (
	refusedToStart outcome = iota
	named                  // by the check
	unused                 // every answer is the same
	silent                 // what must not be
	outcomes
)

// asWorker opens a store as the worker does, checks it, and asks it everything.
func (w whole) asWorker(t *testing.T, path string) (outcome, string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, audittest.Key(w.secret))
	if err != nil {
		return refusedToStart, ""
	}
	defer s.Close() // a damaged store may fail to
	_, err = audit.Verify(t.Context(), s, w.secret.Public(), w.known)
	if audittest.IsBroken(err) {
		return named, ""
	}
	if err != nil {
		return silent, fmt.Sprintf("the worker warns that it could not check, and no alert fires: %v", err)
	}
	if differ := w.answers.differ(w.ask(t.Context(), s)); len(differ) > 0 {
		return silent, fmt.Sprintf("other answers to %d questions: %q", len(differ), differ[:min(len(differ), 4)])
	}
	return unused, ""
}

// flips changes so many bytes of the log or, where there is none, of the file, one at a time and all over it.
func (w whole) flips(t *testing.T, n int, random *rand.Rand, file, log []byte) (found [outcomes]int) {
	t.Helper()
	path := filepath.Join(audittest.MemoryDir(t), "audit.db")
	damaged := file
	if log != nil {
		damaged = log
	}
	for i := range n {
		at, by := (i*len(damaged)+random.IntN(len(damaged)))/n, byte(1+random.IntN(255))
		damaged[at] ^= by
		check.Must(t, os.WriteFile(path, file, 0o600))
		_ = os.Remove(path + "-shm")
		_ = os.Remove(path + "-wal")
		if log != nil {
			check.Must(t, os.WriteFile(path+"-wal", log, 0o600))
		}
		damaged[at] ^= by
		result, why := w.asWorker(t, path)
		if found[result]++; result == silent {
			t.Errorf("flip %d is used unseen: %s", i, why)
		}
	}
	t.Logf("%d flips: the worker's start refuses %d, its check names %d, %d are without effect", n, found[refusedToStart], found[named], found[unused])
	return found
}

func TestAFlippedByteInTheFileIsNeverUsedUnseen(t *testing.T) {
	t.Parallel()
	const flips = 400
	w := newWhole(t)
	w.known = nil
	found := w.flips(t, flips, rand.New(rand.NewPCG(17, 1)), w.closed, nil)
	if found[named]+found[refusedToStart] < flips/2 {
		t.Error("less than half of the bytes count for anything: the flips do not reach the data")
	}
}

// The log's frames bear checksums: SQLite takes what is behind a wrong one for never written, and the store is the one of
// an earlier moment. The heads that the worker has logged show that a record is missing. What may be lost unseen is the place of
// the outbox, moved after the last record: then an event is published again.
func TestAFlippedByteInTheLogIsNamedByKnownHeads(t *testing.T) {
	t.Parallel()
	w := newWhole(t)
	w.answers = answers{chained: w.answers[chained]}
	w.flips(t, 100, rand.New(rand.NewPCG(17, 3)), w.file, w.log)
}
