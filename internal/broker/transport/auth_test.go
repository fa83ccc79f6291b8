package transport

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/engine/enginetest"
)

// secret is found in no error.
const secret = "Maria da Silva, CPF 123.456.789-09"

// tokensOf returns tokens that this server issues.
func tokensOf(i *enginetest.Issuer) *Authorizer {
	return Config{TokenHTTP: i, Cluster: config.Cluster{
		ZeebeClientID: "id", ZeebeClientSecret: secret, ZeebeAuthorizationURL: "https://login.example/token",
	}}.Authorizer()
}

// headerOf returns what authorizes a call.
func headerOf(ctx context.Context, tokens *Authorizer) (string, error) {
	headers, err := tokens.GetRequestMetadata(ctx)
	return headers["authorization"], err
}

func wantToken(t *testing.T, tokens *Authorizer, want string) {
	t.Helper()
	if token, err := headerOf(t.Context(), tokens); token != "Bearer "+want || err != nil {
		t.Errorf("token is %q, error is %v; want %q", token, err, want)
	}
}

func TestManyCallsRequestOneTokenAndEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		i := enginetest.NewIssuer(func(w http.ResponseWriter, r *http.Request, n int) error {
			<-answer
			return enginetest.Issues(time.Hour)(w, r, n)
		})
		tokens := tokensOf(i)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := headerOf(ended, tokens); status.Code(err) != codes.Unauthenticated {
			t.Errorf("error is %v", err)
		}
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() { wantToken(t, tokens, "token-1") })
		}
		synctest.Wait()
		close(answer)
		calls.Wait()
		if n := i.Requests(); n != 1 {
			t.Errorf("%d tokens were requested", n)
		}
	})
}

func TestNoCallWaitsForTheNextTokenWhileOneHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		tokens := tokensOf(enginetest.NewIssuer(func(w http.ResponseWriter, r *http.Request, n int) error {
			if n > 1 {
				<-answer
			}
			return enginetest.Issues(time.Hour)(w, r, n)
		}))
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
	down := enginetest.Fails(errors.New("connection refused"))
	for name, test := range map[string]struct {
		life      time.Duration // of the first token; 0 says nothing of it
		step      time.Duration // between two calls
		calls     int
		reject    bool
		after     enginetest.TokenReply // what follows the first token, if not another one
		requested int
		want      codes.Code // of the last call
	}{
		"fetched anew when a fifth is left":       {life: time.Hour, step: 49 * time.Minute, calls: 2, requested: 2},
		"used to the end while there is no other": {life: time.Hour, step: 59 * time.Minute, calls: 2, after: down, requested: 2},
		"not used beyond its end":                 {life: time.Hour, step: 61 * time.Minute, calls: 2, after: down, requested: 2, want: codes.Unauthenticated},
		"fetched once a second where that fails": {
			life: time.Second, step: 100 * time.Millisecond, calls: 101, after: down, requested: 11, want: codes.Unauthenticated,
		},
		"fetched anew when the gateway refuses it": {life: time.Hour, step: time.Minute, calls: 3, reject: true, requested: 3},
		"fetched once a second then":               {life: time.Hour, step: 100 * time.Millisecond, calls: 100, reject: true, requested: 10},
		"fetched once a second where it has no life": {
			life: -100 * time.Second, step: 100 * time.Millisecond, calls: 100, requested: 10,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := enginetest.NewIssuer(func(w http.ResponseWriter, r *http.Request, n int) error {
					if n > 1 && test.after != nil {
						return test.after(w, r, n)
					}
					return enginetest.Issues(test.life)(w, r, n)
				})
				tokens := tokensOf(i)
				var token string
				var err error
				for call := range test.calls {
					if call > 0 {
						<-time.After(test.step)
					}
					if token, err = headerOf(t.Context(), tokens); token == "" && err == nil {
						t.Fatalf("call %d goes out without a token", call)
					}
					synctest.Wait()
					if test.reject {
						_ = tokens.Fail(codes.Unauthenticated, "")
					}
				}
				if n := i.Requests(); n != test.requested || status.Code(err) != test.want {
					t.Errorf("%d requests, ended with %v; want %d and %v", n, err, test.requested, test.want)
				}
			})
		})
	}
}

func TestTokenThatNoHeaderCarriesCountsAsNone(t *testing.T) {
	for _, odd := range []string{`TOK\n`, `TOK\r\n`, `TOK\u0000`, `TOK\u007f`, `não`, `a b`, ` `, ``} {
		synctest.Test(t, func(t *testing.T) {
			i := enginetest.NewIssuer(func(w http.ResponseWriter, r *http.Request, n int) error {
				if n == 1 {
					return enginetest.Says(http.StatusOK, `{"access_token":"`+odd+`","expires_in":3600}`)(w, r, n)
				}
				return enginetest.Issues(time.Hour)(w, r, n)
			})
			tokens := tokensOf(i)
			if token, err := headerOf(t.Context(), tokens); status.Code(err) != codes.Unauthenticated || strings.Contains(err.Error(), "TOK") {
				t.Errorf("%s: token %q, error %v", odd, token, err)
			}
			<-time.After(tokenPause)
			wantToken(t, tokens, "token-2")
		})
	}
}

func TestTokenErrorsShowNothingOfAURL(t *testing.T) {
	const part = "Maria"
	for _, u := range []string{"http://u:" + part + "/x@h/", `http://u:\"` + part + "/x@h/", "http://127.0.0.1:1/token?subscription-key=" + part} {
		tokens := Config{Cluster: config.Cluster{ZeebeClientSecret: secret, ZeebeAuthorizationURL: config.URL(u)}}.Authorizer()
		if _, err := headerOf(t.Context(), tokens); status.Code(err) != codes.Unauthenticated || strings.Contains(err.Error(), part) {
			t.Errorf("%s: error is %v", u, err)
		}
	}
	elsewhere := func(w http.ResponseWriter, _ *http.Request, _ int) error {
		w.Header().Set("Location", "http://h:"+part+"/")
		w.WriteHeader(http.StatusFound)
		return nil
	}
	if _, err := headerOf(t.Context(), tokensOf(enginetest.NewIssuer(elsewhere))); err == nil || strings.Contains(err.Error(), part) {
		t.Errorf("error is %v", err)
	}
}

func TestTokenErrorsDoNotShowTheSecret(t *testing.T) {
	for want, answer := range map[string]enginetest.TokenReply{
		"answered 401, invalid_client": enginetest.Says(http.StatusUnauthorized, `{"error":"invalid_client","error_description":"no client with `+secret+`"}`),
		"answered 403":                 enginetest.Says(http.StatusForbidden, `{"error":"`+secret+`"}`),
		"answered 401":                 enginetest.Says(http.StatusUnauthorized, `{"error":"`+base64.StdEncoding.EncodeToString([]byte(secret))+`"}`),
		"answered 500":                 enginetest.Says(http.StatusInternalServerError, secret),
		"invalid character '<'":        enginetest.Says(http.StatusOK, "<"+secret),
		"missing access_token":         enginetest.Says(http.StatusOK, `{}`),
		"no token: EOF":                enginetest.Fails(io.EOF),
		"answered 307": func(w http.ResponseWriter, r *http.Request, n int) error {
			if n > 1 {
				t.Error("the secret was sent elsewhere")
				return enginetest.Issues(time.Hour)(w, r, n)
			}
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
			return nil
		},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := headerOf(t.Context(), tokensOf(enginetest.NewIssuer(answer)))
			if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want %q", err, want)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "TWFyaWEg") {
				t.Errorf("the secret stands in %q", err)
			}
		})
	}
}
