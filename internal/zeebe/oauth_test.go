package zeebe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/zeebe/gatewaytest"
)

// issuer is a server that issues the tokens token-1, token-2, ..., which live for an hour.
type issuer struct {
	*httptest.Server
	asked  atomic.Int64
	answer func(w http.ResponseWriter, r *http.Request, n int64)
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{answer: func(w http.ResponseWriter, _ *http.Request, n int64) { issue(w, n, time.Hour) }}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.answer(w, r, i.asked.Add(1))
	}))
	t.Cleanup(i.Close)
	return i
}

func issue(w http.ResponseWriter, n int64, life time.Duration) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":%d}`, n, int(life.Seconds()))
}

func (i *issuer) config() OAuthConfig {
	return OAuthConfig{ClientID: "worker", ClientSecret: secret, TokenURL: i.URL + "/token", Audience: "zeebe-api", Scope: "jobs"}
}

func TestEveryCallCarriesTheToken(t *testing.T) {
	i := newIssuer(t)
	var form atomic.Pointer[http.Request]
	i.answer = func(w http.ResponseWriter, r *http.Request, n int64) {
		_ = r.ParseForm()
		form.Store(r)
		issue(w, n, time.Hour)
	}
	g := gatewaytest.New()
	defer g.Close()
	address, err := g.Listen()
	if err != nil {
		t.Fatal(err)
	}
	oauth := i.config()
	client, err := Dial(Config{Address: address, Plaintext: true, OAuth: &oauth})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	for range 3 {
		if _, err := client.Topology(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, call := range g.Calls() {
		if call.Authorization != "Bearer token-1" {
			t.Errorf("call carries %q", call.Authorization)
		}
	}
	if n := i.asked.Load(); n != 1 {
		t.Errorf("asked for a token %d times", n)
	}
	for name, want := range map[string]string{
		"grant_type": "client_credentials", "client_id": "worker", "client_secret": secret, "audience": "zeebe-api", "scope": "jobs",
	} {
		if got := form.Load().PostForm.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestManyCallsAskForOneToken(t *testing.T) {
	i := newIssuer(t)
	waiting := make(chan struct{})
	i.answer = func(w http.ResponseWriter, _ *http.Request, n int64) {
		<-waiting
		issue(w, n, time.Hour)
	}
	tokens := newTokens(i.config(), true)
	var calls, started sync.WaitGroup
	for range 50 {
		started.Add(1)
		calls.Go(func() {
			started.Done()
			if token, err := tokens.get(t.Context()); token != "token-1" || err != nil {
				t.Errorf("token is %q, error is %v", token, err)
			}
		})
	}
	started.Wait()
	close(waiting)
	calls.Wait()
	if n := i.asked.Load(); n != 1 {
		t.Errorf("asked for a token %d times", n)
	}
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

func TestATokenThatRanOutAMomentAfterItWasIssuedIsReplacedAndNeverSentEmpty(t *testing.T) {
	i := newIssuer(t)
	tokens := newTokens(i.config(), true)
	tokens.token, tokens.asked, tokens.expires = "old", time.Now(), time.Now().Add(-time.Millisecond)
	if token, err := tokens.get(t.Context()); token != "token-1" || err != nil {
		t.Errorf("got %q, %v, want a fresh token", token, err)
	}
}

func TestACallThatEndsDoesNotWaitForTheToken(t *testing.T) {
	i := newIssuer(t)
	waiting := make(chan struct{})
	i.answer = func(w http.ResponseWriter, _ *http.Request, n int64) {
		<-waiting
		issue(w, n, time.Hour)
	}
	tokens := newTokens(i.config(), true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tokens.get(ctx); status.Code(err) != codes.Canceled {
		t.Errorf("error is %v, want the end of the call", err)
	}
	close(waiting)
	if token, err := tokens.get(t.Context()); token != "token-1" || err != nil {
		t.Errorf("token is %q, error is %v", token, err)
	}
}

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

func TestAFaultOfTheIssuerIsToldWithoutTheSecret(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"refused with a reason": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = fmt.Fprintf(w, `{"error":"invalid_client","error_description":"no client with %s"}`, secret)
			}, "401, invalid_client",
		},
		"refused with a reason of its own": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusForbidden)
				_, _ = fmt.Fprintf(w, `{"error":"%s"}`, secret)
			}, "answered 403",
		},
		"broken": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, secret, http.StatusInternalServerError) },
			"answered 500",
		},
		"sent elsewhere": {
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
			},
			"answered 307",
		},
		"no JSON":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<"+secret) }, "answer is no token"},
		"no token": {func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{}`) }, "answer is no token"},
		"cut off":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached: EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t)
			i.answer = func(w http.ResponseWriter, r *http.Request, _ int64) {
				if r.URL.Path != "/token" {
					t.Error("the secret was sent elsewhere")
				}
				test.answer(w, r)
			}
			tokens := newTokens(i.config(), true)
			_, err := tokens.get(t.Context())
			if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the secret stands in %q", err)
			}
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
				tokens := newTokens(goodOAuth, true)
				issuer := &scripted{life: func(int) (time.Duration, error) { return 24 * time.Hour, nil }}
				tokens.http.Transport = issuer
				client, err := dial(Config{Address: "127.0.0.1:1", Plaintext: true},
					append(tokens.dialOptions(), grpc.WithContextDialer(r.gateway.Pipe()))...)
				if err != nil {
					r.Fatal(err)
				}
				defer func() { _ = client.Close() }()
				r.client = client
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
