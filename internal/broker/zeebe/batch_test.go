package zeebe

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/broker/transport"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

// secret stands for personal data: it must not get into a log or a message.
const secret = "Maria da Silva, CPF 123.456.789-09"

// poisoned is a job whose variables a handler of these tests stumbles over.
var poisoned = enginetest.Job{Type: testType, Variables: `{"a":"poison"}`}

func isPoisoned(j job.Job) bool { return strings.Contains(j.Variables, "poison") }

// stumble completes all jobs; with a poisoned one among them it does something else.
func (r *rig) stumble(do func(*rig, context.Context) []job.Answer) job.Handler {
	return func(ctx context.Context, jobs []job.Job) []job.Answer {
		if slices.ContainsFunc(jobs, isPoisoned) {
			return do(r, ctx)
		}
		return each(complete)(ctx, jobs)
	}
}

func TestAHandlerThatFailsHurtsOnlyTheJobToBlame(t *testing.T) {
	type answers = []job.Answer
	for name, test := range map[string]struct {
		do           func(*rig, context.Context) answers
		message, log string // what the broker and the log show
	}{
		"panic with data": {
			func(*rig, context.Context) answers { panic(secret) },
			"panicked (string)", "stumble",
		},
		"goroutine ended": {
			func(*rig, context.Context) answers { runtime.Goexit(); return nil },
			"panicked (<nil>)", "stumble",
		},
		"never back": {
			func(r *rig, _ context.Context) answers { <-r.over; return nil },
			"did not return in time", "did not return in time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.add(4)
				bad := r.gateway.Add(poisoned)[0]
				r.add(5)
				r.run(Options{Handler: r.stumble(test.do)})
				r.advance(10*time.Second - time.Millisecond) // the lock
				if c := r.gateway.Counts(); c.Completed != 9 || c.Expired != 0 {
					r.Errorf("jobs are at %+v, want the 9 good ones completed and no lock run out", c)
				}
				failures := requests[*pb.FailJobRequest](r.gateway, enginetest.FailJob)
				if len(failures) == 0 {
					r.Fatal("the poisoned job is not failed")
				}
				if f := failures[0]; f.JobKey != bad || f.Retries != 2 || !strings.Contains(f.ErrorMessage, test.message) {
					r.Errorf("failed by %v, want 2 retries left and %q", f, test.message)
				}
				r.advance(30 * time.Second)
				r.wantJob(bad, enginetest.Incident, 0, "")
				if log := logText(r); !strings.Contains(log, test.log) {
					r.Errorf("log does not hold %q: %s", test.log, log)
				}
				r.wantNowhere(secret)
				r.wantNowhere("poison")
			})
		})
	}
}

func TestAHungHandlerHoldsNoSlot(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Add(slices.Repeat([]enginetest.Job{poisoned}, 5)...)
		r.run(Options{MaxJobsActive: 5, Handler: r.stumble(func(r *rig, _ context.Context) []job.Answer { <-r.over; return nil })})
		r.advance(80 * time.Second) // three rounds, for some of the five perhaps one behind the other's
		r.add(5)
		r.advance(time.Second)
		r.wantCounts(enginetest.Counts{Completed: 5, Incident: 5})
		if n := r.logs.FilterMessageSnippet("handler_failed").Len(); n <= 15 { // each job three times, and the batch
			r.Errorf("%d lines about failures, want more than 15", n)
		}
		if took, err := r.end(); err != nil || took > time.Second {
			r.Errorf("Run returned %v after %v, want no wait for what hangs", err, took)
		}
	})
}

func TestHandlerHasADeadline(t *testing.T) {
	// Five seconds, or half of a short lock.
	for lock, want := range map[time.Duration]time.Duration{time.Hour: 5 * time.Second, 4 * time.Second: 2 * time.Second} {
		inBubble(t, func(r *rig) {
			r.add(1)
			start := time.Now()
			var got time.Duration
			r.run(Options{Poll: transport.Poll{JobTimeout: lock}, Handler: func(ctx context.Context, jobs []job.Job) []job.Answer {
				deadline, _ := ctx.Deadline()
				got = deadline.Sub(start)
				return each(complete)(ctx, jobs)
			}})
			check.Same(r, want, got, "deadline with a lock of %v", lock)
		})
	}
}
