package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// OAuthConfig configures the client credentials grant by which tokens are fetched.
type OAuthConfig struct {
	// ClientID and ClientSecret identify this worker (ZEEBE_CLIENT_ID, ZEEBE_CLIENT_SECRET).
	ClientID, ClientSecret string
	// TokenURL is where tokens are issued (ZEEBE_AUTHORIZATION_SERVER_URL).
	TokenURL string
	// Audience is whom the token is for (ZEEBE_TOKEN_AUDIENCE); may be empty.
	Audience string
	// Scope is what the token allows (ZEEBE_TOKEN_SCOPE); may be empty.
	Scope string
	// HTTP sends the requests for tokens; nil for a transport of its own, which knows the environment's proxies.
	HTTP http.RoundTripper
}

const (
	tokenTimeout = 5 * time.Second
	// tokenPause is the least time between two requests, so that failing calls do not flood the authorization server.
	tokenPause = time.Second
	// tokenLife is how long a token without an expiry is used.
	tokenLife = 5 * time.Minute
)

// tokens supplies the token of every call. It keeps the token in memory only, fetches the next one when four fifths of its
// life are over, and fetches it once for all calls that wait.
type tokens struct {
	source clientcredentials.Config
	http   *http.Client
	flight singleflight.Group

	mu      sync.Mutex
	token   string
	former  string    // the token before
	renew   time.Time // when to fetch the next one
	expires time.Time
	fetched time.Time // when one was last fetched
	failed  error     // why that failed, if it did
}

func newTokens(c OAuthConfig) *tokens {
	t := &tokens{
		source: clientcredentials.Config{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.TokenURL,
			EndpointParams: url.Values{},
			AuthStyle:      oauth2.AuthStyleInParams,
		},
		http: &http.Client{
			Timeout:   tokenTimeout,
			Transport: c.HTTP,
			// A redirect would carry the secret to another place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if c.HTTP == nil {
		// For a few requests an hour the server need not hold a connection open.
		t.http.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	}
	if c.Audience != "" {
		t.source.EndpointParams.Set("audience", c.Audience)
	}
	if c.Scope != "" {
		t.source.Scopes = []string{c.Scope}
	}
	return t
}

// refused has the token replaced that the gateway refuses, for example because the keys that signed it were changed.
func (t *tokens) refused() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renew = time.Time{}
}

// sent returns the tokens that a call under way may have.
func (t *tokens) sent() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return []string{t.token, t.former}
}

func (t *tokens) get(ctx context.Context) (string, error) {
	token, due, err := t.current(time.Now())
	if !due {
		return token, err
	}
	fetched := t.flight.DoChan("", func() (any, error) { return t.fetch() })
	if token != "" { // still valid: no call waits for the next one
		return token, nil
	}
	select {
	case r := <-fetched:
		token, _ := r.Val.(string)
		return token, r.Err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			// Or it would look as if the gateway were slow.
			return "", status.Error(codes.Unauthenticated, "no token: the authorization server has not answered yet")
		}
		return "", status.FromContextError(ctx.Err()).Err()
	}
}

// current returns the valid token, or else the error of a moment ago, and whether the next token is due.
func (t *tokens) current(now time.Time) (token string, due bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	due = !now.Before(t.renew) && !now.Before(t.fetched.Add(tokenPause))
	if now.Before(t.expires) {
		return t.token, due, nil
	}
	return "", due || t.failed == nil, t.failed
}

func (t *tokens) fetch() (string, error) {
	if token, due, err := t.current(time.Now()); !due { // another flight has just landed
		return token, err
	}
	fresh, err := t.source.Token(context.WithValue(context.Background(), oauth2.HTTPClient, t.http))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fetched = time.Now()
	if err != nil {
		t.failed = status.Error(codes.Unauthenticated, "no token: "+tokenError(err))
		return "", t.failed
	}
	life := tokenLife
	if !fresh.Expiry.IsZero() {
		life = fresh.Expiry.Sub(t.fetched)
	}
	t.former = t.token
	t.token, t.renew, t.expires, t.failed = fresh.AccessToken, t.fetched.Add(life*4/5), t.fetched.Add(life), nil
	return t.token, nil
}

// tokenError returns why there is no token, without the server's own words: they may repeat the secret.
func tokenError(err error) string {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		standard := []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}
		if slices.Contains(standard, refused.ErrorCode) {
			return fmt.Sprintf("the authorization server answered %d, %s", refused.Response.StatusCode, refused.ErrorCode)
		}
		return fmt.Sprintf("the authorization server answered %d", refused.Response.StatusCode)
	}
	if transport, ok := errors.AsType[*url.Error](err); ok {
		return "the authorization server cannot be reached: " + transport.Err.Error()
	}
	return "the authorization server's answer is no token"
}
