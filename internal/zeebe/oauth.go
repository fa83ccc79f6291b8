package zeebe

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
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// OAuthConfig says how to get tokens by the client credentials grant.
type OAuthConfig struct {
	// ClientID and ClientSecret identify this worker (ZEEBE_CLIENT_ID, ZEEBE_CLIENT_SECRET).
	ClientID, ClientSecret string
	// TokenURL is where tokens are issued (ZEEBE_AUTHORIZATION_SERVER_URL).
	TokenURL string
	// Audience is whom the token is for (ZEEBE_TOKEN_AUDIENCE); may be empty.
	Audience string
	// Scope is what the token is to allow (ZEEBE_TOKEN_SCOPE); may be empty.
	Scope string
}

const (
	tokenTimeout = 5 * time.Second
	// tokenPause keeps calls that fail for want of a token from flooding the server that issues them.
	tokenPause = time.Second
	// tokenLife is how long a token is used that does not say when it expires.
	tokenLife = 5 * time.Minute
)

// tokens attaches a token to every call. It keeps the token in memory only, asks for the next one when four fifths of
// its life are over, and asks once however many calls wait for it.
type tokens struct {
	source    clientcredentials.Config
	http      *http.Client
	plaintext bool // to this machine only
	flight    singleflight.Group

	mu      sync.Mutex
	token   string
	renew   time.Time // when to ask for the next one
	expires time.Time
	asked   time.Time // when it was last asked for one
	failed  error     // what came of that, if no token did
}

func newTokens(c OAuthConfig, plaintext bool) *tokens {
	t := &tokens{
		source: clientcredentials.Config{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.TokenURL,
			EndpointParams: url.Values{},
			AuthStyle:      oauth2.AuthStyleInParams,
		},
		http: &http.Client{
			Timeout: tokenTimeout,
			// Asked a few times an hour, the server need not hold a connection open.
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true},
			// A redirect would carry the secret to another place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		plaintext: plaintext,
	}
	if c.Audience != "" {
		t.source.EndpointParams.Set("audience", c.Audience)
	}
	if c.Scope != "" {
		t.source.Scopes = []string{c.Scope}
	}
	return t
}

// dialOptions let every call of a connection carry a token and have the token replaced that the gateway refuses.
func (t *tokens) dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithPerRPCCredentials(t),
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, request, response any, conn *grpc.ClientConn,
			invoke grpc.UnaryInvoker, options ...grpc.CallOption,
		) error {
			err := invoke(ctx, method, request, response, conn, options...)
			t.note(err)
			return err
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
			open grpc.Streamer, options ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			stream, err := open(ctx, desc, conn, method, options...)
			if err != nil {
				return nil, err
			}
			return notedStream{stream, t}, nil
		}),
	}
}

// notedStream takes note of how a stream ends. That shows where its messages are received, not where it is opened.
type notedStream struct {
	grpc.ClientStream
	tokens *tokens
}

// RecvMsg receives a message, or how the stream ended.
func (s notedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	s.tokens.note(err)
	return err
}

// note takes note of how a call ended.
func (t *tokens) note(err error) {
	if status.Code(err) == codes.Unauthenticated {
		t.reject()
	}
}

// RequireTransportSecurity lets gRPC itself refuse plaintext, save to this machine.
func (t *tokens) RequireTransportSecurity() bool { return !t.plaintext }

// GetRequestMetadata is called for every call.
func (t *tokens) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

func (t *tokens) get(ctx context.Context) (string, error) {
	token, ask, err := t.known(time.Now())
	if !ask {
		return token, err
	}
	fetched := t.flight.DoChan("", func() (any, error) { return t.fetch() })
	if token != "" { // good for a while: no call waits for the next one
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

// known returns what there is without asking, the token or else the fault of a moment ago, and whether to ask.
func (t *tokens) known(now time.Time) (token string, ask bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ask = !now.Before(t.renew) && !now.Before(t.asked.Add(tokenPause))
	if now.Before(t.expires) {
		return t.token, ask, nil
	}
	return "", ask || t.failed == nil, t.failed
}

// fetch asks for a token.
func (t *tokens) fetch() (string, error) {
	if token, ask, err := t.known(time.Now()); !ask { // another flight has just landed
		return token, err
	}
	fresh, err := t.source.Token(context.WithValue(context.Background(), oauth2.HTTPClient, t.http))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked = time.Now()
	if err != nil {
		t.failed = status.Error(codes.Unauthenticated, "no token: "+tokenFault(err))
		return "", t.failed
	}
	life := tokenLife
	if !fresh.Expiry.IsZero() {
		life = fresh.Expiry.Sub(t.asked)
	}
	t.token, t.renew, t.expires, t.failed = fresh.AccessToken, t.asked.Add(life*4/5), t.asked.Add(life), nil
	return t.token, nil
}

// reject has a token replaced that the gateway refuses, for example because the keys were changed that signed it.
func (t *tokens) reject() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renew = time.Time{}
}

// tokenFault says why there is no token in words that cannot hold the secret: the server's answer may repeat it.
func tokenFault(err error) string {
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
