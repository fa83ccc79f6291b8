package zeebe

import (
	"crypto/tls"
	"errors"
	"fmt"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/readfile"
)

// transport is how the connection is secured: not at all, or by TLS 1.2 or newer. What is wrong with the certificates
// shows here, where they are read.
func (c Config) transport() (credentials.TransportCredentials, error) {
	if c.Plaintext {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	var faults []error
	if c.CACertPath != "" {
		pool, err := readfile.Authorities(c.CACertPath)
		if err != nil {
			faults = append(faults, fmt.Errorf("ZEEBE_CA_CERTIFICATE_PATH: %w", err))
		}
		config.RootCAs = pool
	}
	if c.ClientCertPath != "" || c.ClientKeyPath != "" {
		pair, err := readfile.Pair(c.ClientCertPath, c.ClientKeyPath)
		if err != nil {
			faults = append(faults, fmt.Errorf("ZEEBE_CLIENT_CERTIFICATE_PATH, ZEEBE_CLIENT_KEY_PATH: %w", err))
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(config), errors.Join(faults...)
}
