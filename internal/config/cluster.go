package config

import (
	"net/url"
	"strings"

	"hospital.example/analyze-retry/internal/connurl"
)

const (
	clusterAddress   = "ZEEBE_ADDRESS"
	authorizationURL = "ZEEBE_AUTHORIZATION_SERVER_URL"
	basicUser        = "CAMUNDA_BASIC_AUTH_USERNAME"
)

// schemes are those of a cluster's address, with the port where it names none, and what they mean.
var schemes = map[string]struct{ port, transport string }{
	"grpc":  {"26500", "gRPC over plaintext"}, // the gateway's own
	"grpcs": {"443", "gRPC over TLS"},
	"http":  {"80", "REST over plaintext"},
	"https": {"443", "REST over TLS"},
}

// Address is where the cluster is reached: a URL with one of the schemes, a port, no user, and of the REST API the path
// that precedes its /v2.
type Address struct{ url.URL }

// String returns the URL. It holds nothing secret.
func (a Address) String() string { return a.URL.String() }

// REST reports whether the address is one of the REST API; the others are of gRPC.
func (a Address) REST() bool { return strings.HasPrefix(a.Scheme, "http") }

// Transport returns gRPC or REST, with what protects it, for people.
func (a Address) Transport() string { return schemes[a.Scheme].transport }

// Address returns where the cluster is reached.
func (c *Config) Address() Address {
	a, _ := c.address() // Load has refused what is none
	return a
}

func (c *Config) address() (_ Address, ok bool) {
	s := c.ZeebeAddress
	if !strings.Contains(s, "://") {
		s = "grpcs://" + s
		if c.ZeebeInsecure {
			s = strings.Replace(s, "grpcs", "grpc", 1)
		}
	}
	u, err := connurl.Parse(s)
	if err != nil {
		return Address{}, false
	}
	if u.Port() == "" {
		u.Host += ":" + schemes[u.Scheme].port
	}
	a := Address{url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}}
	if a.REST() {
		a.Path = strings.TrimSuffix(a.Path, "/v2")
	}
	if a.Transport() == "" || !oneHost(u) || u.User != nil || u.RawQuery != "" || a.Path != "" && !a.REST() {
		return Address{}, false
	}
	return a, true
}

func oneHost(u *url.URL) bool { return u.Hostname() != "" && !strings.Contains(u.Host, ",") }

// AuthStrategy is how the worker authenticates to the cluster.
type AuthStrategy string

// The strategies.
const (
	AuthNone  AuthStrategy = "NONE"
	AuthBasic AuthStrategy = "BASIC"
	AuthOIDC  AuthStrategy = "OIDC" // OAuth client credentials
)

// AuthStrategy returns how the worker authenticates: by what credentials there are.
func (c *Config) AuthStrategy() AuthStrategy {
	switch {
	case c.ZeebeClientID != "" || c.ZeebeClientSecret != "" || c.ZeebeAuthorizationURL != "" ||
		c.ZeebeTokenAudience != "" || c.ZeebeTokenScope != "":
		return AuthOIDC
	case c.BasicUser != "" || c.BasicPassword != "":
		return AuthBasic
	}
	return AuthNone
}
