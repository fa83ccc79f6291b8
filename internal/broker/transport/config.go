package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"golang.org/x/oauth2/clientcredentials"

	"hospital.example/analyze-retry/internal/config/readfile"
)

// The schemes of a cluster's address.
const (
	GRPC  = "grpc"  // gRPC in plaintext
	GRPCS = "grpcs" // gRPC over TLS
	HTTP  = "http"  // REST in plaintext
	HTTPS = "https" // REST over TLS
)

// Config configures the connection to a cluster. Its errors name the settings by the environment variables.
// Whether credentials may go over plaintext is checked with the settings.
type Config struct {
	// Scheme is one of the schemes above, Address the gateway's host:port. Path comes before the paths of the
	// REST API, for a gateway that is not at the root of its host; without a slash at its end.
	Scheme, Address, Path string
	// CACertPath is a PEM file of the authorities to trust; empty for those of the system.
	CACertPath string
	// ClientCertPath and ClientKeyPath are PEM files of the certificate to show to the gateway, or to the
	// proxy in front of it. Both or neither.
	ClientCertPath, ClientKeyPath string
	// OAuth is nil if the gateway requires no token, User and Password are empty if it does not require
	// those.
	OAuth          *clientcredentials.Config
	User, Password string
	// TokenHTTP sends the requests for tokens; nil for [http.DefaultTransport].
	TokenHTTP http.RoundTripper
	// Dial connects to the gateway; nil for a TCP connection.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// Plaintext reports whether the connection is without TLS.
func (c Config) Plaintext() bool { return c.Scheme == GRPC || c.Scheme == HTTP }

// TLS returns the configuration for TLS 1.2 or newer, nil for a connection in plaintext. Its error names
// every fault of the configuration, one a line.
func (c Config) TLS() (config *tls.Config, faults error) {
	if c.Plaintext() {
		return nil, nil
	}
	config = &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CACertPath != "" {
		var err error
		if config.RootCAs, err = readfile.Authorities(c.CACertPath); err != nil {
			faults = fmt.Errorf("ZEEBE_CA_CERTIFICATE_PATH: %w", err)
		}
	}
	if c.ClientCertPath != "" || c.ClientKeyPath != "" {
		pair, err := tls.LoadX509KeyPair(c.ClientCertPath, c.ClientKeyPath)
		if err != nil {
			err = fmt.Errorf("ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH: %w", err)
		}
		config.Certificates, faults = []tls.Certificate{pair}, errors.Join(faults, err)
	}
	return config, faults
}
