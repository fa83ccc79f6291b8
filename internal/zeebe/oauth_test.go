package zeebe

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

// tokenTimeout is how long a request for a token may take.
const tokenTimeout = 5 * time.Second

func TestWorkerReplacesATokenThatIsRefused(t *testing.T) {
	for name, method := range map[string]enginetest.Method{
		"for a poll": enginetest.ActivateJobs,
		"for an answer, when no slot is free for a poll": enginetest.CompleteJob,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				i := enginetest.NewIssuer(enginetest.Issues(24 * time.Hour))
				r.connectWithTokensOf(i)
				r.gateway.Inject(method, enginetest.Fault{Times: 10, Code: codes.Unauthenticated})
				r.add(1)
				r.run(Options{MaxJobsActive: 1})
				r.advance(time.Minute)
				r.wantCounts(enginetest.Counts{Completed: 1})
				calls := r.gateway.Calls(enginetest.CompleteJob)
				if last := calls[len(calls)-1]; last.Authorization == "Bearer token-1" {
					r.Error("the job is completed with the token that was refused")
				}
				if n, _ := i.Requests(); n < 2 || n > 10 {
					r.Errorf("%d tokens were requested", n)
				}
			})
		})
	}
}

func TestAnOutageOfTheTokenServer(t *testing.T) {
	for name, test := range map[string]struct {
		fault enginetest.TokenReply
		says  string        // in the line of the log
		hang  time.Duration // how long a request that was sent before its end goes on
	}{
		"it is down":        {enginetest.Fails(errors.New("connection refused")), "cannot be reached: connection refused", 0},
		"it refuses":        {enginetest.Says(http.StatusUnauthorized, `{"error":"invalid_client"}`), "answered 401, invalid_client", 0},
		"it is overrun":     {enginetest.Says(http.StatusTooManyRequests, `busy`), "answered 429", 0},
		"it talks nonsense": {enginetest.Says(http.StatusOK, `<html>`), "is no token", 0},
		"it does not answer": {func(_ http.ResponseWriter, r *http.Request, _ int) error {
			<-r.Context().Done()
			return r.Context().Err()
		}, "the authorization server has not answered yet", tokenTimeout},
	} {
		for when, life := range map[string]time.Duration{"from the start": 0, "when the token has run out": 30 * time.Second} {
			t.Run(name+" "+when, func(t *testing.T) {
				inBubble(t, func(r *rig) {
					i := enginetest.NewIssuer(enginetest.Issues(life))
					if life == 0 {
						i.Set(test.fault)
					}
					r.connectWithTokensOf(i)
					r.run(Options{MaxJobsActive: 10})
					if life > 0 { // it worked at first
						r.add(1)
						r.advance(life / 2)
						r.wantCounts(enginetest.Counts{Completed: 1})
						i.Set(test.fault)
					}
					r.advance(5 * time.Minute)
					if n, most := i.Requests(); n < 30 || most > 1 {
						r.Errorf("%d requests in five minutes, %d times in a second", n, most)
					}
					if log := logText(r); strings.Count(log, "gateway_lost") != 1 || !strings.Contains(log, test.says) {
						r.Errorf("want one line with %q, have:\n%s", test.says, log)
					}
					r.wantNowhere(secret)
					i.Set(enginetest.Issues(time.Hour))
					r.add(3)
					r.advance(test.hang + 5*time.Second)
					if got := r.gateway.Counts().Completed; got < 3 {
						r.Errorf("%d jobs are done five seconds after", got)
					}
				})
			})
		}
	}
}

func TestSlowTokenServerIsAskedOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		i := enginetest.NewIssuer(func(w http.ResponseWriter, q *http.Request, n int) error {
			<-time.After(tokenTimeout - time.Second)
			return enginetest.Issues(time.Hour)(w, q, n)
		})
		r.connectWithTokensOf(i)
		r.add(1)
		r.run(Options{MaxJobsActive: 10})
		r.advance(tokenTimeout + pollBackoff.Max)
		r.wantCounts(enginetest.Counts{Completed: 1})
		if n, _ := i.Requests(); n != 1 {
			r.Errorf("%d tokens were requested", n)
		}
	})
}
