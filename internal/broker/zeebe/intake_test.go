package zeebe

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"hospital.example/analyze-retry/internal/broker/job"
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
	for name, test := range map[string]func(*pb.ActivatedJob) []*pb.ActivatedJob{
		"another type": func(d *pb.ActivatedJob) []*pb.ActivatedJob {
			d.Type = "other"
			return []*pb.ActivatedJob{d}
		},
		"another tenant": func(d *pb.ActivatedJob) []*pb.ActivatedJob {
			d.TenantId = "sul"
			return []*pb.ActivatedJob{d}
		},
		"a negative key": func(d *pb.ActivatedJob) []*pb.ActivatedJob {
			d.Key = -d.Key
			return []*pb.ActivatedJob{d}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				kept := &keeper{}
				r.gateway.Deliver(test)
				r.add(3)
				r.run(Options{Handler: kept, MaxJobsActive: 10})
				r.advance(30 * time.Second)
				check.Same(r, 0, len(kept.keys), "jobs worked")
				r.wantLogged(zapcore.ErrorLevel, "jobs_left_out", 1)
				r.workAgain()
			})
		})
	}
}

// workAgain wants all jobs worked, with one more, when the gateway is right again.
func (r *rig) workAgain() {
	r.Helper()
	r.gateway.Deliver(nil)
	r.add(1)
	r.advance(30 * time.Second)
	if got := r.gateway.Counts(); got.Waiting+got.Locked > 0 {
		r.Errorf("jobs are left when the gateway is right again: %+v", got)
	}
	r.wantActive(0)
}

func TestJobsThatComeTwiceOrUnaskedDoNoHarm(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Deliver(func(d *pb.ActivatedJob) []*pb.ActivatedJob {
			more := []*pb.ActivatedJob{d, d}
			for i := range int64(1000) {
				surplus := proto.Clone(d).(*pb.ActivatedJob)
				surplus.Key += 1000 + i
				more = append(more, surplus)
			}
			return more
		})
		kept := &keeper{}
		keys := r.add(3)
		r.run(Options{Handler: kept, MaxJobsActive: 10})
		r.advance(30 * time.Second)
		for _, key := range keys {
			if !slices.Contains(kept.keys, key) {
				r.Errorf("job %d is not worked", key)
			}
		}
		check.Same(r, 3, r.gateway.Counts().Completed, "jobs completed")
		r.workAgain()
	})
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
