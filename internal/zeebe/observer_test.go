package zeebe

import (
	"context"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// watcher is an Observer that keeps everything. It is read when the worker has stopped.
type watcher struct {
	mu        sync.Mutex
	polls     map[string]int
	activated int
	failed    int
	answers   []job.Answer
	results   []job.Result
}

func (w *watcher) Polled(code string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.polls == nil {
		w.polls = map[string]int{}
	}
	w.polls[code]++
}

func (w *watcher) Activated(jobs int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.activated += jobs
}

func (w *watcher) HandlerFailed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
}

func (w *watcher) Answered(_ int64, answer job.Answer, result job.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers, w.results = append(w.answers, answer), append(w.results, result)
}

func TestEveryPollIsObservedWithItsCode(t *testing.T) {
	inBubble(t, func(r *rig) {
		seen := &watcher{}
		r.gateway.Inject(gatewaytest.ActivateJobs, gatewaytest.Fault{Times: 3, Code: codes.ResourceExhausted})
		r.run(Options{Observer: seen})
		r.advance(10 * time.Second)
		if _, err := r.end(); err != nil {
			r.Fatal(err)
		}
		if seen.polls["ResourceExhausted"] != 3 || seen.polls["OK"] == 0 || len(seen.polls) != 2 {
			r.Errorf("observed %v, want 3 times ResourceExhausted and else OK", seen.polls)
		}
	})
}

func TestEveryFailureOfTheHandlerIsObserved(t *testing.T) {
	for name, handler := range map[string]func(*rig) handlerFunc{
		"panics": func(*rig) handlerFunc { return func(context.Context, []job.Job) []job.Answer { panic("oops") } },
		"hangs": func(r *rig) handlerFunc {
			return func(context.Context, []job.Job) []job.Answer { <-r.over; return nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				seen := &watcher{}
				r.gateway.Add(gatewaytest.Job{Type: testType, Variables: `{"a":1}`, Retries: 2})
				r.run(Options{Observer: seen, Handler: handler(r)})
				r.advance(time.Minute)
				if _, err := r.end(); err != nil {
					r.Fatal(err)
				}
				if seen.failed != 2 || len(seen.answers) != 2 || seen.answers[1].Retries() != 0 {
					r.Errorf("observed %d failures and %d answers, want one for each of 2 retries", seen.failed, len(seen.answers))
				}
			})
		})
	}
}

// Beside the jobs of the loop, those that are looked at to find one that cannot be delivered are counted on both sides.
func TestEveryActivatedJobIsObservedAsAnswered(t *testing.T) {
	inBubble(t, func(r *rig) {
		seen := &watcher{}
		r.add(20)
		r.gateway.Add(deep)
		r.add(20)
		r.run(Options{Observer: seen})
		r.advance(2 * time.Minute)
		r.wantActive(0)
		if _, err := r.end(); err != nil {
			r.Fatal(err)
		}
		incidents := 0
		for i, a := range seen.answers {
			if a.Kind() == job.KindFail && a.Retries() == 0 && seen.results[i] == job.Accepted {
				incidents++
			}
		}
		// The job that cannot be delivered is answered by its key, without ever having come with its variables.
		if incidents != 1 || seen.activated == 0 || len(seen.answers) < seen.activated {
			r.Errorf("%d jobs were taken, %d answered, %d as incidents; want each answered, one as an incident",
				seen.activated, len(seen.answers), incidents)
		}
	})
}
