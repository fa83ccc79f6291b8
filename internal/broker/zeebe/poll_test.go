package zeebe

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

func TestAPollAsksForExactlyWhatIsNeeded(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run(Options{Poll: transport.Poll{Worker: "w-1", Fetch: []string{"a", "b"}, JobTimeout: 8 * time.Second}, MaxJobsActive: 7})
		polls := r.polls()
		if len(polls) != 2 {
			r.Fatalf("%d polls, want one that does not wait and one that does", len(polls))
		}
		check.Same(r, -1, polls[0].RequestTimeout, "wait of the first poll, which is to show that the gateway answers")
		p := polls[1]
		if p.Type != testType || p.Worker != "w-1" || p.MaxJobsToActivate != 7 || p.Timeout != 8000 || p.RequestTimeout != 1000 {
			r.Errorf("poll is %v", p)
		}
		check.Same(r, []string{"a", "b"}, p.FetchVariable, "difference")
		check.Same(r, []string{"<default>"}, p.TenantIds, "difference")
	})
}

func TestNeverMoreJobsAreActiveThanAllowed(t *testing.T) {
	inBubble(t, func(r *rig) {
		handler := newGate()
		r.add(95)
		r.run(Options{MaxJobsActive: 10, Handler: handler.hold})
		r.wantCounts(enginetest.Counts{Waiting: 85, Locked: 10})
		r.wantActive(10)
		// Handled, but not answered yet, they are still active.
		r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Delay: 100 * time.Millisecond})
		close(handler.open)
		for range 60 {
			r.advance(30 * time.Millisecond)
			if n := r.gateway.Counts().Locked; n > 10 {
				r.Fatalf("%d active jobs, want 10 at most", n)
			}
		}
		r.wantCounts(enginetest.Counts{Completed: 95})
		r.wantActive(0)
	})
}

func TestNextPollComesWhenHalfOfTheSlotsAreFree(t *testing.T) {
	inBubble(t, func(r *rig) {
		// One answer comes back each half second.
		for i := range 9 {
			r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: 1, Delay: time.Duration(i+1) * time.Second / 2})
		}
		r.add(9)
		r.run(Options{MaxJobsActive: 9})
		for _, step := range []struct{ polls, asked int }{{1, 9}, {1, 9}, {1, 9}, {2, 4}} {
			r.advance(time.Second / 2)
			polls := r.polls()
			if len(polls) != step.polls || int(polls[len(polls)-1].MaxJobsToActivate) != step.asked {
				r.Errorf("%d polls, the last for %d jobs; want %d and %d",
					len(polls), polls[len(polls)-1].MaxJobsToActivate, step.polls, step.asked)
			}
		}
	})
}

func TestJobsThatComeWithAnErrorAreWorked(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.add(5)
		r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Code: codes.Unavailable, Applied: true})
		r.run(Options{})
		if r.protocol.Scheme == "http" { // half an answer is none: they come again
			r.advance(11 * time.Second)
			check.Same(r, 5, r.gateway.Counts().Completed, "jobs completed")
			return
		}
		r.wantCounts(enginetest.Counts{Completed: 5})
	})
}

func TestEveryFailedPollIsFollowedByAGrowingPause(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted, codes.Unauthenticated} {
		t.Run(code.String(), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: -1, Code: code})
				r.run(Options{})
				r.advance(time.Minute)
				wantPauses(r.T, r.gateway.Calls(enginetest.ActivateJobs))
			})
		})
	}
}

// wantPauses wants pauses between calls that begin at 50 to 100 ms, double, and end at 2.5 to 5 s.
func wantPauses(t *testing.T, calls []enginetest.Call) {
	t.Helper()
	if len(calls) < 5 {
		t.Fatalf("%d polls, want more", len(calls))
	}
	bound := 100 * time.Millisecond
	for i := range calls[1:] {
		pause := calls[i+1].At.Sub(calls[i].At)
		if pause < bound/2 || pause > bound {
			t.Errorf("pause %d is %v, want %v to %v", i+1, pause, bound/2, bound)
		}
		bound = min(2*bound, pollBackoff.Max)
	}
}

func TestNoJobIsAskedForWhileJobsAreHeld(t *testing.T) {
	inBubble(t, func(r *rig) {
		open := make(chan struct{})
		r.add(3)
		r.run(Options{Hold: heldUntil(open)})
		r.advance(time.Hour)
		check.Same(r, 0, len(r.polls()), "polls while jobs are held")
		close(open)
		r.advance(time.Second)
		r.wantCounts(enginetest.Counts{Completed: 3})
	})
}

func heldUntil(open <-chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-open:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
}

func TestAnAnswerThatIsTooLargeIsNamedInTheLog(t *testing.T) {
	for text, want := range map[string]string{
		"grpc: received message larger than max (9 vs. 8)": "ResourceExhausted: grpc: received message larger than max (9 vs. 8)",
		"the answer is larger than 8 bytes":                "ResourceExhausted: the answer is larger than 8 bytes",
		"job 1 of Maria is too many":                       "ResourceExhausted",
	} {
		check.Same(t, want, loggable(status.Error(codes.ResourceExhausted, text)).Error(), "what is logged of %q", text)
	}
}

func TestLostGatewayIsLoggedOnceAndOnceWhenBack(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run(Options{})
		if r.worker.Err() != nil {
			r.Error("an idle worker is not connected at once")
		}
		r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: -1, Code: codes.Unavailable})
		r.advance(5 * time.Minute)
		if r.worker.Err() == nil {
			r.Error("connected although no poll comes through")
		}
		if n := r.logged(zapcore.WarnLevel, "gateway_lost"); n != 1 || r.logs.Len() != 2 {
			r.Errorf("logged as lost %d times: %v", n, r.logs.All())
		}
		check.Contains(r, r.logs.FilterMessageSnippet("gateway_lost").All()[0].ContextMap()["error"].(string), "Unavailable: ")
		r.gateway.Heal()
		r.advance(pollBackoff.Max)
		back := r.logs.FilterMessage("gateway_back").All()
		if len(back) != 1 || r.logs.Len() != 3 || r.worker.Err() != nil {
			r.Fatalf("logged as back %d times: %v", len(back), r.logs.All())
		}
		if away := back[0].ContextMap()["awayFor"].(time.Duration); away < 4*time.Minute || away > 6*time.Minute {
			r.Errorf("away for %v, want 5 min", away)
		}
	})
}

func TestARefusalNowAndThenIsNotALoss(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run(Options{MaxJobsActive: 1})
		r.add(20)
		for range 20 {
			r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: 2, Code: codes.ResourceExhausted})
			r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: 2, Delay: time.Millisecond})
			if r.worker.Err() != nil {
				r.Fatal("not connected for being refused now and then")
			}
			r.advance(500 * time.Millisecond)
		}
		r.wantCounts(enginetest.Counts{Completed: 20})
		check.Same(r, 1, r.logs.Len(), "lines in %v", r.logs.All())
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
