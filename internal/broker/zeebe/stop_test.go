package zeebe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

func TestAnIdleWorkerStopsWhenItsPollIsOver(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run(Options{})
		r.advance(700 * time.Millisecond)
		r.wantStop(300 * time.Millisecond)
		r.add(3)
		synctest.Wait()
		r.wantCounts(enginetest.Counts{Waiting: 3})
	})
}

func TestJobsThatComeWhileTheWorkerStopsAreHandedBack(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run(Options{Handler: each(func(j job.Job) job.Answer { r.Error("a job is handled"); return complete(j) })})
		r.stop()
		key := r.add(5)[0]
		r.wantStop(0)
		r.wantCounts(enginetest.Counts{Waiting: 5})
		r.wantJob(key, enginetest.Waiting, 3, "stopping")
	})
}

func TestStopDoesNotWaitForASilentGateway(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run(Options{})
		r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: -1, Hang: true})
		r.advance(time.Second)
		r.wantStop(time.Second + pollGrace)
	})
}

func TestWhatIsNotFinishedInTimeIsHandedBack(t *testing.T) {
	inBubble(t, func(r *rig) {
		cancelled := make(chan error, 1)
		keys := r.add(10)
		r.run(Options{ShutdownTimeout: 2 * time.Second, Handler: func(ctx context.Context, _ []job.Job) []job.Answer {
			<-ctx.Done()
			cancelled <- context.Cause(ctx)
			<-r.over
			return nil
		}})
		took, err := r.end()
		if err != nil || took != 2*time.Second {
			r.Errorf("Run returned %v after %v, want nil when the shutdown timeout is over", err, took)
		}
		if cause := <-cancelled; !errors.Is(cause, context.Canceled) {
			r.Errorf("handler's context ended with %v", cause)
		}
		r.wantCounts(enginetest.Counts{Waiting: 10})
		r.wantJob(keys[0], enginetest.Waiting, 3, "stopping")
	})
}

func TestRunSaysHowManyLocksAreLeft(t *testing.T) {
	for name, fault := range map[string]enginetest.Fault{
		"gateway away": {Times: -1, Code: codes.Unavailable},
		"gateway mute": {Times: -1, Hang: true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.gateway.Inject(enginetest.CompleteJob, fault)
				r.add(40)
				r.run(Options{ShutdownTimeout: 2 * time.Second})
				took, err := r.end()
				check.Fails(r, err, "40 jobs unanswered", "10s")
				check.Same(r, 2*time.Second+releaseTimeout, took, "time until Run returned")
				check.Same(r, 0, len(r.gateway.Calls(enginetest.FailJob)), "failures of jobs whose completion may have been taken")
			})
		})
	}
}

func TestAStopUnderLoadLeavesNoLock(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: -1, Delay: 3 * time.Millisecond})
		r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Delay: 2 * time.Millisecond})
		r.gateway.Inject(enginetest.FailJob, enginetest.Fault{Times: -1, Delay: 2 * time.Millisecond})
		r.add(5000)
		for round := range 20 {
			r.stopped = make(chan struct{})
			r.run(Options{})
			r.advance(time.Duration(20+round) * time.Millisecond)
			took, err := r.end()
			if c := r.gateway.Counts(); err != nil || c.Locked != 0 || took > 20*time.Millisecond {
				r.Fatalf("round %d: Run returned %v after %v, jobs are at %+v", round, err, took, c)
			}
		}
		if c := r.gateway.Counts(); c.Completed == 0 || c.Waiting == 0 {
			r.Errorf("jobs are at %+v, which shows nothing", c)
		}
	})
}
