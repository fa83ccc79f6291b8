package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/config/readfile"
)

// Config is how a cluster is reached: by its settings, which were checked when they were read.
type Config struct {
	config.Cluster
	// TokenHTTP sends the requests for tokens; nil for [http.DefaultTransport].
	TokenHTTP http.RoundTripper
	// Dial connects to the gateway; nil for a TCP connection.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// TLS returns the configuration for TLS 1.2 or newer, nil for a connection in plaintext. Its error names
// every fault of the files, by their settings, one a line.
func (c Config) TLS() (secured *tls.Config, faults error) {
	if c.Address().Plaintext() {
		return nil, nil
	}
	secured = &tls.Config{MinVersion: tls.VersionTLS12}
	if c.ZeebeCACertificate != "" {
		var err error
		if secured.RootCAs, err = readfile.Authorities(c.ZeebeCACertificate); err != nil {
			faults = fmt.Errorf("ZEEBE_CA_CERTIFICATE_PATH: %w", err)
		}
	}
	if c.ZeebeClientCertificate != "" || c.ZeebeClientKey != "" {
		pair, err := tls.LoadX509KeyPair(c.ZeebeClientCertificate, c.ZeebeClientKey)
		if err != nil {
			err = fmt.Errorf("ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH: %w", err)
		}
		secured.Certificates, faults = []tls.Certificate{pair}, errors.Join(faults, err)
	}
	return secured, faults
}
