package config

import (
	"net/url"
	"strings"

	"hospital.example/analyze-retry/internal/config/connurl"
	"hospital.example/analyze-retry/internal/text"
)

// schemes are those of a cluster's address, with the port where it names none, and what they mean.
var schemes = map[string]struct {
	port      string
	transport text.Message
}{
	"grpc":  {"26500", text.Messagef("gRPC over plaintext")}, // the gateway's own
	"grpcs": {"443", text.Messagef("gRPC over TLS")},
	"http":  {"80", text.Messagef("REST over plaintext")},
	"https": {"443", text.Messagef("REST over TLS")},
}

// Address is where the cluster is reached: a URL with one of the schemes and a port, without a user, and of
// the REST API with the path that precedes its /v2.
type Address struct{ *url.URL }

// REST reports whether the address is one of the REST API; the others are of gRPC.
func (a Address) REST() bool { return strings.HasPrefix(a.Scheme, "http") }

// Plaintext reports whether the connection is without TLS.
func (a Address) Plaintext() bool { return a.Scheme == "grpc" || a.Scheme == "http" }

// Transport returns gRPC or REST, with what protects it.
func (a Address) Transport() text.Message { return schemes[a.Scheme].transport }

// Address returns where the cluster is reached. Of what is no address, which [Load] refuses, it is empty.
func (c *Cluster) Address() Address {
	s := c.ZeebeAddress
	switch {
	case strings.Contains(s, "://"):
	case c.ZeebeInsecure:
		s = "grpc://" + s
	default:
		s = "grpcs://" + s
	}
	u, err := connurl.Parse(s)
	if err != nil {
		return Address{&url.URL{}}
	}
	if u.Port() == "" {
		u.Host += ":" + schemes[u.Scheme].port
	}
	a := Address{u}
	u.Path = strings.TrimRight(u.Path, "/")
	if a.REST() {
		u.Path = strings.TrimSuffix(u.Path, "/v2")
	}
	known := a.Transport().Format != "" && (a.REST() || u.Path == "")
	if !known || !ofOneHost(u) || u.RawQuery != "" {
		return Address{&url.URL{}}
	}
	return a
}

// ofOneHost reports whether a URL names a host, no second one and no user.
func ofOneHost(u *url.URL) bool {
	return u.Hostname() != "" && !strings.Contains(u.Host, ",") && u.User == nil
}

// AuthStrategy is how the worker authenticates to the cluster.
type AuthStrategy string

// The strategies.
const (
	AuthNone  AuthStrategy = "NONE"
	AuthBasic AuthStrategy = "BASIC"
	AuthOIDC  AuthStrategy = "OIDC" // OAuth client credentials
)

// AuthStrategy returns how the worker authenticates: by what credentials there are.
func (c *Cluster) AuthStrategy() AuthStrategy {
	switch {
	case c.ZeebeClientID != "" || c.ZeebeClientSecret != "" || c.ZeebeAuthorizationURL != "":
		return AuthOIDC
	case c.BasicUser != "" || c.BasicPassword != "":
		return AuthBasic
	}
	return AuthNone
}
