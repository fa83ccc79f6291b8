package zeebe

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// scripted issues the tokens token-1, token-2, ... without a network, so that time can be moved.
type scripted struct {
	asked int
	life  func(n int) (time.Duration, error) // of the n-th token
}

func (s *scripted) RoundTrip(*http.Request) (*http.Response, error) {
	s.asked++
	life, err := s.life(s.asked)
	if err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	issue(w, int64(s.asked), life)
	return w.Result(), nil
}

func TestNoCallWaitsForTheNextTokenWhileOneHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		tokens := newTokens(goodOAuth, false)
		tokens.http.Timeout = 0
		tokens.http.Transport = &scripted{life: func(n int) (time.Duration, error) {
			if n > 1 {
				<-answer
			}
			return time.Hour, nil
		}}
		get := func(want string) {
			start := time.Now()
			if token, err := tokens.get(t.Context()); token != want || err != nil || time.Since(start) > 0 {
				t.Errorf("token is %q, error %v, after %v; want %q at once", token, err, time.Since(start), want)
			}
			synctest.Wait()
		}
		get("token-1")
		<-time.After(50 * time.Minute)
		get("token-1")
		get("token-1")
		close(answer)
		synctest.Wait()
		get("token-2")
	})
}

func TestTheLifeOfAToken(t *testing.T) {
	down := errors.New("connection refused")
	for name, test := range map[string]struct {
		life   time.Duration // of the first token; 0 says nothing of it
		step   time.Duration // between two calls
		calls  int
		reject bool
		after  error // what follows the first token
		asked  int
		want   codes.Code // of the last call
	}{
		"asked for once while it lives":           {life: time.Hour, step: 47 * time.Minute, calls: 2, asked: 1},
		"asked for anew when a fifth is left":     {life: time.Hour, step: 49 * time.Minute, calls: 2, asked: 2},
		"used five minutes where it says nothing": {step: time.Minute, calls: 5, asked: 2},
		"used to the end while there is no other": {life: time.Hour, step: 59 * time.Minute, calls: 2, after: down, asked: 2},
		"not used beyond its end":                 {life: time.Hour, step: 61 * time.Minute, calls: 2, after: down, asked: 2, want: codes.Unauthenticated},
		"asked for once a second where that fails": {
			life: time.Second, step: 100 * time.Millisecond, calls: 101, after: down, asked: 11, want: codes.Unauthenticated,
		},
		"asked for anew when the gateway refuses it": {life: time.Hour, step: time.Minute, calls: 3, reject: true, asked: 3},
		"asked for once a second then":               {life: time.Hour, step: 100 * time.Millisecond, calls: 100, reject: true, asked: 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tokens := newTokens(goodOAuth, false)
				issuer := &scripted{life: func(n int) (time.Duration, error) {
					if n > 1 && test.after != nil {
						return 0, test.after
					}
					return test.life, nil
				}}
				tokens.http.Transport = issuer
				var err error
				for call := range test.calls {
					if call > 0 {
						<-time.After(test.step)
					}
					_, err = tokens.get(t.Context())
					synctest.Wait()
					if test.reject {
						tokens.reject()
					}
				}
				if issuer.asked != test.asked || status.Code(err) != test.want {
					t.Errorf("asked %d times and ended with %v; want %d times and %v", issuer.asked, err, test.asked, test.want)
				}
			})
		})
	}
}

func TestAWorkerWhoseTokenIsRefusedGetsAnother(t *testing.T) {
	for name, method := range map[string]gatewaytest.Method{
		"for a poll": gatewaytest.ActivateJobs,
		"for an answer, when no slot is free for a poll": gatewaytest.CompleteJob,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				issuer := &scripted{life: func(int) (time.Duration, error) { return 24 * time.Hour, nil }}
				r.connectWithTokensOf(issuer)
				r.gateway.Inject(method, gatewaytest.Fault{Times: 10, Code: codes.Unauthenticated})
				r.add(1)
				r.run(Options{MaxJobsActive: 1})
				r.advance(time.Minute)
				r.wantCounts(gatewaytest.Counts{Completed: 1})
				calls := r.gateway.Calls(gatewaytest.CompleteJob)
				if last := calls[len(calls)-1]; last.Authorization == "Bearer token-1" {
					r.Error("the job is completed with the token that was refused")
				}
				if issuer.asked < 2 || issuer.asked > 10 {
					r.Errorf("asked for a token %d times", issuer.asked)
				}
				_, _ = r.end()
			})
		})
	}
}
