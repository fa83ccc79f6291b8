package zeebe

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

const days = 24 * time.Hour

// countJobs returns a handler that completes jobs and counts them.
func countJobs(n *atomic.Int64) job.Handler {
	return func(ctx context.Context, jobs []job.Job) []job.Answer {
		n.Add(int64(len(jobs)))
		return each(complete)(ctx, jobs)
	}
}

func TestNoJobIsDecidedWhileClocksAreADayApart(t *testing.T) {
	for _, ahead := range []time.Duration{463 * days, -24*time.Hour - time.Minute} {
		inBubble(t, func(r *rig) {
			var handled atomic.Int64
			core, logs := observer.New(zapcore.InfoLevel)
			clock := NewClock(days, zap.New(core))
			r.gateway.SetClock(ahead)
			keys := r.add(40)
			r.run(Options{Clock: clock, Handler: countJobs(&handled)})
			began := len(r.polls())
			const long = 10 * time.Minute
			r.advance(long)
			check.Same(r, 0, handled.Load(), "%v: jobs given to the handler", ahead)
			r.wantCounts(enginetest.Counts{Waiting: 40})
			for _, key := range keys {
				if _, retries, _ := r.gateway.Job(key); retries != 3 {
					r.Fatalf("job %d has %d retries left, want all 3", key, retries)
				}
			}
			// Handed back, the jobs can be had at once, and are not taken without end.
			polls := r.polls()[began:]
			if n := len(polls); n < int(long/triesEvery) || n > 3*int(long/triesEvery) {
				r.Errorf("%v: %d polls in %v", ahead, n, long)
			}
			for _, p := range polls[1:] {
				if p.MaxJobsToActivate != 1 {
					r.Fatalf("a poll asks for %d jobs", p.MaxJobsToActivate)
				}
			}
			if err := clock.Err(); err == nil || !strings.Contains(err.Error(), time.Now().UTC().Format("2006-01-02T15")) ||
				!strings.Contains(err.Error(), time.Now().Add(ahead).UTC().Format("2006-01-02T15")) || !strings.Contains(err.Error(), "RETRY_MAX_CLOCK_SKEW") {
				r.Errorf("%v: %v, want both times and what to do", ahead, err)
			}
			check.Same(r, 1, logs.FilterMessage("clock_wrong").Len(), "%v: lines logged", ahead)

			r.gateway.SetClock(0)
			r.advance(triesEvery + time.Second)
			r.wantCounts(enginetest.Counts{Completed: 40})
			if err := clock.Err(); err != nil || handled.Load() != 40 || logs.FilterMessage("clock_better").Len() != 1 {
				r.Errorf("%v: with a right clock %d jobs are handled, %v", ahead, handled.Load(), err)
			}
		})
	}
}

func TestClocksWithinADayDecideAndAreWarnedAboutOnce(t *testing.T) {
	for ahead, warned := range map[time.Duration]int{
		-4 * time.Minute: 0, 6 * time.Minute: 1, -23 * time.Hour: 1,
	} {
		inBubble(t, func(r *rig) {
			core, logs := observer.New(zapcore.InfoLevel)
			clock := NewClock(days, zap.New(core))
			r.gateway.SetClock(ahead)
			r.run(Options{Clock: clock})
			for range 3 {
				r.add(5)
				r.advance(time.Second)
			}
			r.wantCounts(enginetest.Counts{Completed: 15})
			if n := logs.FilterMessage("clock_skewed").Len(); n != warned || logs.Len() != warned || clock.Err() != nil {
				r.Errorf("%v: warned %d times, want %d; %v", ahead, n, warned, clock.Err())
			}
		})
	}
}

func TestAGatewayThatNamesNoEndOfALockIsTrusted(t *testing.T) {
	inBubble(t, func(r *rig) {
		clock := NewClock(days, zap.NewNop())
		r.gateway.Deliver(func(j *pb.ActivatedJob) { j.Deadline = 0 })
		r.add(10)
		r.run(Options{Clock: clock})
		r.advance(time.Second)
		r.wantCounts(enginetest.Counts{Completed: 10})
		check.Must(r, clock.Err())
	})
}
