package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	last     time.Time     // when the store took a write last
	lost     error         // why the store takes no writes, nil while it does
	back     chan struct{} // closed when the store takes writes again; nil while it does
}

// request is the records of one batch, and what became of them.
type request struct {
	records  []Record
	answered []int64 // marks to clear in the same transaction
	results  []Appended
	err      error
	done     chan struct{}
}

// gone is a record whose answer found no job.
type gone struct {
	record Record
	since  time.Time
}

const (
	// appendTries is how often saving is tried inside a job's deadline (RN-BIL-005 section VII).
	appendTries = 3
	// appendTimeout bounds one try, so that three of them and the pauses between them fit into the four and a half of a
	// handler's five seconds for which it waits.
	appendTimeout = 1400 * time.Millisecond
	// probeTimeout bounds one look whether the store is back.
	probeTimeout = 2 * time.Second
	// goneAfter is how long the mark of another worker's answer may take to be seen.
	goneAfter = 5 * time.Second
	// housekeepingEvery is how long answered marks wait for a transaction to go along with.
	housekeepingEvery = time.Second
	// idleProbe is how long a store is taken for granted that nobody writes to.
	idleProbe = 10 * time.Second
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
	r := &Recorder{store: store, last: time.Now(), log: o.Logger, failed: o.Failed, appended: o.Appended, writing: make(chan struct{}, 1)}
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
	return r.record(ctx, &request{records: records, done: make(chan struct{})})
}

func (r *Recorder) record(ctx context.Context, q *request) ([]Appended, error) {
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
	group, marks := r.waiting, r.answered
	r.waiting, r.answered, r.since = nil, nil, time.Now()
	r.mu.Unlock()
	if len(group) == 0 && len(marks) == 0 {
		r.idle()
		return
	}
	var records []Record
	answered := slices.Clip(marks)
	for _, q := range group {
		records, answered = append(records, q.records...), append(answered, q.answered...)
	}
	results, err := r.append(ctx, records, answered)
	for _, q := range group {
		if q.err = err; err == nil {
			q.results, results = results[:len(q.records):len(q.records)], results[len(q.records):]
		}
		close(q.done)
	}
	if err != nil { // who has asked for more brings its own again
		r.mu.Lock()
		r.answered = append(r.answered, marks...)
		r.mu.Unlock()
	}
}

// idle notes that no append is under way.
func (r *Recorder) idle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since = time.Time{}
}

// append stores records, together if that can be done, and otherwise each for itself, so that one which cannot be stored
// harms no other.
func (r *Recorder) append(ctx context.Context, records []Record, answered []int64) ([]Appended, error) {
	results, err := backoff.Retry(ctx, func() ([]Appended, error) {
		results, err := r.try(ctx, records, answered)
		if errors.Is(err, ErrRefused) {
			err = backoff.Permanent(err)
		}
		return results, err
	}, backoff.WithMaxTries(appendTries), backoff.WithBackOff(pause(50*time.Millisecond, time.Second)))
	if errors.Is(err, ErrRefused) {
		if results, err = r.oneByOne(ctx, records); err == nil {
			_, err = r.try(ctx, nil, answered)
		}
	}
	r.idle()
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

// pause is an exponential back-off with jitter between the two.
func pause(least, most time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = least, most
	return b
}
