package zeebe

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

// deep is a job that the gateway cannot deliver.
var deep = enginetest.Job{Type: testType, Variables: `{"a":[[]]}`, Poison: "a"}

// With two partitions under load, the job that is looked at and the one that is polled for are never the same if only one
// is looked at: each poll begins with the other partition.
func TestUndeliverableJobIsFoundOnABusyCluster(t *testing.T) {
	for _, partitions := range []int{2, 3} {
		inBubble(t, func(r *rig) {
			r.gateway.Partition(partitions)
			good := r.add(5)
			bad := r.gateway.Add(deep)[0]
			good = append(good, r.add(600)...)
			// Answers take so long that no partition runs empty while the job is searched for.
			r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Delay: 300 * time.Millisecond, Applied: true})
			r.run(Options{MaxJobsActive: 1})
			r.advance(time.Minute)
			r.wantJob(bad, enginetest.Incident, 0, "nested too deep")
			if c := r.gateway.Counts(); c.Waiting < 100 {
				r.Errorf("%d jobs are left, that is no load", c.Waiting)
			}
			r.advance(4 * time.Minute)
			if c := r.gateway.Counts(); c.Completed != len(good) || c.Incident != 1 {
				r.Errorf("%d partitions: the jobs end as %+v", partitions, c)
			}
		})
	}
}

func TestJobLockedByOneLostPollIsOnlySuspected(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.FailJob, enginetest.Fault{Times: -1, Delay: 300 * time.Millisecond})
		key := r.gateway.Add(deep)[0]
		r.run(Options{})
		for len(r.gateway.Calls(enginetest.FailJob)) == 0 { // until its first lock is over, and it is released after a look
			r.advance(100 * time.Millisecond)
		}
		// Over gRPC the poll for it alone is under way, over REST that poll has failed and the second release is under way.
		r.advance(400 * time.Millisecond)
		r.gateway.Cure(key, deep.Poison)
		r.advance(20 * time.Second)
		r.wantJob(key, enginetest.Completed, 3, "")
		suspected := 0
		for _, f := range requests[*pb.FailJobRequest](r.gateway, enginetest.FailJob) {
			if strings.Contains(f.ErrorMessage, "suspected") {
				suspected++
			}
		}
		check.Same(r, 1, suspected, "suspicions")
	})
}

func TestDeadGatewayIsNoReasonToIsolate(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: -1, Hang: true})
		r.gateway.Inject(enginetest.Topology, enginetest.Fault{Times: -1, Code: codes.Unavailable})
		r.run(Options{})
		r.advance(time.Minute)
		if r.logged(zapcore.WarnLevel, "gateway_lost") != 1 || r.logged(zapcore.WarnLevel, "poll_lost") != 0 {
			r.Errorf("log has %v", r.logs.All())
		}
	})
}

func TestStopDuringIsolationLeavesOnlyLostLocks(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.FailJob, enginetest.Fault{Times: -1, Delay: 10 * time.Millisecond})
		r.gateway.Add(deep)
		r.run(Options{Handler: each(complete)})
		r.advance(3 * time.Second)
		r.add(1)
		r.advance(5 * time.Millisecond) // it is being released
		if took, err := r.end(); err != nil || took > pollGrace {
			r.Errorf("Run returned %v after %v", err, took)
		}
		r.wantCounts(enginetest.Counts{Waiting: 1, Locked: 1})
	})
}

func TestNoJobIsLookedForWhileJobsAreHeld(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: 1, Hang: true})
		first, open := true, make(chan struct{})
		r.run(Options{Hold: func(ctx context.Context) error {
			if first {
				first = false
				return nil
			}
			return heldUntil(open)(ctx)
		}})
		r.add(1)
		r.advance(time.Hour)
		check.Same(r, 1, len(r.polls()), "polls")
		close(open)
		r.advance(time.Minute)
		r.wantCounts(enginetest.Counts{Completed: 1})
	})
}
