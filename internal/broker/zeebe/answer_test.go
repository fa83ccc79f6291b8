package zeebe

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/broker/job"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

// answers are the calls that answered jobs, in order.
func answers(g *enginetest.Gateway) []enginetest.Call {
	return g.Calls(enginetest.CompleteJob, enginetest.ThrowError, enginetest.FailJob)
}

// The table of what follows a call that failed.
func TestAnAnswerThatMayBeLostIsSentAgainUnchanged(t *testing.T) {
	for _, code := range []codes.Code{codes.ResourceExhausted, codes.Unavailable, codes.DeadlineExceeded, codes.Unknown} {
		for _, applied := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, taken by the broker: %v", code, applied), func(t *testing.T) {
				inBubble(t, func(r *rig) {
					r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: 3, Code: code, Applied: applied})
					r.add(1)
					r.run(Options{})
					r.advance(time.Second)
					r.wantCounts(enginetest.Counts{Completed: 1})
					sent := answers(r.gateway)
					if len(sent) != 4 {
						r.Fatalf("sent %d times, want 4", len(sent))
					}
					for i, c := range sent[1:] {
						check.Same(r, sent[0].Request, c.Request, "try %d", i+2)
						if pause := c.At.Sub(sent[i].At); pause < 10*time.Millisecond<<i || pause > 20*time.Millisecond<<i {
							r.Errorf("try %d comes after %v", i+2, pause)
						}
					}
					if n := r.logged(zapcore.InfoLevel, "job_gone"); applied != (n == 1) {
						r.Errorf("logged as gone %d times", n)
					}
				})
			})
		}
	}
}

func TestAnswerInDoubtIsNotReplaced(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Code: codes.Unavailable})
		r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Code: codes.InvalidArgument})
		r.add(1)
		r.run(Options{})
		r.advance(9 * time.Second)
		check.Same(r, 0, len(r.gateway.Calls(enginetest.FailJob)), "failures of a job whose completion may have been taken")
		r.advance(2 * time.Second)
		r.wantCounts(enginetest.Counts{Completed: 1, Expired: 1})
	})
}

func TestAnswerIsGivenUpWhenTheLockEnds(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Code: codes.Unavailable})
		start := time.Now()
		r.add(1)
		r.run(Options{})
		r.advance(9999 * time.Millisecond)
		sent := answers(r.gateway)
		if last := sent[len(sent)-1]; last.Method != enginetest.CompleteJob || last.At.Sub(start) > 9500*time.Millisecond {
			r.Errorf("last answer is %s after %v, want none after the lock less a twentieth", last.Method, last.At.Sub(start))
		}
		if len(sent) < 10 || len(sent) > 40 {
			r.Errorf("sent %d times in 9.5 s", len(sent))
		}
		if r.logged(zapcore.WarnLevel, "answer_given_up") != 1 || r.logs.FilterLevelExact(zapcore.WarnLevel).Len() != 1 {
			r.Errorf("log has %v", r.logs.All())
		}
		r.wantActive(0)
		r.gateway.Heal()
		r.advance(time.Second)
		r.wantCounts(enginetest.Counts{Completed: 1, Expired: 1})
	})
}

func TestAWorkerWhoseAnswersAreNotTakenIsNotReady(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Code: codes.Unavailable})
		r.add(3)
		r.run(Options{})
		r.advance(11 * time.Second) // each is given up once: that may be chance
		check.Must(r, r.worker.AnswersErr())
		r.advance(20 * time.Second)
		check.Fails(r, r.worker.AnswersErr(), "no answer to a job is taken: Unavailable")
		check.Must(r, r.worker.Err()) // polls come through
		r.wantLogged(zapcore.ErrorLevel, "answers_lost", 1)
		const long = 10 * time.Minute
		before := len(r.polls())
		r.add(40)
		r.advance(long) // seen with 40 jobs at a time, each with its lines in the log at the end of each lock
		for _, p := range r.polls()[before+1:] {
			check.Same(r, 1, p.MaxJobsToActivate, "jobs that a poll asks for")
		}
		if n := r.logged(zapcore.WarnLevel, "answer_given_up"); n > 2*int(long/triesEvery) {
			r.Errorf("%d jobs were taken and given up in %v", n, long)
		}
		r.wantLogged(zapcore.ErrorLevel, "answers_lost", 1)
		r.gateway.Heal()
		r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Code: codes.NotFound}) // it gets through
		r.advance(2 * time.Second)
		check.Must(r, r.worker.AnswersErr())
		r.wantLogged(zapcore.InfoLevel, "answers_back", 1)
	})
}

func TestAWorkerWithoutJobsIsNotLostForItsAnswers(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Code: codes.Unavailable})
		r.add(1)
		r.run(Options{})
		r.advance(30 * time.Second)
		r.gateway.Inject(enginetest.ActivateJobs, enginetest.Fault{Times: -1, Code: codes.Unavailable}) // so no job comes
		r.advance(25 * time.Second)
		check.Fails(r, r.worker.AnswersErr(), "no answer to a job is taken")
		r.advance(20 * time.Second)
		check.Must(r, r.worker.AnswersErr())
	})
}

func TestAnswersAreSentSideBySide(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.gateway.Inject(enginetest.CompleteJob, enginetest.Fault{Times: -1, Delay: time.Second})
		r.add(200)
		r.run(Options{MaxJobsActive: 200})
		check.Same(r, 32, len(answers(r.gateway)), "answers under way")
		r.advance(10 * time.Second)
		r.wantCounts(enginetest.Counts{Completed: 200})
	})
}

// The table of what is reported as an answer's result.
func TestResultOfAnAnswerIsReportedOnce(t *testing.T) {
	lost := enginetest.Fault{Code: codes.Unavailable, Applied: true}
	for name, test := range map[string]struct {
		faults []enginetest.Fault
		want   job.Result
		sent   int // how often it was sent; 0 is not looked at
		level  zapcore.Level
		event  string // logged once, if any
	}{
		"accepted at once":                     {want: job.Accepted, sent: 1},
		"accepted at the second try":           {faults: []enginetest.Fault{{Code: codes.Unavailable}}, want: job.Accepted, sent: 2},
		"not found at the first try":           {[]enginetest.Fault{{Code: codes.NotFound}}, job.NotFound, 1, zapcore.InfoLevel, "job_gone"},
		"not found after a try in doubt":       {[]enginetest.Fault{lost}, job.Accepted, 2, zapcore.InfoLevel, "job_gone"},
		"the job failed meanwhile":             {[]enginetest.Fault{{Code: codes.FailedPrecondition}}, job.Unknown, 1, zapcore.InfoLevel, "answer_not_taken"},
		"refused as invalid, then an incident": {faults: []enginetest.Fault{{Code: codes.InvalidArgument}}, want: job.Unknown, sent: 2},
		"given up when the lock ends":          {[]enginetest.Fault{{Times: -1, Code: codes.Unavailable}}, job.Unknown, 0, zapcore.WarnLevel, "answer_given_up"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				for _, f := range test.faults {
					r.gateway.Inject(enginetest.CompleteJob, f)
				}
				r.add(1)
				first, seen := true, &watcher{}
				r.run(Options{Observer: seen, Handler: each(func(j job.Job) job.Answer {
					if !first { // after a lock has ended
						return job.Complete("{}")
					}
					first = false
					return job.Complete(`{"name":"` + secret + `"}`)
				})})
				r.advance(9600 * time.Millisecond)
				if n := len(answers(r.gateway)); test.sent > 0 && n != test.sent {
					r.Errorf("sent %d times, want %d", n, test.sent)
				}
				if test.event != "" {
					r.wantLogged(test.level, test.event, 1)
				}
				r.wantActive(0)
				r.wantNowhere(secret) // the gateway's error repeats the request
				_, _ = r.end()
				kind, result := job.KindComplete, test.want
				if test.faults != nil && test.faults[0].Code == codes.InvalidArgument { // then it is the incident's
					kind, result = job.KindFail, job.Accepted
				}
				if len(seen.results) == 0 || seen.answers[0].Kind != kind || seen.results[0] != result {
					r.Errorf("observed %v of %v, want first %v of %v", seen.results, seen.answers, result, kind)
				}
			})
		})
	}
}
