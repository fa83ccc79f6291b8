package zeebe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// tokenReply answers the n-th request for a token.
type tokenReply func(w http.ResponseWriter, r *http.Request, n int) error

// issues issues the tokens token-1, token-2, ... A life of 0 is not stated.
func issues(life time.Duration) tokenReply {
	return func(w http.ResponseWriter, _ *http.Request, n int) error {
		w.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":%d}`, n, int(life.Seconds()))
		return err
	}
}

func fails(err error) tokenReply {
	return func(http.ResponseWriter, *http.Request, int) error { return err }
}

func says(code int, body string) tokenReply {
	return func(w http.ResponseWriter, _ *http.Request, _ int) error {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, err := w.Write([]byte(body))
		return err
	}
}

// issuer is a token server without a network, so that a bubble's clock can move.
type issuer struct {
	mu        sync.Mutex
	requested []time.Time
	answer    tokenReply
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	i.requested = append(i.requested, time.Now())
	n, answer := len(i.requested), i.answer
	i.mu.Unlock()
	w := httptest.NewRecorder()
	if err := answer(w, r, n); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func (i *issuer) set(answer tokenReply) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = answer
}

// requests returns how often a token was requested, and how often in the second with the most requests.
func (i *issuer) requests() (all, most int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for first, from := range i.requested {
		n := 0
		for _, at := range i.requested[first:] {
			if at.Sub(from) < time.Second {
				n++
			}
		}
		most = max(most, n)
	}
	return len(i.requested), most
}

func (i *issuer) tokens() *tokens {
	t := newTokens(goodOAuth, true)
	t.http.Transport = i
	return t
}

func wantToken(t *testing.T, tokens *tokens, want string) {
	t.Helper()
	if token, err := tokens.get(t.Context()); token != want || err != nil {
		t.Errorf("token is %q, error is %v; want %q", token, err, want)
	}
}

func TestEveryCallCarriesTheToken(t *testing.T) {
	var forms []http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		forms = append(forms, *r)
		_ = issues(time.Hour)(w, r, len(forms))
	}))
	defer server.Close()
	g := gatewaytest.New()
	defer g.Close()
	address, err := g.Listen()
	check.Must(t, err)
	client, err := Dial(Config{Address: address, Plaintext: true, OAuth: &OAuthConfig{
		ClientID: "worker", ClientSecret: secret, TokenURL: server.URL + "/token", Audience: "zeebe-api", Scope: "jobs",
	}})
	check.Must(t, err)
	defer func() { _ = client.Close() }()
	for range 3 {
		if _, err := client.Topology(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, call := range g.Calls() {
		check.Same(t, "Bearer token-1", call.Authorization, "authorization")
	}
	if len(forms) != 1 {
		t.Fatalf("%d tokens were requested", len(forms))
	}
	for name, want := range map[string]string{
		"grant_type": "client_credentials", "client_id": "worker", "client_secret": secret, "audience": "zeebe-api", "scope": "jobs",
	} {
		check.Same(t, want, forms[0].PostForm.Get(name), "%s", name)
	}
}

func TestManyCallsRequestOneTokenAndEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		i := &issuer{answer: func(w http.ResponseWriter, r *http.Request, n int) error {
			<-answer
			return issues(time.Hour)(w, r, n)
		}}
		tokens := i.tokens()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := tokens.get(ended); status.Code(err) != codes.Canceled {
			t.Errorf("error is %v, want the end of the call", err)
		}
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() { wantToken(t, tokens, "token-1") })
		}
		synctest.Wait()
		close(answer)
		calls.Wait()
		if n, _ := i.requests(); n != 1 {
			t.Errorf("%d tokens were requested", n)
		}
	})
}

func TestExpiredTokenIsReplacedAndNeverSentEmpty(t *testing.T) {
	tokens := (&issuer{answer: issues(time.Hour)}).tokens()
	tokens.token, tokens.fetched, tokens.expires = "old", time.Now(), time.Now().Add(-time.Millisecond)
	wantToken(t, tokens, "token-1")
}

func TestNoCallWaitsForTheNextTokenWhileOneHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		tokens := (&issuer{answer: func(w http.ResponseWriter, r *http.Request, n int) error {
			if n > 1 {
				<-answer
			}
			return issues(time.Hour)(w, r, n)
		}}).tokens()
		tokens.http.Timeout = 0
		get := func(want string) {
			start := time.Now()
			if wantToken(t, tokens, want); time.Since(start) > 0 {
				t.Errorf("%s comes after %v, want it at once", want, time.Since(start))
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
	down := fails(errors.New("connection refused"))
	for name, test := range map[string]struct {
		life      time.Duration // of the first token; 0 says nothing of it
		step      time.Duration // between two calls
		calls     int
		reject    bool
		after     tokenReply // what follows the first token, if not another one
		requested int
		want      codes.Code // of the last call
	}{
		"fetched once while it lives":             {life: time.Hour, step: 47 * time.Minute, calls: 2, requested: 1},
		"fetched anew when a fifth is left":       {life: time.Hour, step: 49 * time.Minute, calls: 2, requested: 2},
		"used five minutes where it says nothing": {step: time.Minute, calls: 5, requested: 2},
		"used to the end while there is no other": {life: time.Hour, step: 59 * time.Minute, calls: 2, after: down, requested: 2},
		"not used beyond its end":                 {life: time.Hour, step: 61 * time.Minute, calls: 2, after: down, requested: 2, want: codes.Unauthenticated},
		"fetched once a second where that fails": {
			life: time.Second, step: 100 * time.Millisecond, calls: 101, after: down, requested: 11, want: codes.Unauthenticated,
		},
		"fetched anew when the gateway refuses it": {life: time.Hour, step: time.Minute, calls: 3, reject: true, requested: 3},
		"fetched once a second then":               {life: time.Hour, step: 100 * time.Millisecond, calls: 100, reject: true, requested: 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := &issuer{answer: func(w http.ResponseWriter, r *http.Request, n int) error {
					if n > 1 && test.after != nil {
						return test.after(w, r, n)
					}
					return issues(test.life)(w, r, n)
				}}
				tokens := i.tokens()
				var err error
				for call := range test.calls {
					if call > 0 {
						<-time.After(test.step)
					}
					_, err = tokens.get(t.Context())
					synctest.Wait()
					if test.reject {
						tokens.HandleRPC(t.Context(), &stats.End{Error: status.Error(codes.Unauthenticated, "")})
					}
				}
				if n, _ := i.requests(); n != test.requested || status.Code(err) != test.want {
					t.Errorf("%d requests, ended with %v; want %d and %v", n, err, test.requested, test.want)
				}
			})
		})
	}
}

func TestWorkerReplacesATokenThatIsRefused(t *testing.T) {
	for name, method := range map[string]gatewaytest.Method{
		"for a poll": gatewaytest.ActivateJobs,
		"for an answer, when no slot is free for a poll": gatewaytest.CompleteJob,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				i := &issuer{answer: issues(24 * time.Hour)}
				r.connectWithTokensOf(i)
				r.gateway.Inject(method, gatewaytest.Fault{Times: 10, Code: codes.Unauthenticated})
				r.add(1)
				r.run(Options{MaxJobsActive: 1})
				r.advance(time.Minute)
				r.wantCounts(gatewaytest.Counts{Completed: 1})
				calls := r.gateway.Calls(gatewaytest.CompleteJob)
				if last := calls[len(calls)-1]; last.Authorization == "Bearer token-1" {
					r.Error("the job is completed with the token that was refused")
				}
				if n, _ := i.requests(); n < 2 || n > 10 {
					r.Errorf("%d tokens were requested", n)
				}
			})
		})
	}
}

func TestTokenErrorsDoNotShowTheSecret(t *testing.T) {
	for want, answer := range map[string]tokenReply{
		"401, invalid_client":    says(http.StatusUnauthorized, `{"error":"invalid_client","error_description":"no client with `+secret+`"}`),
		"answered 403":           says(http.StatusForbidden, `{"error":"`+secret+`"}`),
		"answered 500":           says(http.StatusInternalServerError, secret),
		"answer is no token":     says(http.StatusOK, "<"+secret),
		"is no token":            says(http.StatusOK, `{}`),
		"cannot be reached: EOF": fails(io.EOF),
		"answered 307": func(w http.ResponseWriter, r *http.Request, n int) error {
			if n > 1 {
				t.Error("the secret was sent elsewhere")
				return issues(time.Hour)(w, r, n)
			}
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
			return nil
		},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := (&issuer{answer: answer}).tokens().get(t.Context())
			if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want %q", err, want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the secret stands in %q", err)
			}
		})
	}
}

func TestAnOutageOfTheTokenServer(t *testing.T) {
	for name, test := range map[string]struct {
		fault tokenReply
		says  string        // in the line of the log
		hang  time.Duration // how long a request that was sent before its end goes on
	}{
		"it is down":        {fails(errors.New("connection refused")), "cannot be reached: connection refused", 0},
		"it refuses":        {says(http.StatusUnauthorized, `{"error":"invalid_client"}`), "answered 401, invalid_client", 0},
		"it is overrun":     {says(http.StatusTooManyRequests, `busy`), "answered 429", 0},
		"it talks nonsense": {says(http.StatusOK, `<html>`), "is no token", 0},
		"it does not answer": {func(_ http.ResponseWriter, r *http.Request, _ int) error {
			<-r.Context().Done()
			return r.Context().Err()
		}, "the authorization server has not answered yet", tokenTimeout},
	} {
		for when, life := range map[string]time.Duration{"from the start": 0, "when the token has run out": 30 * time.Second} {
			t.Run(name+" "+when, func(t *testing.T) {
				inBubble(t, func(r *rig) {
					i := &issuer{answer: issues(life)}
					if life == 0 {
						i.answer = test.fault
					}
					r.connectWithTokensOf(i)
					r.run(Options{MaxJobsActive: 10})
					if life > 0 { // it worked at first
						r.add(1)
						r.advance(life / 2)
						r.wantCounts(gatewaytest.Counts{Completed: 1})
						i.set(test.fault)
					}
					r.advance(5 * time.Minute)
					if n, most := i.requests(); n < 30 || most > 1 {
						r.Errorf("%d requests in five minutes, %d times in a second", n, most)
					}
					if log := logText(r); strings.Count(log, "gateway_lost") != 1 || !strings.Contains(log, test.says) {
						r.Errorf("want one line with %q, have:\n%s", test.says, log)
					}
					r.wantNowhere(secret)
					i.set(issues(time.Hour))
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
		i := &issuer{answer: func(w http.ResponseWriter, q *http.Request, n int) error {
			<-time.After(tokenTimeout - time.Second)
			return issues(time.Hour)(w, q, n)
		}}
		r.connectWithTokensOf(i)
		r.add(1)
		r.run(Options{MaxJobsActive: 10})
		r.advance(tokenTimeout + pollBackoff.Max)
		r.wantCounts(gatewaytest.Counts{Completed: 1})
		if n, _ := i.requests(); n != 1 {
			r.Errorf("%d tokens were requested", n)
		}
	})
}
