package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

const (
	// roundTimeout bounds one worker's part of a round: a worker that loses a job would keep it open for ever.
	roundTimeout = 3 * time.Minute
	// answerTolerance is how long an answer may be under way, and how exact its time is.
	answerTolerance = 5 * time.Second
	// watchInterval is the pause between two looks at how far the worker is.
	watchInterval = 2 * time.Millisecond
)

// sample is what one worker did in one round. What the system does not say is 0.
type sample struct {
	// cpuPerJob is the CPU time of the worker's whole life by the jobs it worked, in microseconds;
	// serverCPUPerJob that of the database server meanwhile.
	cpuPerJob, serverCPUPerJob float64
	// throughput is in jobs per second, from the first poll to the last answer.
	throughput float64
	// memory is in bytes, the most the worker held at a time.
	memory int64
	// firstPoll is the time from the start of the process to its first ActivateJobs at the gateway, in
	// milliseconds.
	firstPoll float64
}

// gatewayRounds lets the workers take turns against an engine in this process; what says which and to what
// they compare.
func gatewayRounds(ctx context.Context, what string, contenders []contender, s settings, progress io.Writer) (all series, err error) {
	pinned, how := pin()
	defer func() {
		if released := pinned.release(); err == nil {
			err = released
		}
	}()
	all = series{
		where:      fmt.Sprintf("Engine in this process, %d rounds of %d jobs (%s), %s", s.rounds, s.jobs, how, what),
		contenders: contenders,
	}
	// The engine must not be what is measured: it collects its garbage between the rounds.
	defer debug.SetGCPercent(debug.SetGCPercent(1600))
	return all, all.takeTurns(s.rounds, progress, func(w contender) (sample, error) {
		runtime.GC()
		return gatewayRun(ctx, w, s.jobs, pinned)
	})
}

// takeTurns lets every contender run once in each round, and each round start with another one.
func (s *series) takeTurns(rounds int, progress io.Writer, run func(contender) (sample, error)) (err error) {
	for i := range rounds {
		r := make(round, len(s.contenders))
		for n := range s.contenders {
			which := (i + n) % len(s.contenders)
			if r[which], err = run(s.contenders[which]); err != nil {
				return fmt.Errorf("round %d: the %s: %w", i+1, s.contenders[which].name, err)
			}
		}
		s.rounds = append(s.rounds, r)
		fmt.Fprintf(progress, "round %d of %d%s\n", i+1, rounds, r.summary())
	}
	return nil
}

// gatewayRun lets one worker work so many jobs on its store, and checks every answer.
func gatewayRun(ctx context.Context, w contender, jobs int, pinned pinning) (s sample, err error) {
	kept, err := w.newStore(ctx)
	if err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, kept.free()) }()
	gateway := enginetest.New()
	defer gateway.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return sample{}, err
	}
	gateway.Serve(listener)
	claims := mixed(kept.rows, jobs)
	keys := gateway.Add(gatewayJobs(claims)...)
	var started time.Time
	s, err = measured(w, surroundings{listener.Addr().String(), kept, pinned}, jobs, func(c *child) error {
		started = c.started
		return watch(ctx, gateway, c, jobs)
	})
	if err != nil {
		return sample{}, err
	}
	first, last, err := checkCalls(gateway, w, keys, claims)
	if err != nil {
		return sample{}, err
	}
	s.firstPoll = micros(first.Sub(started)) / 1000
	s.throughput = float64(jobs) / last.Sub(first).Seconds()
	return s, nil
}

// gatewayJobs makes a job of each claim, each of a process instance of its own.
func gatewayJobs(claims []claim) []enginetest.Job {
	jobs := make([]enginetest.Job, len(claims))
	for i, c := range claims {
		jobs[i] = enginetest.Job{
			Type: jobType, Variables: c.variables(), ProcessID: "SubmissionRetryProcess", ElementID: "Task_AnalyzeRetry",
		}
	}
	return jobs
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// watch waits until all jobs are answered.
func watch(ctx context.Context, gateway *enginetest.Gateway, c *child, jobs int) error {
	ctx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		counts := gateway.Counts()
		switch {
		case counts.Completed+counts.Thrown+counts.Incident >= jobs:
			return nil
		case !c.Alive():
			return fmt.Errorf("ended by itself at %+v", counts)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("not done in time, at %+v: %w", counts, ctx.Err())
		}
	}
}

// checkCalls checks that every job got one answer and that it is the right one. It returns when the first
// poll and when the last answer arrived.
func checkCalls(gateway *enginetest.Gateway, w contender, keys []int64, claims []claim) (first, last time.Time, err error) {
	if counts := gateway.Counts(); counts.Expired > 0 {
		return first, last, fmt.Errorf("%d locks ran out", counts.Expired)
	}
	index := make(map[int64]int, len(keys))
	for i, key := range keys {
		index[key] = i
	}
	for _, call := range gateway.Calls() {
		var key int64
		a := answer{at: call.At, tolerance: answerTolerance}
		switch r := call.Request.(type) {
		case *pb.ActivateJobsRequest:
			if first.IsZero() {
				first = call.At
			}
			continue
		case *pb.CompleteJobRequest:
			key, a.variables = r.JobKey, r.Variables
		case *pb.ThrowErrorRequest:
			key, a.code, a.variables = r.JobKey, r.ErrorCode, r.Variables
		case *pb.FailJobRequest:
			return first, last, fmt.Errorf("failed job %d: %s", r.JobKey, r.ErrorMessage)
		default: // the worker asks for the topology
			continue
		}
		i, open := index[key]
		if !open {
			return first, last, fmt.Errorf("answered job %d once more, or a job that does not exist", key)
		}
		delete(index, key)
		if err := w.check(claims[i], a); err != nil {
			return first, last, err
		}
		last = call.At
	}
	if len(index) > 0 {
		return first, last, fmt.Errorf("%d jobs were not answered", len(index))
	}
	return first, last, nil
}
