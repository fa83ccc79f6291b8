package transport

import (
	"context"
	"encoding/base64"
	"strings"
)

// Basic is a user and password.
type Basic struct{ User, Password string }

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
		return &Authorizer{
			basic:    "Basic " + base64.StdEncoding.EncodeToString([]byte(c.Basic.User+":"+c.Basic.Password)),
			password: c.Basic.Password,
		}
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

// Refused notes that the gateway has refused a call as unauthenticated.
func (a *Authorizer) Refused() {
	if a.tokens != nil {
		a.tokens.refused()
	}
}

// Mask returns a gateway's text without the credentials of a call, which a gateway or a proxy that helps to find faults may
// repeat. It may be called on nil.
func (a *Authorizer) Mask(text string) string {
	if a == nil {
		return text
	}
	secrets := []string{strings.TrimPrefix(a.basic, "Basic "), a.password}
	if a.tokens != nil {
		secrets = a.tokens.sent()
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
