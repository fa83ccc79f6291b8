package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/outage"
)

// Recorder appends the decisions of all batches that wait at the same time in one transaction, tries again if that fails,
// and tracks whether the store takes writes. It is made by [NewRecorder] and safe for concurrent use.
type Recorder struct {
	store Log
	log   *zap.Logger
	// failed is called for every failed try, appended when there are new records.
	failed, appended func()

	outage  outage.Tracker
	writing chan struct{} // holds one token: its holder appends for all that wait

	mu       sync.Mutex
	waiting  []*request
	answered []int64
	notFound []notFound
	since    time.Time // when the append under way began; zero while there is none
	last     time.Time // when the store last took a write
}

// request is the records of one batch, and what became of them.
type request struct {
	records  []Record
	answered []int64 // marks to clear in the same transaction
	results  []Appended
	err      error
	done     chan struct{}
}

// notFound is a record whose answer found no job.
type notFound struct {
	record Record
	since  time.Time
}

const (
	// appendTries is how often an append is tried inside a job's deadline (RN-BIL-005 section VII).
	appendTries = 3
	// appendTimeout bounds one try, so that three of them and the pauses between them fit into the four and a half of a
	// handler's five seconds for which it waits.
	appendTimeout = 1400 * time.Millisecond
	// probeTimeout bounds one probe of the store.
	probeTimeout = 2 * time.Second
	// undeliveredAfter is how long the mark of another worker's answer may take to be seen.
	undeliveredAfter = 5 * time.Second
	// housekeepingEvery is how long answered marks wait for a transaction to go along with.
	housekeepingEvery = time.Second
	// idleProbe is how long an idle store counts as available without a probe.
	idleProbe = 10 * time.Second
)

// RecorderOptions configure a recorder. Its zero value is valid.
type RecorderOptions struct {
	// Logger defaults to none.
	Logger *zap.Logger
	// Failed is called for every try to append that failed, Appended after every append. Both are optional and must not
	// block.
	Failed, Appended func()
}

// NewRecorder makes a recorder on a store. Its Run must run while it is used.
func NewRecorder(store Log, o RecorderOptions) *Recorder {
	r := &Recorder{store: store, last: time.Now(), log: cmp.Or(o.Logger, zap.NewNop()), failed: o.Failed, appended: o.Appended, writing: make(chan struct{}, 1)}
	if r.failed == nil {
		r.failed = func() {}
	}
	if r.appended == nil {
		r.appended = func() {}
	}
	r.outage.Log, r.outage.Lost, r.outage.Back, r.outage.Level = r.log, "store_lost", "store_back", zapcore.ErrorLevel
	r.outage.Detail = "jobs go back to the broker with their retries unchanged until the store is back"
	return r
}

// Record stores the records, synced to disk, and returns what became of each, in order. A record that the store
// refuses although it takes others comes back with ID 0. An error means that the store is lost, or that ctx ended: the
// records may or may not have been stored, and to record them again is safe.
func (r *Recorder) Record(ctx context.Context, records []Record) ([]Appended, error) {
	return r.record(ctx, &request{records: records, done: make(chan struct{})})
}

func (r *Recorder) record(ctx context.Context, q *request) ([]Appended, error) {
	r.mu.Lock()
	r.waiting = append(r.waiting, q)
	r.mu.Unlock()
	select {
	case r.writing <- struct{}{}:
		// In another goroutine and without this context: what is appended is not only the caller's, and a hung disk
		// ignores contexts.
		go func() {
			r.appendWaiting(context.WithoutCancel(ctx))
			<-r.writing
		}()
	case <-q.done:
	case <-ctx.Done():
	}
	select {
	case <-q.done:
	case <-ctx.Done():
		select {
		case <-q.done:
		default: // the next holder of the token may still append it
			return nil, fmt.Errorf("audit store: %w", ctx.Err())
		}
	}
	return q.results, q.err
}

// appendWaiting appends in one transaction what all requests that wait now brought, and completes them.
func (r *Recorder) appendWaiting(ctx context.Context) {
	began := time.Now()
	r.mu.Lock()
	group, marks := r.waiting, r.answered
	if len(group) == 0 && len(marks) == 0 {
		r.mu.Unlock()
		return
	}
	r.waiting, r.answered, r.since = nil, nil, began
	r.mu.Unlock()
	var records []Record
	answered := slices.Clip(marks)
	for _, q := range group {
		records, answered = append(records, q.records...), append(answered, q.answered...)
	}
	results, err := r.append(ctx, records, answered)
	r.mu.Lock()
	r.since = time.Time{}
	if err != nil { // a request brings its own marks again
		r.answered = append(r.answered, marks...)
	}
	r.observe(began, err)
	r.mu.Unlock()
	if err == nil && len(records) > 0 {
		r.appended()
	}
	for _, q := range group {
		if q.err = err; err == nil {
			q.results, results = results[:len(q.records):len(q.records)], results[len(q.records):]
		}
		close(q.done)
	}
}

// append stores records, together if possible, and otherwise one by one, so that one which cannot be stored harms no other.
func (r *Recorder) append(ctx context.Context, records []Record, answered []int64) (results []Appended, err error) {
	backoff := outage.Backoff{Min: 25 * time.Millisecond, Max: time.Second}
	results, err = r.try(ctx, records, answered)
	for range appendTries - 1 {
		if err == nil || errors.Is(err, ErrRefused) {
			break
		}
		outage.Sleep(ctx, backoff.Next())
		results, err = r.try(ctx, records, answered)
	}
	if errors.Is(err, ErrRefused) {
		if results, err = r.oneByOne(ctx, records); err == nil {
			_, err = r.try(ctx, nil, answered)
		}
	}
	return results, err
}

func (r *Recorder) try(ctx context.Context, records []Record, answered []int64) ([]Appended, error) {
	ctx, cancel := context.WithTimeout(ctx, appendTimeout)
	defer cancel()
	results, err := r.store.Append(ctx, records, answered)
	if err != nil {
		r.failed()
	}
	return results, err
}

// oneByOne stores records of which the store refuses some.
func (r *Recorder) oneByOne(ctx context.Context, records []Record) ([]Appended, error) {
	results := make([]Appended, len(records))
	for i := range records {
		one, err := r.try(ctx, records[i:i+1:i+1], nil)
		switch {
		case err == nil:
			results[i] = one[0]
		case errors.Is(err, ErrRefused):
			r.log.Error("decision_cannot_be_stored", zap.Int64("jobKey", records[i].JobKey), zap.Error(err))
		default:
			return nil, err
		}
	}
	return results, nil
}

// Err returns why the store takes no writes, nil while it does.
func (r *Recorder) Err() error { return r.outage.Err() }

// Wait waits until the store takes writes. It fails when ctx ends.
func (r *Recorder) Wait(ctx context.Context) error { return r.outage.Wait(ctx) }

// Lost notes a failure of the store outside the recorder: the store counts as lost until it takes a write.
func (r *Recorder) Lost(err error) {
	r.failed()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.observe(time.Now(), err)
}

// observe notes whether a write that began at this time succeeded. The caller holds the mutex.
func (r *Recorder) observe(began time.Time, err error) {
	if err != nil {
		r.outage.Failed(began, err)
		return
	}
	r.last = time.Now()
	if r.outage.Succeeded() {
		for i := range r.notFound { // other workers could not clear their marks either
			r.notFound[i].since = r.last
		}
	}
}

// Run probes a store that is lost or idle, and writes what no decision takes along, until ctx ends. Then it writes the rest
// within a second.
func (r *Recorder) Run(ctx context.Context) {
	tick := time.NewTicker(housekeepingEvery)
	defer tick.Stop()
	backoff := outage.Backoff{Min: 50 * time.Millisecond, Max: 2 * time.Second}
	for {
		lost, next := r.Err() != nil, tick.C
		if lost {
			next = time.After(backoff.Next())
		} else {
			backoff.Reset()
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			r.housekeep(last)
			select { // for an append that nobody waits for any more
			case r.writing <- struct{}{}:
				<-r.writing
			case <-last.Done():
			}
			return
		case <-next:
		}
		if lost || !r.busy() {
			r.probe(ctx, lost)
		}
		if !lost {
			r.housekeep(ctx)
		}
	}
}

// probe probes the store. It keeps the error for which the store was lost.
func (r *Recorder) probe(ctx context.Context, lost bool) {
	probing, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	began := time.Now()
	err := r.store.Probe(probing)
	if err != nil && (lost || ctx.Err() != nil) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.observe(began, err)
}

// busy reports whether the store is or was just written to. If an append hangs, the store is lost.
func (r *Recorder) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		return time.Since(r.last) < idleProbe
	}
	if time.Since(r.since) > appendTries*appendTimeout {
		r.observe(r.since, errors.New("audit store: an append hangs"))
	}
	return true
}

// Answered notes that the broker has accepted the answer of a record.
func (r *Recorder) Answered(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = append(r.answered, id)
}

// Gone notes that the answer of a record found no job. Unless another worker turns out to have answered it, that is
// recorded as KindUndelivered.
func (r *Recorder) Gone(record Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notFound = append(r.notFound, notFound{record, time.Now()})
}

// housekeep writes answered marks that no decision took along, and records answers that were not delivered.
func (r *Recorder) housekeep(ctx context.Context) {
	var due []Record
	r.mu.Lock()
	r.notFound = slices.DeleteFunc(r.notFound, func(n notFound) bool {
		if time.Since(n.since) < undeliveredAfter {
			return false
		}
		due = append(due, n.record)
		return true
	})
	idle := len(r.answered) == 0 && len(due) == 0
	r.mu.Unlock()
	if idle {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := r.recordUndelivered(ctx, due); err != nil {
		for _, record := range due {
			r.Gone(record)
		}
	}
}

func (r *Recorder) recordUndelivered(ctx context.Context, due []Record) error {
	// First the marks that wait here: one of them may be of a record that is due.
	if _, err := r.Record(ctx, nil); err != nil || len(due) == 0 {
		return err
	}
	ids := make([]int64, len(due))
	for i := range due {
		ids[i] = due[i].ID
	}
	ids, err := r.store.Unanswered(ctx, ids)
	if err != nil || len(ids) == 0 {
		return err
	}
	open := slices.DeleteFunc(slices.Clone(due), func(r Record) bool { return !slices.Contains(ids, r.ID) })
	q := &request{done: make(chan struct{})}
	for i := range open {
		q.records, q.answered = append(q.records, undelivered(&open[i])), append(q.answered, open[i].ID) // it is settled by that
	}
	_, err = r.record(ctx, q)
	return err
}

// undelivered returns the record that the answer of another one was not delivered.
func undelivered(r *Record) Record {
	key := r.Key
	sum := sha256.Sum256(append([]byte("undelivered\x00"), r.Inputs[:]...))
	copy(key.Inputs[:], sum[:])
	detail := contract.Detail{Undelivered: r.Hash.String()}
	return Record{
		Kind: KindUndelivered, At: time.Now().UTC().Truncate(time.Microsecond), Key: key,
		ClaimID: r.ClaimID, RetryCount: r.RetryCount, Detail: detail.Encode(),
	}
}
