package transport

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Basic is a user and password.
type Basic struct{ User, Password string }

const (
	tokenTimeout = 5 * time.Second
	// tokenPause is the least time between two requests, whatever the authorization server answers.
	tokenPause = time.Second
	// tokenLife is how long a token without an expiry is used.
	tokenLife = 5 * time.Minute
)

// Authorizer supplies the authorization of every call. It keeps a token in memory only, fetches the next one when four fifths
// of its life are over, and fetches it once for all calls that wait. (The sources of x/oauth2 do not end with a call's context,
// and use no token to its end where there is no other yet.) It is safe for concurrent use, and made by [Config.Authorizer].
type Authorizer struct {
	source clientcredentials.Config
	http   *http.Client // nil for a user and password

	mu      sync.Mutex
	header  string
	secrets [2]string     // what the header holds, and the password or the token before
	expires time.Time     // when the token does
	fetched time.Time     // when one was last fetched
	next    time.Time     // when to fetch one again
	failed  error         // why that failed, if it did
	landed  chan struct{} // closed when it is fetched; nil while none is
}

// Authorizer returns what authorizes the calls, nil where nothing does.
func (c Config) Authorizer() *Authorizer {
	switch {
	case c.OAuth != nil:
		return newAuthorizer(*c.OAuth, c.TokenHTTP)
	case c.Basic != nil:
		login := base64.StdEncoding.EncodeToString([]byte(c.Basic.User + ":" + c.Basic.Password))
		return &Authorizer{header: "Basic " + login, secrets: [2]string{login, c.Basic.Password}}
	}
	return nil
}

// newAuthorizer returns what fetches tokens by a transport of its own, which knows the environment's proxies, if it gets none.
func newAuthorizer(source clientcredentials.Config, by http.RoundTripper) *Authorizer {
	if by == nil {
		// For a few requests an hour the server need not hold a connection open.
		by = &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	}
	source.AuthStyle = oauth2.AuthStyleInParams // to find it out, each failure would be two requests
	return &Authorizer{source: source, http: &http.Client{
		Timeout:   tokenTimeout,
		Transport: by,
		// A redirect would carry the secret to another place.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Header returns the value of a call's Authorization header. Its error has the code Unauthenticated, or that of the end of
// ctx.
func (a *Authorizer) Header(ctx context.Context) (string, error) {
	for {
		header, landed, err := a.current()
		if landed == nil {
			return header, err
		}
		select {
		case <-landed:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				// Or it would look as if the gateway were slow.
				return "", status.Error(codes.Unauthenticated, "no token: the authorization server has not answered yet")
			}
			return "", status.FromContextError(ctx.Err()).Err()
		}
	}
}

// current returns the header, or the error of a moment ago, or else when to ask again. It has the next token fetched when that
// is due; no call waits for it while one holds.
func (a *Authorizer) current() (header string, landed <-chan struct{}, err error) {
	if a.http == nil {
		return a.header, nil, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if a.landed == nil && !now.Before(a.next) {
		a.landed = make(chan struct{})
		go a.fetch()
	}
	switch {
	case now.Before(a.expires):
		return a.header, nil, nil
	case a.landed != nil:
		return "", a.landed, nil
	default:
		return "", nil, a.failed
	}
}

func (a *Authorizer) fetch() {
	fresh, err := a.source.Token(context.WithValue(context.Background(), oauth2.HTTPClient, a.http))
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.landed)
	a.landed, a.fetched = nil, time.Now()
	a.next = a.fetched.Add(tokenPause)
	if err != nil || strings.ContainsFunc(fresh.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		a.failed = status.Error(codes.Unauthenticated, "no token: "+tokenError(err))
		return
	}
	life := tokenLife
	if !fresh.Expiry.IsZero() {
		life = max(fresh.Expiry.Sub(a.fetched), tokenPause) // a token that has no life is tried all the same
	}
	a.header, a.secrets = "Bearer "+fresh.AccessToken, [2]string{fresh.AccessToken, a.secrets[0]}
	a.expires, a.next = a.fetched.Add(life), a.fetched.Add(max(life*4/5, tokenPause))
}

// refused has the token replaced that the gateway refuses, for example because the keys that signed it were changed.
func (a *Authorizer) refused() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = a.fetched.Add(tokenPause)
}

// mask replaces the credentials in a text.
func (a *Authorizer) mask(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, secret := range a.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// standardErrors are those of RFC 6749.
var standardErrors = []string{
	"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
}

// quoted is how texts of errors repeat parts of a URL, which may hold a password.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// tokenError returns why there is no token, without the server's own words: they may repeat the secret. There is no error where
// no header carries the token.
func tokenError(err error) string {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		text := fmt.Sprintf("the authorization server answered %d", refused.Response.StatusCode)
		if slices.Contains(standardErrors, refused.ErrorCode) {
			text += ", " + refused.ErrorCode
		}
		return text
	}
	if transport, ok := errors.AsType[*url.Error](err); ok {
		return "the authorization server cannot be reached: " + quoted.ReplaceAllString(transport.Err.Error(), "***")
	}
	return "the authorization server's answer is no token"
}
