package worker

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/lang"
)

// Quarantine keeps a job that crashes the process from crashing it for ever. The broker delivers such a job again without end,
// because a lock that runs out uses up no retry.
//
// A process that has just started may have been started because a job crashed the one before. Unless that one is known to
// have ended in order, the new one counts for a while which jobs it begins to handle; a record of the job, or its release,
// clears the count. A job whose count shows an earlier crash is handled alone, so that it takes no other with it, and after
// the third crash it becomes an incident. After that while it counts nothing.
type Quarantine struct {
	next    job.Handler
	crashes audit.Crashes
	trail   Trail
	until   time.Time
	log     *zap.Logger

	mu     sync.Mutex
	loaded bool
	before map[int64]int // crashes of earlier processes, by job; nil where there was none
	// rejected are the jobs that this process has made incidents of, with the inputs that they had. One is answered alike
	// when its batch is handled again, and is another job once it is corrected.
	rejected map[int64]audit.Key
	// counted are the jobs that this process has counted. It crashes once, so it counts a job once, however often a batch
	// that hangs is handled anew.
	counted map[int64]bool
	// alone holds a token while a job with a crash is handled: several batches are handled at once.
	alone chan struct{}
}

// maxCrashes is how many processes a job may crash before it becomes an incident.
const maxCrashes = 3

// NewQuarantine returns a handler that guards next for a while from now on.
func NewQuarantine(next job.Handler, crashes audit.Crashes, trail Trail, while time.Duration, log *zap.Logger) *Quarantine {
	return &Quarantine{
		next: next, crashes: crashes, trail: trail, until: time.Now().Add(while), log: log,
		rejected: map[int64]audit.Key{}, counted: map[int64]bool{}, alone: make(chan struct{}, 1),
	}
}

// Handle handles the batch by the guarded handler, in time to return before the context ends.
func (q *Quarantine) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	ctx, cancel := early(ctx, 0.9)
	defer cancel()
	if time.Now().After(q.until) {
		return q.next.Handle(ctx, jobs)
	}
	crashes, err := q.earlier(ctx, jobs)
	switch {
	case err != nil:
		return releaseAll(jobs)
	case crashes == nil:
		return q.next.Handle(ctx, jobs)
	}
	answers := make([]job.Answer, len(jobs))
	var fresh []int
	for i, n := range crashes {
		if n == 0 {
			fresh = append(fresh, i)
		}
	}
	if fresh != nil {
		q.handleCounted(ctx, jobs, fresh, answers)
	}
	for i, n := range crashes {
		switch {
		case n >= maxCrashes:
			answers[i] = q.reject(ctx, &jobs[i], n)
		case n > 0:
			q.log.Warn("job_handled_alone", append(jobFields(&jobs[i]), zap.Int("crashes", n))...)
			q.byItself(ctx, jobs, i, answers)
		}
	}
	return answers
}

// early returns a context that ends when this share of the time that is left is over. A handler that waits for an
// unavailable store waits until its context ends, and must still return in time: one that is late uses up one of its job's
// retries, and three of them make an incident.
func early(ctx context.Context, share float64) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Duration(share*float64(time.Until(deadline))))
}

// earlier returns how many earlier processes each of the jobs has crashed, or nil where there was no crash at all. What this
// process counts itself does not matter: it is alive.
func (q *Quarantine) earlier(ctx context.Context, jobs []job.Job) ([]int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.loaded {
		q.mu.Unlock() // the store may hang
		before, err := query(ctx, &q.trail, func(ctx context.Context) (map[int64]int, error) {
			return q.crashes.Crashes(ctx, q.trail.Cluster)
		})
		q.mu.Lock()
		if err != nil {
			return nil, err
		}
		if !q.loaded { // batches that begin together all query, before any has counted anything
			q.before, q.loaded = before, true
		}
	}
	if q.before == nil {
		return nil, nil
	}
	crashes := make([]int, len(jobs))
	for i := range jobs {
		crashes[i] = q.before[jobs[i].Key]
		if key, rejected := q.rejected[jobs[i].Key]; rejected && key != q.key(&jobs[i]) {
			crashes[i] = 0
		}
	}
	return crashes, nil
}

// byItself handles one job while no other with a crash is handled.
func (q *Quarantine) byItself(ctx context.Context, jobs []job.Job, i int, answers []job.Answer) {
	soon, cancel := early(ctx, 0.75)
	defer cancel()
	select {
	case q.alone <- struct{}{}:
	case <-soon.Done():
		answers[i] = job.Release("released: another job that may kill the worker is being handled")
		return
	}
	release := sync.OnceFunc(func() { <-q.alone })
	defer release()
	defer context.AfterFunc(ctx, release)() // a handler that hangs does not come back
	q.handleCounted(ctx, jobs, []int{i}, answers)
}

// begin counts those jobs that this process has not counted yet.
func (q *Quarantine) begin(ctx context.Context, jobs []job.Job) error {
	var fresh []int64
	q.mu.Lock()
	for i := range jobs {
		if key := jobs[i].Key; !q.counted[key] {
			q.counted[key] = true
			fresh = append(fresh, key)
		}
	}
	q.mu.Unlock()
	if fresh == nil {
		return nil
	}
	_, err := query(ctx, &q.trail, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, q.crashes.Begin(ctx, q.trail.Cluster, fresh)
	})
	if err != nil {
		q.uncount(fresh)
	}
	return err
}

func (q *Quarantine) uncount(keys []int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, key := range keys {
		delete(q.counted, key)
	}
}

// endTimeout is how long it may take to clear the counts of released jobs.
const endTimeout = time.Second

// end clears the counts of released jobs, because nothing was stored of them. Otherwise a store that is unavailable while
// workers are restarted would look like a job that crashes them. It does not wait: the handler's time may be over, and the
// store may be what hangs.
func (q *Quarantine) end(ctx context.Context, jobs []job.Job, answers []job.Answer) {
	var released []int64
	for i := range jobs {
		if answers[i].Kind() == job.KindRelease {
			released = append(released, jobs[i].Key)
		}
	}
	if released == nil {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		// Without the lock: the store may hang, and all batches need it. A job that is delivered again meanwhile may lose its
		// new count with the old one: one crash less.
		if q.crashes.End(ctx, q.trail.Cluster, released) == nil { // else they stay counted, once
			q.uncount(released)
		}
	}()
}

// handleCounted counts some jobs of the batch and has them handled.
func (q *Quarantine) handleCounted(ctx context.Context, jobs []job.Job, which []int, answers []job.Answer) {
	some := make([]job.Job, len(which))
	for k, i := range which {
		some[k] = jobs[i]
	}
	got := releaseAll(some)
	if q.begin(ctx, some) == nil {
		got = q.next.Handle(ctx, some)
		q.end(ctx, some, got)
	}
	for k, i := range which {
		answers[i] = got[k]
	}
}

// key returns the key of the incident of a job, whose inputs are hashed unread.
func (q *Quarantine) key(j *job.Job) audit.Key {
	return q.trail.key(j, "deaths", j.Variables)
}

// reject makes an incident of a job, without reading its variables: they may be what crashes the process.
func (q *Quarantine) reject(ctx context.Context, j *job.Job, crashes int) job.Answer {
	record := audit.Record{
		Kind:    audit.KindRejected,
		At:      time.Now().UTC().Truncate(time.Microsecond),
		Key:     q.key(j),
		Message: lang.In(q.trail.Language).Sprintf("the worker's process died each time it handled this job; find its last lines in the worker's log, correct the variables, then resolve the incident"),
		Detail:  (&contract.Detail{ProcessID: j.ProcessID, ElementID: j.ElementID}).Encode(),
	}
	stored, err := q.trail.Recorder.Record(ctx, []audit.Record{record}) // which clears the count
	if err != nil {
		return releaseAll([]job.Job{*j})[0]
	}
	q.log.Error("job_kills_the_worker", append(jobFields(j), zap.Int("crashes", crashes))...)
	q.mu.Lock()
	q.rejected[j.Key] = record.Key
	q.mu.Unlock()
	return q.trail.answer(j, &stored[0].Record, nil)
}
