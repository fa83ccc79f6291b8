package transport

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/config"
)

const (
	tokenTimeout = 5 * time.Second
	// tokenPause is the least time between two requests, whatever the authorization server answers.
	tokenPause = time.Second
	// tokenLife is how long a token without an expiry is used.
	tokenLife = 5 * time.Minute
)

// Authorizer supplies the authorization of every call, and makes its errors. It keeps a token in memory only,
// and requests the next one once for all calls, when four fifths of its life are over. (With the caching
// sources of x/oauth2 every call would wait for an authorization server that hangs, beyond its context,
// though the token still holds.) It is safe for concurrent use, and made by [Config.Authorizer].
type Authorizer struct {
	plaintext bool
	source    clientcredentials.Config
	http      *http.Client // nil where no token is required
	requests  singleflight.Group

	mu        sync.Mutex
	headers   map[string]string // of the calls; not changed
	secrets   []string          // that no error repeats
	expires   time.Time         // when the token does
	requested time.Time         // when the last request was answered, or failed
	next      time.Time         // when to make another one
	failed    error             // why the last one brought no token
}

// Authorizer returns what authorizes the calls.
func (c Config) Authorizer() *Authorizer {
	a := &Authorizer{plaintext: c.Address().Plaintext()}
	switch c.AuthStrategy() {
	case config.AuthOIDC:
		a.source = clientcredentials.Config{
			ClientID:     c.ZeebeClientID,
			ClientSecret: string(c.ZeebeClientSecret),
			TokenURL:     string(c.ZeebeAuthorizationURL),
			Scopes:       strings.Fields(c.ZeebeTokenScope),
			AuthStyle:    oauth2.AuthStyleInParams, // to find it out, each failure would be two requests
		}
		if c.ZeebeTokenAudience != "" {
			a.source.EndpointParams = url.Values{"audience": {c.ZeebeTokenAudience}}
		}
		a.secrets = []string{a.source.ClientSecret}
		a.http = &http.Client{
			Timeout:   tokenTimeout,
			Transport: c.TokenHTTP,
			// A redirect would carry the secret to another place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	case config.AuthBasic:
		login := base64.StdEncoding.EncodeToString([]byte(c.BasicUser + ":" + string(c.BasicPassword)))
		a.headers, a.secrets = authorization("Basic "+login), []string{string(c.BasicPassword), login}
	case config.AuthNone:
	}
	return a
}

func authorization(value string) map[string]string { return map[string]string{"authorization": value} }

// RequireTransportSecurity implements [credentials.PerRPCCredentials]: gRPC itself refuses plaintext where
// TLS was configured.
func (a *Authorizer) RequireTransportSecurity() bool { return !a.plaintext }

// GetRequestMetadata implements [credentials.PerRPCCredentials] and returns the headers that authorize a call
// by either protocol. Its error has the code Unauthenticated.
func (a *Authorizer) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	if a.http == nil {
		return a.headers, nil
	}
	a.mu.Lock()
	now := time.Now()
	headers, holds, failed := a.headers, now.Before(a.expires), a.failed
	var renewal <-chan singleflight.Result
	if !now.Before(a.next) {
		renewal = a.requests.DoChan("", a.renew)
	}
	a.mu.Unlock()
	switch {
	case holds: // no call waits for the next token
		return headers, nil
	case renewal == nil:
		return nil, failed
	}
	select {
	case renewed := <-renewal:
		return renewed.Val.(map[string]string), renewed.Err
	case <-ctx.Done():
		return nil, status.Error(codes.Unauthenticated, "no token: no answer of the authorization server yet")
	}
}

// unfit reports whether a header cannot carry a character.
func unfit(r rune) bool { return r <= ' ' || r > '~' }

var (
	// errorCode matches the server's words that are logged: others may repeat the secret, however encoded.
	errorCode = regexp.MustCompile(`^[a-z_]{1,40}$`)
	// quoted is how errors repeat parts of a URL, which may hold a password.
	quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// renew requests a token and returns the headers with it.
func (a *Authorizer) renew() (any, error) {
	fresh, err := a.source.Token(context.WithValue(context.Background(), oauth2.HTTPClient, a.http))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok { // its text holds the whole answer
		err = fmt.Errorf("the authorization server answered %d", refused.Response.StatusCode)
		if errorCode.MatchString(refused.ErrorCode) {
			err = fmt.Errorf("%w, %s", err, refused.ErrorCode)
		}
	} else if failed, ok := errors.AsType[*url.Error](err); ok {
		err = errors.New(quoted.ReplaceAllString(failed.Err.Error(), "***"))
	} else if err == nil && strings.ContainsFunc(fresh.AccessToken, unfit) {
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
		return map[string]string(nil), err
	}
	life := tokenLife
	if !fresh.Expiry.IsZero() {
		life = max(fresh.Expiry.Sub(a.requested), tokenPause) // one that has none is tried all the same
	}
	a.headers = authorization("Bearer " + fresh.AccessToken)
	a.secrets = []string{fresh.AccessToken, a.source.ClientSecret}
	a.expires, a.next = a.requested.Add(life), a.requested.Add(max(life*4/5, tokenPause))
	return a.headers, nil
}

// maxText is how many bytes of a gateway's text are kept, which goes into the log, and maxInvalid of what it
// refuses as invalid: of a deployment it names the faults of all models, for the person who deploys.
const maxText, maxInvalid = 300, 8 << 10

// Fail returns the error of a call that failed with this code, for the log: the text is without the
// credentials, which a gateway or a proxy may repeat, and cut. The token is replaced that the gateway
// refuses.
func (a *Authorizer) Fail(code codes.Code, text string) error {
	a.mu.Lock()
	for _, secret := range a.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	if code == codes.Unauthenticated {
		a.next = a.requested.Add(tokenPause)
	}
	a.mu.Unlock()
	most := maxText
	if code == codes.InvalidArgument {
		most = maxInvalid
	}
	if len(text) > most {
		text = text[:most] + "..."
	}
	return status.Error(code, strings.ToValidUTF8(text, "\uFFFD"))
}
