package zeebe

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/testing/gatewaytest"
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

// hold keeps the issuer's answers back until release is called.
func (i *issuer) hold() (release func()) {
	released, answer := make(chan struct{}), i.answer
	i.answer = func(w http.ResponseWriter, r *http.Request, n int64) {
		<-released
		answer(w, r, n)
	}
	return func() { close(released) }
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
	release := i.hold()
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
	release()
	calls.Wait()
	if n := i.asked.Load(); n != 1 {
		t.Errorf("asked for a token %d times", n)
	}
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
	release := i.hold()
	tokens := newTokens(i.config(), true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tokens.get(ctx); status.Code(err) != codes.Canceled {
		t.Errorf("error is %v, want the end of the call", err)
	}
	release()
	if token, err := tokens.get(t.Context()); token != "token-1" || err != nil {
		t.Errorf("token is %q, error is %v", token, err)
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
