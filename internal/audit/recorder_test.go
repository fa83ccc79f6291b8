package audit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// disk is a store that fails and hangs on demand, which the real ones do not. What the real ones do is shown by
// their conformance suite.
type disk struct {
	mu      sync.Mutex
	appends [][]int64 // the job keys of each append that came through
	failing int       // appends that fail from now on
	dead    bool      // no writes at all
	full    bool      // no records, but a probe fits
	why     error     // errDisk if nil
	refuses int64     // a job whose entry cannot be stored
	hold    chan struct{}
	deaf    bool          // it does not mind the context
	slow    time.Duration // what each append takes, whatever the context
}

var errDisk = errors.New("disk")

func (d *disk) Append(ctx context.Context, entries []audit.Entry) ([]audit.Stored, error) {
	if len(entries) == 0 {
		return nil, d.probe(ctx)
	}
	if d.deaf {
		<-d.hold
	}
	<-time.After(d.slow)
	if d.hold != nil {
		select {
		case <-d.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failing > 0 || d.dead || d.full {
		d.failing--
		return nil, d.reason()
	}
	var keys []int64
	results := make([]audit.Stored, len(entries))
	for i, e := range entries {
		if e.JobKey == d.refuses && d.refuses != 0 {
			results[i].Err = audit.ErrRow
			continue
		}
		keys = append(keys, e.JobKey)
		results[i].Record.ID = e.JobKey
	}
	d.appends = append(d.appends, keys)
	return results, nil
}

func (d *disk) probe(ctx context.Context) error {
	if d.hold != nil {
		select {
		case <-d.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return d.reason()
	}
	return nil
}

func (d *disk) reason() error {
	if d.why != nil {
		return d.why
	}
	return errDisk
}

func (d *disk) set(change func(*disk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

// recording is a recorder on a disk, in a bubble.
type recording struct {
	*testing.T
	*audit.Recorder
	disk   *disk
	logs   *observer.ObservedLogs
	failed atomic.Int32
}

func record(t *testing.T, d *disk, test func(*recording)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.DebugLevel)
		r := &recording{T: t, disk: d, logs: logs}
		if d.hold != nil {
			d.hold = make(chan struct{}) // one of the bubble's
		}
		r.Recorder = audit.NewRecorder(d, zap.New(core), func() { r.failed.Add(1) })
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.Recorder.Run(ctx) }()
		test(r)
		stop()
		<-done
	})
}

// appends are those that came through so far.
func (r *recording) appends() [][]int64 {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	return slices.Clone(r.disk.appends)
}

func batch(jobKeys ...int64) []audit.Entry {
	entries := make([]audit.Entry, len(jobKeys))
	for i, key := range jobKeys {
		entries[i].JobKey = key
	}
	return entries
}

// within is a handler's bound.
func (r *recording) within(d time.Duration, jobKeys ...int64) ([]audit.Stored, error) {
	ctx, cancel := context.WithTimeout(r.Context(), d)
	defer cancel()
	return r.Record(ctx, batch(jobKeys...))
}

func ids(results []audit.Stored) (list []int64) {
	for _, a := range results {
		list = append(list, a.Record.ID)
	}
	return list
}

func TestBatchesThatWaitTogetherAreOneTransaction(t *testing.T) {
	t.Parallel()
	record(t, &disk{hold: make(chan struct{})}, func(r *recording) {
		var batches sync.WaitGroup
		for i := range int64(5) {
			batches.Go(func() {
				got, err := r.within(5*time.Second, 10*i+1, 10*i+2)
				if err != nil || !slices.Equal(ids(got), []int64{10*i + 1, 10*i + 2}) {
					r.Errorf("batch %d came back as %v, %v", i, ids(got), err)
				}
			})
			synctest.Wait() // the first one is being written, the others wait for it
		}
		close(r.disk.hold)
		batches.Wait()
		if diff := cmp.Diff([][]int64{{1, 2}, {11, 12, 21, 22, 31, 32, 41, 42}}, r.appends()); diff != "" {
			r.Errorf("transactions (-want +got):\n%s", diff)
		}
	})
}

func TestSavingIsTriedFourTimes(t *testing.T) {
	t.Parallel()
	record(t, &disk{failing: 3}, func(r *recording) {
		if _, err := r.within(5*time.Second, 1); err != nil || r.Err() != nil || r.failed.Load() != 3 {
			r.Errorf("after three failures: %v, store %v, %d counted", err, r.Err(), r.failed.Load())
		}
	})
}

func TestAnEntryThatCannotBeStoredIsLoggedAndHarmsNoOther(t *testing.T) {
	t.Parallel()
	record(t, &disk{refuses: 2}, func(r *recording) {
		got, err := r.within(5*time.Second, 1, 2, 3)
		if err != nil || !slices.Equal(ids(got), []int64{1, 0, 3}) || r.Err() != nil {
			r.Errorf("got %v, %v, store %v, want 1 and 3 stored", ids(got), err, r.Err())
		}
		if r.logs.FilterMessage("decision_cannot_be_stored").Len() != 1 {
			r.Errorf("log has %v", r.logs.All())
		}
	})
}

func TestMoreThanOneTransactionCanHoldIsSeveral(t *testing.T) {
	t.Parallel()
	record(t, &disk{hold: make(chan struct{})}, func(r *recording) {
		var batches sync.WaitGroup
		for i := range int64(30) {
			batches.Go(func() {
				if _, err := r.within(5*time.Second, slices.Repeat([]int64{i}, 100)...); err != nil {
					r.Error(err)
				}
			})
		}
		synctest.Wait()
		close(r.disk.hold)
		batches.Wait()
		for _, keys := range r.appends() {
			if len(keys) > audit.MaxBatch {
				r.Errorf("a transaction of %d", len(keys))
			}
		}
		if n := len(slices.Concat(r.appends()...)); n != 3000 {
			r.Errorf("%d stored, want 3000", n)
		}
	})
}

func TestACallerThatGivesUpHoldsUpNobody(t *testing.T) {
	t.Parallel()
	record(t, &disk{hold: make(chan struct{})}, func(r *recording) {
		var first sync.WaitGroup
		first.Go(func() { _, _ = r.within(time.Second, 1) })
		synctest.Wait()
		if _, err := r.within(100*time.Millisecond, 2); !errors.Is(err, context.DeadlineExceeded) {
			r.Errorf("got %v, want the caller's own deadline", err)
		}
		first.Wait()
		close(r.disk.hold)
		if _, err := r.within(5*time.Second, 3); err != nil {
			r.Error(err)
		}
		// What nobody waits for any more is stored all the same: its job comes again and gets this decision.
		if diff := cmp.Diff([]int64{1, 2, 3}, slices.Concat(r.appends()...)); diff != "" {
			r.Errorf("transactions (-want +got):\n%s", diff)
		}
	})
}
