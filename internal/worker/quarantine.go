package worker

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
)

// Quarantine keeps a job that kills the process from killing it for ever. The broker gives such a job out again without end,
// because a lock that runs out uses up no retry.
//
// A process that has just started may be there because a job killed the one before. So, unless that one is known to have
// ended in order, it notes for a while which jobs it is about to handle, before it does; their records end that, and so does handing them back. A job
// over which an earlier process died is handled alone, so that it takes nobody with it, and after the third death it
// becomes an incident. After that while nothing is noted, and nothing is paid for it.
type Quarantine struct {
	next   job.Handler
	deaths audit.Crashes
	trail  Trail
	until  time.Time
	log    *zap.Logger

	mu     sync.Mutex
	known  bool
	before map[int64]int // deaths of earlier processes, by job; nil where none died
	// buried are the jobs that this process has made incidents of, with the inputs that they had. One is answered alike when
	// its batch is handed over again, and is another job once it is corrected.
	buried map[int64]audit.Key
	// begun are the jobs that this process has noted. It dies once, so it notes a job once, however often a batch that
	// hangs has it handed over anew.
	begun map[int64]bool
	// alone holds a token while a job over which a process died is handled: several batches are handled at once.
	alone chan struct{}
}

// maxDeaths is how many processes may die over a job before it becomes an incident.
const maxDeaths = 3

// NewQuarantine guards a handler for a while from now on.
func NewQuarantine(next job.Handler, deaths audit.Crashes, trail Trail, while time.Duration, log *zap.Logger) *Quarantine {
	return &Quarantine{
		next: next, deaths: deaths, trail: trail, until: time.Now().Add(while), log: log,
		buried: map[int64]audit.Key{}, begun: map[int64]bool{}, alone: make(chan struct{}, 1),
	}
}

// Handle has the batch handled by the handler that is guarded, in time to be back before the context ends.
func (d *Quarantine) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	ctx, cancel := early(ctx)
	defer cancel()
	if time.Now().After(d.until) {
		return d.next.Handle(ctx, jobs)
	}
	deaths, err := d.earlier(ctx, jobs)
	switch {
	case err != nil:
		return releaseAll(jobs)
	case deaths == nil:
		return d.next.Handle(ctx, jobs)
	}
	answers := make([]job.Answer, len(jobs))
	var fresh []int
	for i, n := range deaths {
		if n == 0 {
			fresh = append(fresh, i)
		}
	}
	if fresh != nil {
		d.noted(ctx, jobs, fresh, answers)
	}
	for i, n := range deaths {
		switch {
		case n >= maxDeaths:
			answers[i] = d.bury(ctx, &jobs[i], n)
		case n > 0:
			d.log.Warn("job_handled_alone", append(jobFields(&jobs[i]), zap.Int("deaths", n))...)
			d.byItself(ctx, jobs, i, answers)
		}
	}
	return answers
}

// early ends when nine tenths of the time that is left are over. Who waits for a store that is away waits until the end, and
// must still be back: a handler that is late uses up one of its job's retries, and three of them make an incident.
func early(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)*9/10)
}

// earlier returns how many earlier processes died over each of the jobs, or nil where none died at all. What this process
// notes itself does not count: it lives.
func (d *Quarantine) earlier(ctx context.Context, jobs []job.Job) ([]int, error) {
	if !d.isKnown() {
		before, err := query(ctx, &d.trail, func(ctx context.Context) (map[int64]int, error) {
			return d.deaths.Crashes(ctx, d.trail.Cluster)
		})
		if err != nil {
			return nil, err
		}
		d.learn(before)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.before == nil {
		return nil, nil
	}
	deaths := make([]int, len(jobs))
	for i := range jobs {
		deaths[i] = d.before[jobs[i].Key]
		if grave, is := d.buried[jobs[i].Key]; is && grave != d.grave(&jobs[i]) {
			deaths[i] = 0
		}
	}
	return deaths, nil
}

func (d *Quarantine) isKnown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known
}

// learn keeps what the first question has found. Batches that begin together all ask, before any has noted anything.
func (d *Quarantine) learn(before map[int64]int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.known {
		d.before, d.known = before, true
	}
}

// byItself handles one job while no other over which a process died is handled.
func (d *Quarantine) byItself(ctx context.Context, jobs []job.Job, i int, answers []job.Answer) {
	// Not to the last moment: a handler that is late uses up one of the job's retries.
	soon, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		soon, cancel = context.WithTimeout(ctx, time.Until(deadline)*3/4)
	}
	defer cancel()
	select {
	case d.alone <- struct{}{}:
	case <-soon.Done():
		answers[i] = job.Release("released: another job that may kill the worker is being handled")
		return
	}
	release := sync.OnceFunc(func() { <-d.alone })
	defer release()
	defer context.AfterFunc(ctx, release)() // a handler that hangs does not come back
	d.noted(ctx, jobs, []int{i}, answers)
}

// begin notes those jobs that this process has not noted yet.
func (d *Quarantine) begin(ctx context.Context, jobs []job.Job) error {
	unnoted := d.take(jobs)
	if unnoted == nil {
		return nil
	}
	_, err := query(ctx, &d.trail, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, d.deaths.Begin(ctx, d.trail.Cluster, unnoted)
	})
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, key := range unnoted {
			delete(d.begun, key)
		}
	}
	return err
}

// take returns those jobs that are not noted yet, and counts them as noted.
func (d *Quarantine) take(jobs []job.Job) (unnoted []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys(jobs) {
		if !d.begun[key] {
			d.begun[key] = true
			unnoted = append(unnoted, key)
		}
	}
	return unnoted
}

// endTimeout is how long it may take to note that jobs were handed back.
const endTimeout = time.Second

// end takes the notes back of jobs that are handed back, because nothing was stored of them. Otherwise a store that is
// away while workers are restarted would look like a job that kills them. It does not wait: the handler's time may be
// over, and the store may be what hangs.
func (d *Quarantine) end(ctx context.Context, jobs []job.Job, answers []job.Answer) {
	var back []int64
	for i := range jobs {
		if answers[i].Kind() == job.KindRelease {
			back = append(back, jobs[i].Key)
		}
	}
	if back == nil {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		// Without the lock: the store may hang, and all batches need it. A job that comes back meanwhile may lose its new
		// note with the old one, which makes one death less.
		if d.deaths.End(ctx, d.trail.Cluster, back) != nil {
			return // they stay noted, once
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, key := range back {
			delete(d.begun, key)
		}
	}()
}

// noted notes some jobs of the batch and has them handled.
func (d *Quarantine) noted(ctx context.Context, jobs []job.Job, which []int, answers []job.Answer) {
	some := make([]job.Job, len(which))
	for k, i := range which {
		some[k] = jobs[i]
	}
	got := releaseAll(some)
	if d.begin(ctx, some) == nil {
		got = d.next.Handle(ctx, some)
		d.end(ctx, some, got)
	}
	for k, i := range which {
		answers[i] = got[k]
	}
}

// grave is the key of the incident of a job: it is known by its inputs without reading them.
func (d *Quarantine) grave(j *job.Job) audit.Key {
	return d.trail.key(j, "deaths", j.Variables)
}

// bury makes an incident of a job, without reading its variables: they may be what kills.
func (d *Quarantine) bury(ctx context.Context, j *job.Job, deaths int) job.Answer {
	record := audit.Record{
		Kind:    audit.KindRejected,
		At:      time.Now().UTC().Truncate(time.Microsecond),
		Key:     d.grave(j),
		Message: "the worker's process died each time it handled this job; look for its last words in the worker's log, correct the variables, then resolve the incident",
		Detail:  (&contract.Detail{ProcessID: j.ProcessID, ElementID: j.ElementID}).Encode(),
	}
	stored, err := d.trail.Recorder.Record(ctx, []audit.Record{record}) // and with it the count ends
	if err != nil {
		return releaseAll([]job.Job{*j})[0]
	}
	d.log.Error("job_kills_the_worker", append(jobFields(j), zap.Int("deaths", deaths))...)
	d.mu.Lock()
	d.buried[j.Key] = record.Key
	d.mu.Unlock()
	return d.trail.answer(j, &stored[0].Record, nil)
}

func keys(jobs []job.Job) []int64 {
	keys := make([]int64, len(jobs))
	for i := range jobs {
		keys[i] = jobs[i].Key
	}
	return keys
}
