package config

import (
	"errors"
	"net"
	"strings"

	"hospital.example/analyze-retry/internal/connurl"
)

// Address is where the cluster is reached, and by which transport.
type Address struct {
	// Scheme is grpc or http for plaintext, grpcs or https for TLS.
	Scheme string
	// HostPort is host:port.
	HostPort string
	// Path is what precedes the /v2 of the REST API, without a / at its end; empty for gRPC.
	Path string
}

// String returns the address as a URL. It holds nothing secret.
func (a Address) String() string { return a.Scheme + "://" + a.HostPort + a.Path }

// REST reports whether the address is one of the REST API; the others are of gRPC.
func (a Address) REST() bool { return a.Scheme == "http" || a.Scheme == "https" }

// Plaintext reports whether the connection is without TLS.
func (a Address) Plaintext() bool { return a.Scheme == "http" || a.Scheme == "grpc" }

// Transport returns gRPC or REST, with what protects it, for people.
func (a Address) Transport() string {
	transport, security := "gRPC", "TLS"
	if a.REST() {
		transport = "REST"
	}
	if a.Plaintext() {
		security = "plaintext"
	}
	return transport + " over " + security
}

// clusterAddress is the setting of the address.
const clusterAddress = "ZEEBE_ADDRESS"

// Address returns where the cluster is reached.
func (c *Config) Address() Address {
	a, _ := c.address() // Load has refused what is none
	return a
}

// ports are those of URLs that name none; 26500 is the gateway's own.
var ports = map[string]string{"grpc": "26500", "grpcs": "443", "http": "80", "https": "443"}

// address reads ZEEBE_ADDRESS. Its errors complete "is ..., which".
func (c *Config) address() (Address, error) {
	s := c.ZeebeAddress
	switch {
	case strings.Contains(s, "://"):
	case !strings.Contains(s, ":"):
		return Address{}, errors.New("has no port")
	case c.ZeebeInsecure:
		s = "grpc://" + s
	default:
		s = "grpcs://" + s
	}
	u, err := connurl.Parse(s)
	if err != nil || len(u.Hosts) != 1 || ports[u.Scheme] == "" || u.HasUser || u.Query() != nil {
		return Address{}, errors.New("is not that of one host, without user and password")
	}
	a := Address{Scheme: u.Scheme, HostPort: u.Hosts[0], Path: strings.TrimRight(u.Path, "/")}
	if _, _, err := net.SplitHostPort(a.HostPort); err != nil {
		a.HostPort += ":" + ports[a.Scheme]
	}
	if a.REST() {
		a.Path = strings.TrimRight(strings.TrimSuffix(a.Path, "/v2"), "/")
	} else if a.Path != "" {
		return Address{}, errors.New("has a path, which gRPC cannot use; REST begins with http:// or https://")
	}
	return a, nil
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
func (c *Config) AuthStrategy() AuthStrategy {
	switch {
	case c.ZeebeClientID != "" || c.ZeebeClientSecret != "":
		return AuthOIDC
	case c.BasicUser != "" || c.BasicPassword != "":
		return AuthBasic
	case c.ZeebeAuthorizationURL != "" || c.ZeebeTokenAudience != "" || c.ZeebeTokenScope != "": // half of it
		return AuthOIDC
	}
	return AuthNone
}
