package transport

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

// OAuthConfig configures the client credentials grant by which tokens are fetched.
type OAuthConfig struct {
	// ClientID and ClientSecret identify this worker (ZEEBE_CLIENT_ID, ZEEBE_CLIENT_SECRET).
	ClientID, ClientSecret string
	// TokenURL is where tokens are issued (ZEEBE_AUTHORIZATION_SERVER_URL).
	TokenURL string
	// Audience is whom the token is for (ZEEBE_TOKEN_AUDIENCE), Scope what it allows (ZEEBE_TOKEN_SCOPE); both may be empty.
	Audience, Scope string
	// HTTP sends the requests for tokens; nil for a transport of its own, which knows the environment's proxies.
	HTTP http.RoundTripper
}

// Authorizer supplies the authorization of every call. It is safe for concurrent use. It is made by [Config.Authorizer].
type Authorizer struct {
	basic    string
	password string
	tokens   *tokens // nil where no token is needed
}

// Authorizer returns what authorizes the calls, nil where nothing does.
func (c Config) Authorizer() *Authorizer {
	switch {
	case c.OAuth != nil:
		return &Authorizer{tokens: newTokens(*c.OAuth)}
	case c.Basic != nil:
		login := base64.StdEncoding.EncodeToString([]byte(c.Basic.User + ":" + c.Basic.Password))
		return &Authorizer{basic: "Basic " + login, password: c.Basic.Password}
	}
	return nil
}

// Header returns the value of a call's Authorization header. Its error has the code Unauthenticated, or that of the end of
// ctx.
func (a *Authorizer) Header(ctx context.Context) (string, error) {
	if a.tokens == nil {
		return a.basic, nil
	}
	token, err := a.tokens.get(ctx)
	if err != nil {
		return "", err
	}
	return "Bearer " + token, nil
}

// secrets returns what the calls under way may have sent.
func (a *Authorizer) secrets() []string {
	switch {
	case a == nil:
		return nil
	case a.tokens == nil:
		return []string{strings.TrimPrefix(a.basic, "Basic "), a.password}
	}
	a.tokens.mu.Lock()
	defer a.tokens.mu.Unlock()
	return []string{a.tokens.token, a.tokens.former}
}

const (
	tokenTimeout = 5 * time.Second
	// tokenPause is the least time between two requests, whatever the authorization server answers.
	tokenPause = time.Second
	// tokenLife is how long a token without an expiry is used.
	tokenLife = 5 * time.Minute
)

// tokens supplies the token of every call. It keeps the token in memory only, fetches the next one when four fifths of its
// life are over, and fetches it once for all calls that wait. The sources of x/oauth2 do not end with a call's context, and
// use no token to its end where there is no other yet.
type tokens struct {
	source clientcredentials.Config
	http   *http.Client

	mu      sync.Mutex
	token   string
	former  string        // the token before
	expires time.Time     // when the token does
	fetched time.Time     // when one was last fetched
	next    time.Time     // when to fetch one again
	failed  error         // why that failed, if it did
	landed  chan struct{} // closed when it is fetched; nil while none is
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
	t.next = t.fetched.Add(tokenPause)
}

func (t *tokens) get(ctx context.Context) (string, error) {
	for {
		token, landed, err := t.current()
		if landed == nil {
			return token, err
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

// current returns the valid token, or the error of a moment ago, or else when to ask again. It has the next token fetched
// when that is due; no call waits for it while one holds.
func (t *tokens) current() (token string, landed <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.landed == nil && !now.Before(t.next) {
		t.landed = make(chan struct{})
		go t.fetch()
	}
	switch {
	case now.Before(t.expires):
		return t.token, nil, nil
	case t.landed != nil:
		return "", t.landed, nil
	default:
		return "", nil, t.failed
	}
}

func (t *tokens) fetch() {
	fresh, err := t.source.Token(context.WithValue(context.Background(), oauth2.HTTPClient, t.http))
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.landed)
	t.landed, t.fetched = nil, time.Now()
	t.next = t.fetched.Add(tokenPause)
	switch {
	case err != nil:
		t.failed = status.Error(codes.Unauthenticated, "no token: "+tokenError(err))
		return
	case strings.ContainsFunc(fresh.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }):
		t.failed = status.Error(codes.Unauthenticated, "no token: the authorization server's token has characters that no header has")
		return
	}
	life := tokenLife
	if !fresh.Expiry.IsZero() {
		life = max(fresh.Expiry.Sub(t.fetched), tokenPause) // a token that has no life is tried all the same
	}
	t.former, t.token, t.failed = t.token, fresh.AccessToken, nil
	t.expires, t.next = t.fetched.Add(life), t.fetched.Add(max(life*4/5, tokenPause))
}

// standardErrors are those of RFC 6749.
var standardErrors = []string{
	"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
}

// tokenError returns why there is no token, without the server's own words: they may repeat the secret.
func tokenError(err error) string {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		text := fmt.Sprintf("the authorization server answered %d", refused.Response.StatusCode)
		if slices.Contains(standardErrors, refused.ErrorCode) {
			text += ", " + refused.ErrorCode
		}
		return text
	}
	if transport, ok := errors.AsType[*url.Error](err); ok {
		return "the authorization server cannot be reached: " + transport.Err.Error()
	}
	return "the authorization server's answer is no token"
}
