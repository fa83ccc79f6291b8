package zeebe

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

// keeper is a handler that keeps the keys of what it is given, and completes it.
type keeper struct {
	mu   sync.Mutex
	keys []int64
}

func (k *keeper) Handle(ctx context.Context, jobs []job.Job) []job.Answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, j := range jobs {
		k.keys = append(k.keys, j.Key)
	}
	return each(complete)(ctx, jobs)
}

func TestOnlyWhatAPollAskedForIsWorked(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*pb.ActivatedJob) []*pb.ActivatedJob
		worked int // of 3 jobs
		field  string
	}{
		"a job twice": {func(d *pb.ActivatedJob) []*pb.ActivatedJob { return []*pb.ActivatedJob{d, d} }, 3, "twice"},
		"another type": {func(d *pb.ActivatedJob) []*pb.ActivatedJob {
			d.Type = "other"
			return []*pb.ActivatedJob{d}
		}, 0, "ofOtherType"},
		"another tenant": {func(d *pb.ActivatedJob) []*pb.ActivatedJob {
			d.TenantId = "sul"
			return []*pb.ActivatedJob{d}
		}, 0, "ofOtherTenant"},
		"a negative key": {func(d *pb.ActivatedJob) []*pb.ActivatedJob {
			d.Key = -d.Key
			return []*pb.ActivatedJob{d}
		}, 0, "withoutKey"},
		"more jobs than requested": {func(d *pb.ActivatedJob) []*pb.ActivatedJob {
			more := []*pb.ActivatedJob{d}
			for i := range int64(1000) {
				surplus := proto.Clone(d).(*pb.ActivatedJob)
				surplus.Key += 1000 + i
				more = append(more, surplus)
			}
			return more
		}, 3, "moreThanRequested"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				seen, kept := &watcher{}, &keeper{}
				r.gateway.Deliver(test.change)
				keys := r.add(3)
				r.run(Options{Handler: kept, Observer: seen, MaxJobsActive: 10})
				r.advance(30 * time.Second)
				worked := map[int64]bool{}
				for _, key := range kept.keys {
					if slices.Contains(keys, key) { // not one of the surplus
						worked[key] = true
					}
				}
				check.Same(r, test.worked, len(worked), "jobs worked")
				left := r.logs.FilterMessage("jobs_left_out").All()
				if len(left) != 1 {
					r.Fatalf("%d lines about jobs that are left out, want 1", len(left))
				}
				if counted, _ := left[0].ContextMap()["jobs"].(map[string]int); counted[test.field] == 0 {
					r.Errorf("%s is not counted in %v", test.field, left[0].ContextMap())
				}
				r.gateway.Deliver(nil)
				r.add(1)
				r.advance(30 * time.Second)
				if got := r.gateway.Counts(); got.Waiting+got.Locked > 0 {
					r.Errorf("jobs are left when the gateway is right again: %+v", got)
				}
				r.wantActive(0)
			})
		})
	}
}

func TestEveryCodeOfAPollIsSurvived(t *testing.T) {
	inBubble(t, func(r *rig) {
		seen := &watcher{}
		for code := codes.Code(1); code <= 20; code++ {
			r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Code: code})
		}
		r.add(1)
		r.run(Options{Observer: seen})
		r.advance(5 * time.Minute)
		r.wantCounts(enginetest.Counts{Completed: 1})
		if _, err := r.end(); err != nil {
			r.Fatal(err)
		}
		if seen.polls["ResourceExhausted"] != 1 || len(seen.polls) > 17 { // the label of a metric has a closed set
			r.Errorf("observed %v", seen.polls)
		}
	})
}
