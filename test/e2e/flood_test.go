package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"hospital.example/analyze-retry/internal/testing/devbroker"
)

const analyzeRetry = "analyze-retry"

func TestSIGTERMUnderAThousandJobsLeavesNoneLockedAndLosesNone(t *testing.T) {
	const jobs = 1000
	s := onOwnBroker(t, devbroker.Options{Records: true})
	instances, err := s.floods(jobs)
	s.must(err)

	for stop := 1; stop <= 3; stop++ {
		w := s.startWorker()
		s.untilDone(stop * jobs / 10)
		w.stops()
		stopped := time.Now()
		open := s.takesOver(jobs)
		if len(open) == 0 {
			t.Fatal("the worker was done before it was stopped: the test shows nothing")
		}
		t.Logf("%d jobs were open when the worker ended, and free within %v", len(open), time.Since(stopped))
		s.handsBack(open)
	}

	s.startWorker()
	s.allEnd(instances)
	// A lock that nobody gave back ends by running out, and only so.
	if expired := s.events("JOB", "TIMED_OUT", ofAnalyzeRetry); len(expired) != 0 {
		t.Errorf("%d jobs were left locked", len(expired))
	}
	for _, failed := range s.events("JOB", "FAILED", ofAnalyzeRetry) {
		if failed.Retries != 3 {
			t.Errorf("a job was handed back with %d of its 3 retries", failed.Retries)
		}
	}
}

func TestABrokerThatIsKilledUnderLoadLosesNothingAndTheWorkerComesBackByItself(t *testing.T) {
	const half = 300
	s := onOwnBroker(t, devbroker.Options{Records: true})
	instances, err := s.floods(half)
	s.must(err)
	w := s.startWorker()

	var load errgroup.Group
	load.Go(func() error {
		more, err := s.floods(half)
		instances = append(instances, more...)
		return err
	})
	s.untilDone(half / 5)
	s.must(s.broker.Kill())
	s.must(s.broker.Restart(t.Context()))

	s.must(load.Wait())
	s.allEnd(instances)
	w.stillRuns()
}

func ofAnalyzeRetry(e event) bool { return e.Type == analyzeRetry }

// floods creates many instances of one task, eight at a time, and returns their keys. What the broker refuses or does
// not confirm is created again, as by any client that has to get its work done.
func (s *scene) floods(n int) ([]int64, error) {
	s.Helper()
	instances := make([]int64, n)
	group, ctx := errgroup.WithContext(s.Context())
	group.SetLimit(8)
	for i := range instances {
		group.Go(func() error {
			for {
				created, err := s.broker.CreateProcessInstance(ctx, &pb.CreateProcessInstanceRequest{
					BpmnProcessId: "OneTask", Version: -1,
					Variables: fmt.Sprintf(`{"claimId":"CLM-FLOOD-%d","submissionError":"TIMEOUT","retryCount":%d}`, i, i%5),
				}, grpc.WaitForReady(true))
				if err == nil {
					instances[i] = created.ProcessInstanceKey
					return nil
				}
				if ctx.Err() != nil {
					return err
				}
			}
		})
	}
	return instances, group.Wait()
}

// done is how many analyze-retry jobs the broker has counted as completed. Under load its exporters would tell that a
// second later.
func (s *scene) done() int {
	s.Helper()
	metrics, err := s.broker.Metrics(s.Context())
	s.must(err)
	return int(metrics.Sum("zeebe_job_events_total", map[string]string{"type": analyzeRetry, "action": "completed"}))
}

// untilDone waits until so many jobs are done.
func (s *scene) untilDone(n int) {
	s.Helper()
	for deadline := time.Now().Add(patience); s.done() < n; {
		if time.Now().After(deadline) {
			s.Fatalf("%d of %d jobs are done", s.done(), n)
		}
	}
}

// awaitMany waits until so many events of a type have happened.
func (s *scene) awaitMany(what string, n int, valueType, intent string, match func(event) bool) {
	s.Helper()
	ctx, cancel := s.within(patience)
	defer cancel()
	found := 0
	_, err := s.broker.AwaitRecord(ctx, func(r devbroker.Record) bool {
		if e, ok := parse(r, valueType, intent); ok && match(e) {
			found++
		}
		return found >= n
	})
	if err != nil {
		s.Fatalf("%d of %d %s: %v", found, n, what, err)
	}
}

// takesOver activates every job that is not done, as another worker would.
func (s *scene) takesOver(all int) []*pb.ActivatedJob {
	s.Helper()
	var taken []*pb.ActivatedJob
	for deadline := time.Now().Add(patience); ; {
		taken = append(taken, s.activate(&pb.ActivateJobsRequest{
			Type: analyzeRetry, Worker: "e2e", MaxJobsToActivate: int32(all),
			Timeout: time.Hour.Milliseconds(), RequestTimeout: -1,
		})...)
		locked := all - s.done() - len(taken)
		if locked == 0 {
			return taken
		}
		if time.Now().After(deadline) {
			s.Fatalf("%d jobs are still locked", locked)
		}
	}
}

// handsBack gives jobs back to the broker as they were.
func (s *scene) handsBack(jobs []*pb.ActivatedJob) {
	s.Helper()
	group, ctx := errgroup.WithContext(s.Context())
	group.SetLimit(8)
	for _, j := range jobs {
		group.Go(func() error {
			_, err := s.broker.FailJob(ctx, &pb.FailJobRequest{JobKey: j.Key, Retries: j.Retries})
			return err
		})
	}
	s.must(group.Wait())
}

// allEnd waits until every one of the process instances has ended, each by a decision to retry.
func (s *scene) allEnd(instances []int64) {
	s.Helper()
	open := map[int64]bool{}
	for _, key := range instances {
		open[key] = true
	}
	ctx, cancel := s.within(2 * patience)
	defer cancel()
	_, err := s.broker.AwaitRecord(ctx, func(r devbroker.Record) bool {
		if e, ok := parse(r, "PROCESS_INSTANCE", "ELEMENT_COMPLETED"); ok && e.ElementID == "EndEvent_Retry" {
			delete(open, e.ProcessInstanceKey)
		}
		return len(open) == 0
	})
	if err != nil {
		s.Fatalf("%d of %d process instances did not end: %v", len(open), len(instances), err)
	}
}
