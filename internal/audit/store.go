package audit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store keeps the records: SQLite for one process, PostgreSQL for several. What it returns is complete and in the order
// of IDs unless said otherwise. Every method may be called by several goroutines; every error is about the store and
// names it.
type Store interface {
	Log
	Outbox
	History
	Maintenance
	Close() error
}

// Log is what the recording of decisions needs.
type Log interface {
	// Append stores the records in one transaction that is synced to disk when it returns, with an outbox row and a
	// mark "unanswered" for each, and clears that mark of the answered IDs. A record whose key is stored already is not
	// stored again: the result is then the stored one. Results are in the order of the records.
	//
	// An error leaves open whether the records were stored; to append them again is safe. It is ErrRefused where the store
	// will never take one of them, for what is in it, and then none was stored.
	Append(ctx context.Context, records []Record, answered []int64) ([]Appended, error)
	// Unanswered returns those of the records that still have the mark "unanswered".
	Unanswered(ctx context.Context, ids []int64) ([]int64, error)
	// Probe reports whether the store takes writes, by making one.
	Probe(ctx context.Context) error
}

// Appended is what became of a record that was to be appended.
type Appended struct {
	// Record is the stored one: the one given, or the earlier one of the same key.
	Record Record
	// Repeated says that it is the earlier one.
	Repeated bool
	// JobKeyReused says that this job key is stored with another process instance of the same cluster name: the broker's
	// data was wiped, or two clusters have the same name. It is false for a repeated record, which was warned about before.
	JobKeyReused bool
}

// Outbox is what the relay of the events needs. The rows of the outbox are those records whose event is not published.
type Outbox interface {
	// Lead makes the caller the one who publishes, among all processes on the store, until release is called or the
	// store is lost. It returns ErrNotLeading where another process leads. It notes for good that the events are published.
	Lead(ctx context.Context) (release func(), err error)
	// Unpublished returns the first records that wait to be published and whose ID is greater than after, at most limit.
	Unpublished(ctx context.Context, after int64, limit int) ([]Record, error)
	// Published removes records from the outbox.
	Published(ctx context.Context, ids []int64) error
	// Backlog is how many records wait to be published, and when the first of them was decided; the zero time where
	// none waits.
	Backlog(ctx context.Context) (waiting int64, oldest time.Time, err error)
}

// ErrNotLeading says that another process publishes the events.
var ErrNotLeading = errors.New("another process publishes the events of this store")

// History is what is asked of the past. All of it is read-only.
type History interface {
	// Claim returns all records of a claim.
	Claim(ctx context.Context, claimID string) ([]Record, error)
	// Between calls visit with each record decided in from <= At < to, in the order of At and then of ID. It stops at
	// visit's error.
	Between(ctx context.Context, from, to time.Time, visit func(*Record) error) error
	// OpenClaims calls visit with each claim that failed and has not ended, in the order of Opened and then of the claim's ID. The
	// claims that ended cost nothing, however many there are. What visit is given is valid during the call. It stops at visit's error.
	OpenClaims(ctx context.Context, visit func(*OpenClaim) error) error
	// Rounds returns how the present round of submissions of each of the claims went, in their order: since the claim's last
	// outcome, if there is one. A claim may be named more than once. It reads the first MaxRound records of each round.
	Rounds(ctx context.Context, claimIDs []string) ([]Round, error)
	// FirstFailures returns Round.FirstFailure of each of the claims, in their order, and takes as long for a claim with a
	// million records as for one with ten.
	FirstFailures(ctx context.Context, claimIDs []string) ([]time.Time, error)
	// Retried returns, for each of the jobs in their order, how many other jobs of the same claim and process instance got a retry
	// in the present round: since the claim's last outcome, and since the instance was last stopped by a decision. A job counts
	// once, however often its inputs were corrected. It reads the last MaxRound records of each round.
	Retried(ctx context.Context, jobs []RoundJob) ([]int, error)
}

// OpenClaim is a claim that failed and has not ended: no outcome says since then that the insurer accepted it or that it was given
// up. A job whose input named no claim is none.
type OpenClaim struct {
	// Record is the claim's last one. One that does not show its state ([Kind.ShowsState]) is passed over.
	Record
	// Opened is when the claim's first record since its last end was decided.
	Opened time.Time
}

// Round is what is known of one round of submissions of a claim.
type Round struct {
	// Failures is how many submissions are known to have failed: the jobs with a decision, each counted once however
	// often its inputs were corrected. Retries is how many of them had a retry scheduled.
	Failures, Retries int
	// AtLeast reports that the round has MaxRound records or more, and that Failures and Retries are those of the first
	// MaxRound.
	AtLeast bool
	// FirstFailure is when the failure was decided about that was recorded first; zero where there is none among the first
	// MaxRound records of the round.
	FirstFailure time.Time
	// Opened is when the claim's first record since its last end was decided, zero where it has none: see [OpenClaim]. Resubmitted
	// reports that the round began with a resubmission.
	Opened      time.Time
	Resubmitted bool
	// Policy is the one that made the last decision among the first MaxRound records of the round. Where there is none it is that
	// of the outcome before the round, empty where there is none either.
	Policy string
}

// RoundJob is a job of which [History.Retried] is asked.
type RoundJob struct {
	ClaimID, Cluster           string
	ProcessInstanceKey, JobKey int64
}

// MaxRound is how many records of a round are read. A claim that is tried 1,000 times, as often as a policy can allow, and
// has each answer undelivered, each input corrected and each wait cut short by a person, stays within it. More come from a
// process that loops.
const MaxRound = 4000

// Maintenance is what checking and purging need.
type Maintenance interface {
	// Heads returns the signed end of every chain. A chain that has records or a cut, or is known to have had some, but has
	// no head comes with one that nobody signed: its Signature is empty.
	Heads(ctx context.Context) ([]Head, error)
	// Cuts returns what stands for removed records, at most one of each chain.
	Cuts(ctx context.Context) ([]Cut, error)
	// Walk calls visit with the records of a chain after a place, in the chain's order. The record is only valid during
	// the call. It stops at visit's error.
	Walk(ctx context.Context, chain int, after int64, visit func(*Record) error) error
	// Check looks for damage of the store that no chain shows, as in what finds a record, and returns a *BrokenError for
	// the first that it finds.
	Check(ctx context.Context) error
	// Expired returns, for each chain that has any, the longest run of its oldest records that were all decided before a
	// time, and ends before the first one whose event is not published. Where no process ever led, nothing is ever published,
	// and unpublished records do not hold it up.
	Expired(ctx context.Context, before time.Time) ([]Expired, error)
	// Purge stores a signed cut in the place of the chain's earlier one and removes what it stands for, in one transaction. It
	// refuses a cut that was not signed with the store's key, or does not bear the hash of its last record.
	Purge(ctx context.Context, cut Cut) error
}

// ErrRefused says that a store is well, but does not take a record for what is in it.
var ErrRefused = errors.New("the store does not take this record")

// HeldError says that another process holds a store that is for one process only.
type HeldError struct {
	Store string // the file
}

// Error names the file and what to do.
func (e *HeldError) Error() string {
	return e.Store + " is in use by another process (fuser -v shows which); SQLite is for one worker: stop that one, give this one its own file, or use postgres:// for several"
}

// WrongSchema returns the error about a store of another version of the worker, by the versions of the schema that it has and
// that this worker knows.
func WrongSchema(has, knows int64) error {
	return fmt.Errorf("the audit store has schema version %d, and this worker knows version %d only: run the worker that made it, or begin a new store with a key of its own", has, knows)
}

// WrongKey returns the error about a store that was made with another key, by the IDs of the two.
func WrongKey(store, given string) error {
	return fmt.Errorf("the audit store was made with the key %s, not with %s: give RETRY_AUDIT_KEY_FILE the store's own key; all replicas share it", store, given)
}

// WrongTenant returns the error about a store that was made for another tenant.
func WrongTenant(store, given string) error {
	return fmt.Errorf("the audit store was made for the tenant %s, not for %s: set RETRY_TENANT to %[1]s, or name another store by RETRY_DATABASE_URL", store, given)
}
