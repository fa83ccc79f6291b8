package worker

import (
	"context"
	"time"

	"go.uber.org/zap"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/job"
)

// Deadly keeps a job that kills the process from killing it for ever. The broker gives such a job out again without end,
// because a lock that runs out uses up no retry.
//
// A process that has just started may have died over a job, so for a while it notes which jobs it is about to handle
// before it does. A job that was noted and never finished is handled alone, so that it takes nobody with it, and at the
// third death it becomes an incident. After that while nothing is noted, and nothing is paid for it.
type Deadly struct {
	next   job.Handler
	deaths audit.Deaths
	trail  Trail
	until  time.Time
	now    func() time.Time
	log    *zap.Logger
}

// maxDeaths is how many processes may die over a job before it becomes an incident.
const maxDeaths = 3

// NewDeadly guards a handler until a time.
func NewDeadly(next job.Handler, deaths audit.Deaths, trail Trail, until time.Time, now func() time.Time, log *zap.Logger) *Deadly {
	return &Deadly{next: next, deaths: deaths, trail: trail, until: until, now: now, log: log}
}

// Handle has the batch handled by the handler that is guarded.
func (d *Deadly) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	if d.now().After(d.until) {
		return d.next.Handle(ctx, jobs)
	}
	counts, err := d.deaths.Deaths(ctx, d.trail.Cluster, keys(jobs))
	if err != nil {
		return d.trail.unavailable(jobs)
	}
	answers := make([]job.Answer, len(jobs))
	var fresh []int
	for i, n := range counts {
		if n == 0 {
			fresh = append(fresh, i)
		}
	}
	if fresh != nil {
		d.noted(ctx, jobs, fresh, answers)
	}
	for i, n := range counts {
		switch {
		case n >= maxDeaths:
			answers[i] = d.bury(ctx, &jobs[i], n)
		case n > 0:
			d.log.Warn("job_handled_alone", append(jobFields(&jobs[i]), zap.Int("deaths", n))...)
			d.noted(ctx, jobs, []int{i}, answers)
		}
	}
	return answers
}

// noted handles some jobs of the batch and notes before and after that it does.
func (d *Deadly) noted(ctx context.Context, jobs []job.Job, which []int, answers []job.Answer) {
	some := make([]job.Job, len(which))
	for k, i := range which {
		some[k] = jobs[i]
	}
	got := d.trail.unavailable(some)
	if d.deaths.Begin(ctx, d.trail.Cluster, keys(some)) == nil {
		// A panic is not a death: the job loop recovers it, and it uses up a retry.
		defer func() { _ = d.deaths.End(context.WithoutCancel(ctx), d.trail.Cluster, keys(some)) }()
		got = d.next.Handle(ctx, some)
	}
	for k, i := range which {
		answers[i] = got[k]
	}
}

// bury makes an incident of a job, without reading its variables: they may be what kills.
func (d *Deadly) bury(ctx context.Context, j *job.Job, deaths int) job.Answer {
	record := audit.Record{
		Kind:    audit.KindRejected,
		At:      d.now().UTC().Truncate(time.Microsecond),
		Key:     d.trail.key(j, d.trail.Secret.Inputs("deaths", j.Variables)),
		Message: "the worker's process died each time it handled this job; look for its last words in the worker's log, correct the variables, then resolve the incident",
		Detail:  marshal(audit.Detail{ProcessID: j.ProcessID, ElementID: j.ElementID}),
	}
	stored, err := d.trail.Recorder.Record(ctx, []audit.Record{record})
	if err != nil {
		return d.trail.unavailable([]job.Job{*j})[0]
	}
	d.log.Error("job_kills_the_worker", append(jobFields(j), zap.Int("deaths", deaths))...)
	if err := d.deaths.End(ctx, d.trail.Cluster, []int64{j.Key}); err != nil {
		d.log.Warn("deaths_not_forgotten", append(jobFields(j), zap.Error(err))...)
	}
	return d.trail.answer(j, &stored[0].Record, nil)
}

func keys(jobs []job.Job) []int64 {
	keys := make([]int64, len(jobs))
	for i := range jobs {
		keys[i] = jobs[i].Key
	}
	return keys
}
