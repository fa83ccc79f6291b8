package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hospital.example/analyze-retry/internal/retry"
	words "hospital.example/analyze-retry/internal/text"
)

// Store keeps the records: SQLite for one process, PostgreSQL for several. What it returns is complete and in
// the order of IDs unless said otherwise. Every method may be called by several goroutines; every error names
// the store. What visit is given is valid during the call, and visit's error ends a reading.
type Store interface {
	Log
	Outbox

	// Open calls visit with each claim that has not ended, in any order. Those that ended cost nothing. Rows
	// that cannot be read are left out; where that is all that is wrong, the error is an ErrRow for each of
	// them.
	Open(ctx context.Context, visit func(claimID string, state *State) error) error
	// Claim returns what is known of a claim, the zero state where it has ended, and its records as far back
	// as they are kept.
	Claim(ctx context.Context, claimID string) (State, []Record, error)
	// Between calls visit with each record decided in from <= At < to of these kinds, of any where none is
	// named, in the order of At and then of ID.
	Between(ctx context.Context, from, to time.Time, kinds []Kind, visit func(*Record) error) error
	// Totals counts the records that Between would show, in the database. What is alike may come in several
	// parts.
	Totals(ctx context.Context, from, to time.Time, kinds []Kind, visit func(*Total) error) error

	// Heads returns the signed end of every chain, and the cut of each that has one. A chain whose head is
	// gone comes with one that is not signed: its Signature is empty.
	Heads(ctx context.Context) (heads, cuts []Head, err error)
	// Walk shows the store as it is at one moment. Then it looks for damage that no record shows, such as in
	// what finds a record, and returns a *BrokenError for the first that it finds.
	Walk(ctx context.Context, w Walker) error
	// Purge removes, of each chain, the longest run of its oldest records that were all decided before a
	// time, and leaves a signed cut. With dry it only tells what it would remove. What else must stay,
	// [Purge] knows.
	Purge(ctx context.Context, before time.Time, dry bool) ([]Purged, error)

	Close() error
}

// Log is the part of a [Store] that a [Recorder] needs.
type Log interface {
	// Append stores the entries, their claims' rows, outbox and signed head in one transaction that is synced
	// to disk when it returns. An entry whose key is stored already is not stored again: the result is then
	// the stored one. Results are in the order of the entries, of which there are at most [MaxBatch].
	//
	// An error leaves open whether the records were stored; to append them again is safe, and with the same
	// slice no repetition. To append none shows whether the store takes writes, for the head is written all
	// the same.
	Append(ctx context.Context, entries []Entry) ([]Stored, error)
}

// Outbox is the part of a [Store] that publishes events.
type Outbox interface {
	// Lead makes the caller the one who publishes, among all processes on the store. It returns
	// ErrNotLeading where another process leads. It notes for good that the events are published.
	Lead(ctx context.Context) (Lead, error)
	// Backlog is how many records wait to be published, and when the first of them was decided. Nothing waits
	// in a store of which no process ever led.
	Backlog(ctx context.Context) (waiting int64, oldest time.Time, err error)
}

// Lead is held by the process that publishes, until it is released or the store is lost, of which all methods
// then tell. It is for one goroutine at a time.
type Lead interface {
	// Unpublished returns the first records whose event is not published, at most limit.
	Unpublished(ctx context.Context, limit int) ([]Record, error)
	// Published notes that the events of these records are published: the first of those that are not.
	Published(ctx context.Context, ids []int64) error
	Release()
}

// Total is how many records of a period are alike.
type Total struct {
	Kind   Kind
	Policy string
	// Class, Rule and Code are those of decisions.
	Class      retry.Class
	Rule, Code string
	// Flags and Minutes are of the courses of claims that ended; Minutes is what each took, rounded up.
	Flags   CourseFlags
	Minutes int64
	// Records is how many there are, Attempts and Seconds are the sums of what their courses took.
	Records, Attempts, Seconds int64
}

// ErrNotLeading says that another process publishes the events.
var ErrNotLeading = errors.New("another process publishes the events of this store")

// ErrHeld says that another process holds a store that is for one process only. It is worded when it is read.
var ErrHeld = errors.Join(words.Messagef("in use by another process (fuser -v shows which); " +
	"SQLite is for one worker: stop that one, give this one its own file, or use postgres:// for several"))

// WrongSchema returns the error about a store of another version of the worker, by the versions of the schema
// that it has and that this worker knows.
func WrongSchema(has, knows int64) error {
	return words.Messagef("the audit store has schema version %d, and this worker knows version %d only: "+
		"run the worker that made it, or begin a new store with a key of its own", has, knows)
}

// WrongKey returns the error about a store that was made with another key, by the IDs of the two.
func WrongKey(store, given string) error {
	return fmt.Errorf("the audit store was made with the key %s, not with %s: "+
		"give RETRY_AUDIT_KEY_FILE the store's own key; all replicas share it", store, given)
}
