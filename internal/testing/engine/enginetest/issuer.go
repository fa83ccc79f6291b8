package enginetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// TokenReply answers the n-th request for a token.
type TokenReply func(w http.ResponseWriter, r *http.Request, n int) error

// Issues issues the tokens token-1, token-2, ... A life of 0 is not stated.
func Issues(life time.Duration) TokenReply {
	return func(w http.ResponseWriter, _ *http.Request, n int) error {
		w.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":%d}`, n, int(life.Seconds()))
		return err
	}
}

// Fails fails the request.
func Fails(err error) TokenReply {
	return func(http.ResponseWriter, *http.Request, int) error { return err }
}

// Says answers with a status and a body.
func Says(code int, body string) TokenReply {
	return func(w http.ResponseWriter, _ *http.Request, _ int) error {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, err := w.Write([]byte(body))
		return err
	}
}

// Issuer is a token server without a network, so that the clock of a bubble of testing/synctest can move. It is made by
// NewIssuer.
type Issuer struct {
	answer    TokenReply
	requested atomic.Int64
}

// NewIssuer returns a token server that answers so.
func NewIssuer(answer TokenReply) *Issuer { return &Issuer{answer: answer} }

// RoundTrip implements [http.RoundTripper].
func (i *Issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if err := i.answer(w, r, int(i.requested.Add(1))); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// Requests returns how often a token was requested.
func (i *Issuer) Requests() int { return int(i.requested.Load()) }
