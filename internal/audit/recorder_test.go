package audit_test

import (
	"context"
	"errors"
	"fmt"
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

// disk is a store that fails, hangs and refuses on demand, which the real ones do not. What the real ones do is shown by
// their conformance suite.
type disk struct {
	mu       sync.Mutex
	appends  [][]int64 // the job keys of each append that came through
	about    []string  // the claims of all records that came through
	answered []int64
	marked   []int64 // still unanswered
	failing  int     // appends that fail from now on
	dead     bool    // no writes at all
	full     bool    // no records, but marks
	refuses  int64   // a job key that cannot be stored
	hold     chan struct{}
	deaf     bool // it does not mind the context
}

var errDisk = errors.New("disk")

func (d *disk) Append(ctx context.Context, records []audit.Record, answered []int64) ([]audit.Appended, error) {
	if d.deaf {
		<-d.hold
	}
	if d.hold != nil {
		select {
		case <-d.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failing > 0 || d.dead || d.full && len(records) > 0 {
		d.failing--
		return nil, errDisk
	}
	var keys []int64
	results := make([]audit.Appended, len(records))
	for i, r := range records {
		if r.JobKey == d.refuses && d.refuses != 0 {
			return nil, fmt.Errorf("job %d: %w", r.JobKey, audit.ErrRefused)
		}
		keys, d.about = append(keys, r.JobKey), append(d.about, r.ClaimID)
		r.ID = r.JobKey
		results[i].Record = r
	}
	d.appends = append(d.appends, keys)
	d.answered = append(d.answered, answered...)
	d.marked = slices.DeleteFunc(d.marked, func(id int64) bool { return slices.Contains(answered, id) })
	return results, nil
}

func (d *disk) Unanswered(_ context.Context, ids []int64) ([]int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return nil, errDisk
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !slices.Contains(d.marked, id) }), nil
}

func (d *disk) Probe(ctx context.Context) error {
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
		return errDisk
	}
	return nil
}

func (d *disk) set(change func(*disk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

// seen is what came through so far.
func (d *disk) seen() (appends [][]int64, answered []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.appends), slices.Clone(d.answered)
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
		r.Recorder = audit.NewRecorder(d, audit.RecorderOptions{Logger: zap.New(core), Failed: func() { r.failed.Add(1) }})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.Recorder.Run(ctx) }()
		test(r)
		stop()
		<-done
	})
}

func (r *recording) appends() [][]int64 { a, _ := r.disk.seen(); return a }
func (r *recording) answered() []int64  { _, a := r.disk.seen(); return a }

func batch(jobKeys ...int64) []audit.Record {
	records := make([]audit.Record, len(jobKeys))
	for i, key := range jobKeys {
		records[i].JobKey = key
	}
	return records
}

// within is a handler's bound.
func (r *recording) within(d time.Duration, jobKeys ...int64) ([]audit.Appended, error) {
	ctx, cancel := context.WithTimeout(r.Context(), d)
	defer cancel()
	return r.Record(ctx, batch(jobKeys...))
}

func ids(results []audit.Appended) (list []int64) {
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

func TestSavingIsTriedThreeTimes(t *testing.T) {
	t.Parallel()
	record(t, &disk{failing: 2}, func(r *recording) {
		if _, err := r.within(5*time.Second, 1); err != nil || r.Err() != nil || r.failed.Load() != 2 {
			r.Errorf("after two failures: %v, store %v, %d counted", err, r.Err(), r.failed.Load())
		}
	})
}

func TestOneRecordThatCannotBeStoredHarmsNoOther(t *testing.T) {
	t.Parallel()
	record(t, &disk{refuses: 2}, func(r *recording) {
		r.Answered(7)
		got, err := r.within(5*time.Second, 1, 2, 3)
		if err != nil || !slices.Equal(ids(got), []int64{1, 0, 3}) || r.Err() != nil {
			r.Errorf("got %v, %v, store %v, want 1 and 3 stored", ids(got), err, r.Err())
		}
		if r.logs.FilterMessage("decision_cannot_be_stored").Len() != 1 {
			r.Errorf("log has %v", r.logs.All())
		}
		if !slices.Equal(r.answered(), []int64{7}) {
			r.Errorf("marked %v, want 7", r.answered())
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
		if diff := cmp.Diff([][]int64{{1}, {2, 3}}, r.appends()); diff != "" {
			r.Errorf("transactions (-want +got):\n%s", diff)
		}
	})
}

func TestAnsweredMarkIsWrittenWithinASecond(t *testing.T) {
	t.Parallel()
	record(t, &disk{}, func(r *recording) {
		r.Answered(7)
		if _, err := r.within(5*time.Second, 1); err != nil {
			r.Fatal(err)
		}
		if !slices.Equal(r.answered(), []int64{7}) {
			r.Errorf("marked %v, want 7", r.answered())
		}
		r.Answered(8)
		<-time.After(1100 * time.Millisecond)
		if !slices.Equal(r.answered(), []int64{7, 8}) {
			r.Errorf("marked %v a second later, want 7 and 8", r.answered())
		}
	})
}

func TestAnsweredMarksOutliveAFailedTransaction(t *testing.T) {
	t.Parallel()
	record(t, &disk{dead: true}, func(r *recording) {
		r.Answered(7)
		_, _ = r.within(5*time.Second, 1)
		r.disk.set(func(d *disk) { d.dead = false })
		<-time.After(10 * time.Second)
		if !slices.Equal(r.answered(), []int64{7}) {
			r.Errorf("marked %v, want 7", r.answered())
		}
	})
}

func TestAnswerWithoutAJobIsUndeliveredUnlessAnotherWorkerAnswered(t *testing.T) {
	t.Parallel()
	record(t, &disk{marked: []int64{7}}, func(r *recording) {
		r.Gone(audit.Record{ID: 7, Key: audit.Key{JobKey: 7}, ClaimID: "CLM-001-7"})
		r.Gone(audit.Record{ID: 8, Key: audit.Key{JobKey: 8}}) // its mark is cleared: somebody has answered
		<-time.After(10 * time.Second)
		if diff := cmp.Diff([][]int64{nil, {7}}, r.appends()); diff != "" {
			r.Errorf("recorded as undelivered (-want +got):\n%s", diff)
		}
		if !slices.Equal(r.answered(), []int64{7}) {
			r.Errorf("marked %v as settled, want 7", r.answered())
		}
		r.disk.mu.Lock()
		defer r.disk.mu.Unlock()
		if want := []string{"CLM-001-7"}; !slices.Equal(r.disk.about, want) {
			r.Errorf("recorded about %v, want %v", r.disk.about, want)
		}
	})
}

func TestTheLastMarksAreWrittenWhenTheRecorderStops(t *testing.T) {
	t.Parallel()
	d := &disk{}
	record(t, d, func(r *recording) { r.Answered(7) })
	if !slices.Equal(d.answered, []int64{7}) {
		t.Errorf("marked %v, want 7", d.answered)
	}
}
