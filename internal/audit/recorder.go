package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"
)

// Recorder appends the decisions of all batches that wait at the same time in one transaction, tries again where that
// fails, and knows whether the store takes writes. It is made by [NewRecorder] and safe for use by several goroutines.
type Recorder struct {
	store Log
	log   *zap.Logger
	// failed counts a try that failed; appended tells that there is something new.
	failed, appended func()

	writing chan struct{} // holds one token: who has it appends for all that wait

	mu       sync.Mutex
	waiting  []*request
	answered []int64
	gone     []gone
	since    time.Time     // when the append under way began; zero while there is none
	lost     error         // why the store takes no writes, nil while it does
	back     chan struct{} // closed when the store takes writes again; nil while it does
}

// request is the records of one batch, and what became of them.
type request struct {
	records []Record
	results []Appended
	err     error
	done    chan struct{}
}

// gone is a record whose answer found no job.
type gone struct {
	record Record
	since  time.Time
}

const (
	// appendTries is how often saving is tried inside a job's deadline (RN-BIL-005 section VII).
	appendTries = 3
	// appendTimeout bounds one try, so that three of them fit into the five seconds of a handler.
	appendTimeout = 1500 * time.Millisecond
	// probeTimeout bounds one look whether the store is back.
	probeTimeout = 2 * time.Second
	// goneAfter is how long the mark of another worker's answer may take to be seen.
	goneAfter = 5 * time.Second
	// housekeepingEvery is how long answered marks wait for a transaction to go along with.
	housekeepingEvery = time.Second
)

// RecorderOptions are what a recorder may be given beside its store. The zero value is of use.
type RecorderOptions struct {
	// Logger defaults to none.
	Logger *zap.Logger
	// Failed is called for every try to append that failed, Appended after every append. Both default to nothing and
	// must not block.
	Failed, Appended func()
}

// NewRecorder makes a recorder on a store. Its Run must run while it is used.
func NewRecorder(store Log, o RecorderOptions) *Recorder {
	r := &Recorder{store: store, log: o.Logger, failed: o.Failed, appended: o.Appended, writing: make(chan struct{}, 1)}
	if r.log == nil {
		r.log = zap.NewNop()
	}
	if r.failed == nil {
		r.failed = func() {}
	}
	if r.appended == nil {
		r.appended = func() {}
	}
	return r
}

// Record stores the records, synced to disk, and returns what became of each, in order. A record that the store
// refuses although it takes others comes back with ID 0. An error means that the store is lost, or that ctx ended: the
// records may or may not have been stored, and to record them again is safe.
func (r *Recorder) Record(ctx context.Context, records []Record) ([]Appended, error) {
	q := &request{records: records, done: make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, q)
	r.mu.Unlock()
	select {
	case r.writing <- struct{}{}:
		// Not here, and not with this context: what is appended is not only the caller's, and a disk that hangs minds no
		// context at all.
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
		default: // whoever comes next may still append it
			return nil, fmt.Errorf("audit store: %w", ctx.Err())
		}
	}
	return q.results, q.err
}

// appendWaiting appends what all requests brought that wait now, in one transaction, and tells them.
func (r *Recorder) appendWaiting(ctx context.Context) {
	r.mu.Lock()
	group, answered := r.waiting, r.answered
	r.waiting, r.answered, r.since = nil, nil, time.Now()
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.since = time.Time{}
		r.mu.Unlock()
	}()
	if len(group) == 0 && len(answered) == 0 {
		return
	}
	var records []Record
	if len(group) == 1 {
		records = group[0].records
	} else {
		for _, q := range group {
			records = append(records, q.records...)
		}
	}
	results, err := r.append(ctx, records, answered)
	for _, q := range group {
		if q.err = err; err == nil {
			q.results, results = results[:len(q.records):len(q.records)], results[len(q.records):]
		}
		close(q.done)
	}
	if err != nil {
		r.mu.Lock()
		r.answered = append(r.answered, answered...)
		r.mu.Unlock()
	}
}

// append stores records, together if that can be done, and otherwise each for itself, so that one which cannot be stored
// harms no other.
func (r *Recorder) append(ctx context.Context, records []Record, answered []int64) ([]Appended, error) {
	results, err := backoff.Retry(ctx, func() ([]Appended, error) {
		return r.try(ctx, records, answered)
	}, backoff.WithMaxTries(appendTries), backoff.WithBackOff(pause(50*time.Millisecond, time.Second)))
	if err != nil && len(records) > 0 && r.probe(ctx) == nil {
		results, err = r.oneByOne(ctx, records)
	}
	if err != nil {
		r.setLost(err)
		return nil, err
	}
	r.setBack()
	if len(records) > 0 {
		r.appended()
	}
	return results, nil
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

// oneByOne stores records that could not be stored together although the store takes writes.
func (r *Recorder) oneByOne(ctx context.Context, records []Record) ([]Appended, error) {
	results := make([]Appended, len(records))
	for i := range records {
		one, err := r.try(ctx, records[i:i+1:i+1], nil)
		switch {
		case err == nil:
			results[i] = one[0]
		case r.probe(ctx) != nil:
			return nil, err
		default:
			r.log.Error("decision_cannot_be_stored", zap.Int64("jobKey", records[i].JobKey), zap.Error(err))
		}
	}
	return results, nil
}

// Answered notes that the answer of a record has reached the broker.
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
	r.gone = append(r.gone, gone{record, time.Now()})
}

// Err is why the store takes no writes, nil while it does.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// Wait waits until the store takes writes. It fails when ctx ends.
func (r *Recorder) Wait(ctx context.Context) error {
	r.mu.Lock()
	back := r.back
	r.mu.Unlock()
	if back == nil {
		return ctx.Err()
	}
	select {
	case <-back:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run looks whether a lost store is back, and writes down what has no decision to go along with, until ctx ends. Then it
// writes once more what there is, within a second.
func (r *Recorder) Run(ctx context.Context) {
	tick := time.NewTicker(housekeepingEvery)
	defer tick.Stop()
	probing := pause(50*time.Millisecond, 2*time.Second)
	for {
		r.mu.Lock()
		lost := r.back != nil
		r.mu.Unlock()
		next := tick.C
		if lost {
			next = time.After(probing.NextBackOff())
		} else {
			probing.Reset()
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			r.housekeep(last)
			return
		case <-next:
		}
		switch {
		case !lost:
			r.watch()
			r.housekeep(ctx)
		case r.probe(ctx) == nil:
			r.setBack()
		}
	}
}

func (r *Recorder) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return r.store.Probe(ctx)
}

// watch counts a store as lost in which an append hangs.
func (r *Recorder) watch() {
	r.mu.Lock()
	since := r.since
	r.mu.Unlock()
	if !since.IsZero() && time.Since(since) > appendTries*appendTimeout {
		r.setLost(errors.New("audit store: an append hangs"))
	}
}

// housekeep writes answered marks that no decision took along, and records answers that have not arrived.
func (r *Recorder) housekeep(ctx context.Context) {
	var due []Record
	r.mu.Lock()
	rest := r.gone[:0]
	for _, g := range r.gone {
		if time.Since(g.since) >= goneAfter {
			due = append(due, g.record)
		} else {
			rest = append(rest, g)
		}
	}
	r.gone = rest
	idle := len(r.answered) == 0 && len(due) == 0
	r.mu.Unlock()
	if idle {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := r.recordUndelivered(ctx, due); err != nil {
		r.mu.Lock()
		for _, record := range due {
			r.gone = append(r.gone, gone{record: record})
		}
		r.mu.Unlock()
	}
}

func (r *Recorder) recordUndelivered(ctx context.Context, due []Record) error {
	byID := map[int64]*Record{}
	ids := make([]int64, len(due))
	for i := range due {
		ids[i], byID[due[i].ID] = due[i].ID, &due[i]
	}
	var records []Record
	if len(ids) > 0 {
		still, err := r.store.Unanswered(ctx, ids)
		if err != nil {
			return err
		}
		for _, id := range still {
			records = append(records, undelivered(byID[id]))
			r.Answered(id) // whatever becomes of the process now, this answer is settled
		}
	}
	_, err := r.Record(ctx, records)
	return err
}

// undelivered is the record that says that the answer of another one did not arrive.
func undelivered(r *Record) Record {
	key := r.Key
	sum := sha256.Sum256(append([]byte("undelivered\x00"), r.Inputs[:]...))
	copy(key.Inputs[:], sum[:])
	return Record{
		Kind: KindUndelivered, At: time.Now().UTC().Truncate(time.Microsecond), Key: key,
		ClaimID: r.ClaimID, RetryCount: r.RetryCount, Detail: `{"undelivered":"` + r.Hash.String() + `"}`,
	}
}

func (r *Recorder) setLost(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = err
	if r.back == nil {
		r.back = make(chan struct{})
		r.log.Error("store_lost", zap.Error(err), zap.String("detail", "jobs go back to the broker with their retries unchanged until the store is back"))
	}
}

func (r *Recorder) setBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.back != nil {
		close(r.back)
		r.back, r.lost = nil, nil
		r.log.Info("store_back")
	}
}

// pause is an exponential back-off with jitter between the two.
func pause(least, most time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = least, most
	return b
}
