package exhaustive

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

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
	s := open(t, path, w.secret)
	release, err := s.Lead(t.Context())
	check.Must(t, err)
	defer release()
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
		check.Must(t, s.Published(t.Context(), audittest.IDs(audittest.Append(t, s, some...))))
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
	err = s.Totals(ctx, audittest.Start, last, func(one *audit.Total) error { totals = append(totals, fmt.Sprint(*one)); return nil })
	say("totals")(totals, err)
	heads, cuts, err := s.Heads(ctx)
	say("heads and cuts")([]any{heads, cuts}, err)
	waiting, err := s.Unpublished(ctx, damagedRecords)
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
	if audit.IsBroken(err) {
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

// asCommand reports whether `worker audit verify` finds a store in order.
func (w whole) asCommand(t *testing.T, path string) bool {
	t.Helper()
	s, err := sqlite.OpenReadOnly(t.Context(), path, w.secret)
	if err != nil {
		return false
	}
	defer s.Close()
	_, err = audit.Verify(t.Context(), s, w.secret.Public(), w.known)
	return err == nil
}

// flips changes so many bytes of one of the files, one at a time, at the places that at returns. Each damaged store is looked
// at as the worker does and, if that names it, now and then as the command does.
func (w whole) flips(t *testing.T, n int, random *rand.Rand, ofLog bool, at func(i int) int) (found [outcomes]int) {
	t.Helper()
	path := filepath.Join(audittest.MemoryDir(t), "audit.db")
	for i := range n {
		file, log := w.closed, []byte(nil)
		if ofLog {
			file, log = w.file, w.log
		}
		target := &file
		if ofLog {
			target = &log
		}
		*target = slices.Clone(*target)
		(*target)[at(i)] ^= byte(1 + random.IntN(255))
		put := func() {
			check.Must(t, os.WriteFile(path, file, 0o600))
			_ = os.Remove(path + "-shm")
			_ = os.Remove(path + "-wal")
			if ofLog {
				check.Must(t, os.WriteFile(path+"-wal", log, 0o600))
			}
		}
		put()
		result, why := w.asWorker(t, path)
		if found[result]++; result == silent {
			t.Errorf("flip %d is used unseen: %s", i, why)
		}
		if result == named && i%5 == 0 {
			if put(); w.asCommand(t, path) {
				t.Errorf("flip %d: the command finds it in order, the worker does not", i)
			}
		}
	}
	t.Logf("%d flips: the worker's start refuses %d, its check names %d, %d are without effect", n, found[refusedToStart], found[named], found[unused])
	return found
}

// spread returns places all over so many bytes, for n flips.
func spread(bytes, n int, random *rand.Rand) func(int) int {
	return func(i int) int { return (i*bytes + random.IntN(bytes)) / n }
}

func TestAFlippedByteInTheFileIsNeverUsedUnseen(t *testing.T) {
	t.Parallel()
	const flips = 400
	w, random := newWhole(t), rand.New(rand.NewPCG(17, 1))
	w.known = nil
	found := w.flips(t, flips, random, false, spread(len(w.closed), flips, random))
	if found[named]+found[refusedToStart] < flips/2 {
		t.Error("less than half of the bytes count for anything: the flips do not reach the data")
	}
}

// They are a few bytes in the file.
func TestAFlippedByteInASmallTableIsNeverUsedUnseen(t *testing.T) {
	t.Parallel()
	w, random := newWhole(t), rand.New(rand.NewPCG(17, 2))
	w.known = nil
	used := w.usedBytes(t, "heads", "claims", "cuts", "meta")
	w.flips(t, 150, random, false, func(int) int { return used[random.IntN(len(used))] })
}

// usedBytes are the places of the bytes in use of the first page of each of the tables.
func (w whole) usedBytes(t *testing.T, tables ...string) (used []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.db")
	check.Must(t, os.WriteFile(path, w.closed, 0o600))
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	check.Must(t, err)
	defer db.Close()
	size := int(binary.BigEndian.Uint16(w.closed[16:]))
	for _, table := range tables {
		var page int
		check.Must(t, db.QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&page))
		start := (page - 1) * size
		cells, content := int(binary.BigEndian.Uint16(w.closed[start+3:])), int(binary.BigEndian.Uint16(w.closed[start+5:]))
		for at := range size {
			if at < 8+2*cells || at >= content {
				used = append(used, start+at)
			}
		}
	}
	return used
}

// The log's frames bear checksums: SQLite takes what is behind a wrong one for never written, and the store is the one of
// an earlier moment. The heads that the worker has logged show that a record is missing. What may be lost unseen is the place of
// the outbox, moved after the last record: then an event is published again.
func TestAFlippedByteInTheLogIsNamedByKnownHeads(t *testing.T) {
	t.Parallel()
	const flips = 100
	w, random := newWhole(t), rand.New(rand.NewPCG(17, 3))
	w.answers = answers{chained: w.answers[chained]}
	w.flips(t, flips, random, true, spread(len(w.log), flips, random))
}
