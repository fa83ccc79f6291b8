package transport

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	tokenTimeout = 5 * time.Second
	// tokenPause is the least time between two requests, whatever the authorization server answers.
	tokenPause = time.Second
	// tokenLife is how long a token without an expiry is used.
	tokenLife = 5 * time.Minute
)

// Authorizer supplies the authorization of every call. It keeps a token in memory only and requests the next one when four
// fifths of its life are over, once for all calls. The caching sources of x/oauth2 do not fit: all calls would wait for an
// authorization server that hangs, beyond their contexts and although the token still holds. It is safe for concurrent use,
// and made by [Config.Authorizer].
type Authorizer struct {
	source  clientcredentials.Config
	http    *http.Client // nil for a user and password
	request singleflight.Group

	mu        sync.Mutex
	header    string
	secrets   []string  // that no error repeats
	expires   time.Time // when the header does
	requested time.Time // when a token was last answered or not
	next      time.Time // when to request one again
	failed    error     // why the last request brought none
}

// Authorizer returns what authorizes the calls, nil where nothing does.
func (c Config) Authorizer() *Authorizer {
	switch {
	case c.OAuth != nil:
		a := &Authorizer{source: *c.OAuth, secrets: []string{c.OAuth.ClientSecret}}
		a.source.AuthStyle = oauth2.AuthStyleInParams // to find it out, each failure would be two requests
		a.http = &http.Client{
			Timeout:   tokenTimeout,
			Transport: c.TokenHTTP,
			// A redirect would carry the secret to another place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		return a
	case c.User != "":
		login := base64.StdEncoding.EncodeToString([]byte(c.User + ":" + c.Password))
		return &Authorizer{header: "Basic " + login, secrets: []string{c.Password, login}}
	}
	return nil
}

// Header returns the value of a call's Authorization header. Its error has the code Unauthenticated.
func (a *Authorizer) Header(ctx context.Context) (string, error) {
	if a.http == nil {
		return a.header, nil
	}
	a.mu.Lock()
	now := time.Now()
	header, holds, failed := a.header, now.Before(a.expires), a.failed
	var renewal <-chan singleflight.Result
	if !now.Before(a.next) {
		renewal = a.request.DoChan("", a.renew)
	}
	a.mu.Unlock()
	switch {
	case holds: // no call waits for the next token
		return header, nil
	case renewal == nil:
		return "", failed
	}
	select {
	case renewed := <-renewal:
		return renewed.Val.(string), renewed.Err
	case <-ctx.Done():
		return "", status.Error(codes.Unauthenticated, "no token: the authorization server has not answered yet")
	}
}

// renew requests a token and returns the header with it.
func (a *Authorizer) renew() (any, error) {
	fresh, err := a.source.Token(context.WithValue(context.Background(), oauth2.HTTPClient, a.http))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok { // its text holds the whole answer
		err = fmt.Errorf("the authorization server answered %d, %q", refused.Response.StatusCode, refused.ErrorCode)
	} else if err == nil && strings.ContainsFunc(fresh.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		err = errors.New("the authorization server's token fits into no header")
	}
	if err != nil {
		err = a.Fail(codes.Unauthenticated, "no token: "+err.Error())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requested = time.Now()
	a.next, a.failed = a.requested.Add(tokenPause), err
	if err != nil {
		return "", err
	}
	life := tokenLife
	if !fresh.Expiry.IsZero() {
		life = max(fresh.Expiry.Sub(a.requested), tokenPause) // a token that has no life is tried all the same
	}
	a.header, a.secrets = "Bearer "+fresh.AccessToken, []string{a.source.ClientSecret, fresh.AccessToken}
	a.expires, a.next = a.requested.Add(life), a.requested.Add(max(life*4/5, tokenPause))
	return a.header, nil
}
