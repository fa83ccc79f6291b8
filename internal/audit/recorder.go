package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/ops/outage"
)

// Recorder appends the decisions of all batches that wait at the same time in one transaction, tries again if
// that fails, and tracks whether the store takes writes. It is made by [NewRecorder] and safe for concurrent
// use.
type Recorder struct {
	store  Log
	log    *zap.Logger
	failed func()

	outage outage.Tracker

	mu      sync.Mutex
	waiting []*request
	since   time.Time // when the append under way began; zero while there is none
	last    time.Time // when the store last took a write
	refused time.Time // when it last refused records
}

// request is the entries of one batch, and what became of them.
type request struct {
	entries []Entry
	results []Stored
	err     error
	done    chan struct{}
}

const (
	// appendTries is how often an append is tried inside a job's deadline: once, and three times again
	// (RN-BIL-005 8.2).
	appendTries = 4
	// appendTimeout bounds one try, so that four of them and the pauses between them fit into the four and a
	// half of a handler's five seconds for which it waits.
	appendTimeout = time.Second
	// probeTimeout bounds one probe of the store.
	probeTimeout = 2 * time.Second
	// watchEvery is how often the store is looked after, idleProbe how long an idle one counts as available
	// without a probe.
	watchEvery = time.Second
	idleProbe  = 10 * time.Second
)

// NewRecorder makes a recorder on a store. It calls failed, which must not block, for every try to append
// that failed. Its Run must run while it is used.
func NewRecorder(store Log, log *zap.Logger, failed func()) *Recorder {
	return &Recorder{store: store, log: log, failed: failed, last: time.Now(), outage: outage.Tracker{
		Log:    log,
		Level:  zapcore.ErrorLevel,
		Lost:   "store_lost",
		Back:   "store_back",
		Detail: "jobs go back to the broker with their retries unchanged until the store is back",
	}}
}

// Record stores the entries, synced to disk, and returns what became of each, in order. An error means that
// the store is lost, or that ctx ended: the records may or may not have been stored, and to record them again
// is safe.
func (r *Recorder) Record(ctx context.Context, entries []Entry) ([]Stored, error) {
	q := &request{entries: entries, done: make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, q)
	if r.since.IsZero() {
		// In another goroutine and without this context: what is appended is not only the caller's, and a
		// hung disk ignores contexts.
		r.since = time.Now()
		go r.appendWaiting(context.WithoutCancel(ctx))
	}
	r.mu.Unlock()
	select {
	case <-q.done:
		return q.results, q.err
	case <-ctx.Done(): // it may still be appended
		return nil, fmt.Errorf("audit store: %w", ctx.Err())
	}
}

// appendWaiting appends until no request waits, and completes the requests.
func (r *Recorder) appendWaiting(ctx context.Context) {
	for {
		began := time.Now()
		group, entries := r.take(began)
		if group == nil {
			return
		}
		results, err := r.append(ctx, entries)
		r.mu.Lock()
		if err != nil {
			r.refused = time.Now()
		}
		r.observe(began, err)
		r.mu.Unlock()
		for _, q := range group {
			if q.err = err; err == nil {
				q.results, results = results[:len(q.entries):len(q.entries)], results[len(q.entries):]
			}
			close(q.done)
		}
	}
}

// take takes the requests of the next transaction: all that wait, as far as they fit in.
func (r *Recorder) take(now time.Time) (group []*request, entries []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.waiting) > 0 && (len(group) == 0 || len(entries)+len(r.waiting[0].entries) <= MaxBatch) {
		group, entries = append(group, r.waiting[0]), append(entries, r.waiting[0].entries...)
		r.waiting = r.waiting[1:]
	}
	if r.since = now; group == nil {
		r.since = time.Time{}
	}
	return group, entries
}

// append stores entries, if need be at the fourth try.
func (r *Recorder) append(ctx context.Context, entries []Entry) (results []Stored, err error) {
	backoff := outage.Backoff{Min: 25 * time.Millisecond, Max: 250 * time.Millisecond}
	for n := range appendTries {
		if n > 0 {
			outage.Sleep(ctx, backoff.Next())
		}
		trying, cancel := context.WithTimeout(ctx, appendTimeout)
		results, err = r.store.Append(trying, entries)
		cancel()
		if err == nil {
			break
		}
		r.failed()
	}
	for i := range results {
		if why := results[i].Err; why != nil {
			r.log.Error("decision_cannot_be_stored", zap.Int64("jobKey", entries[i].JobKey), zap.Error(why))
		}
	}
	return results, err
}

// Err returns why the store takes no writes, nil while it does.
func (r *Recorder) Err() error { return r.outage.Err() }

// Wait waits until the store may take writes. It fails when ctx ends.
func (r *Recorder) Wait(ctx context.Context) error { return r.outage.Wait(ctx) }

// observe notes whether a write that began at this time succeeded. The caller holds the mutex.
func (r *Recorder) observe(began time.Time, err error) {
	if err != nil {
		r.outage.Failed(began, err)
		return
	}
	r.last = time.Now()
	r.outage.Succeeded()
}

// Run probes a store that is lost or idle until ctx ends.
func (r *Recorder) Run(ctx context.Context) {
	for ctx.Err() == nil {
		outage.Sleep(ctx, watchEvery)
		if busy, lost := r.busy(), r.Err() != nil; lost || !busy { // also a lost store may hang
			r.probe(ctx, lost)
		}
	}
}

// probe probes the store. A probe that is only late does not say why, and keeps the error that does. One that
// comes through writes less than records do, and may fit on a disk that is full: while it is not long ago
// that records were refused, it lets jobs come, and the store is back when it takes theirs.
func (r *Recorder) probe(ctx context.Context, lost bool) {
	probing, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	began := time.Now()
	_, err := r.store.Append(probing, nil)
	if err != nil && (lost && probing.Err() != nil || ctx.Err() != nil) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && time.Since(r.refused) < idleProbe {
		r.outage.Try()
		return
	}
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
