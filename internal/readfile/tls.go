package readfile

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// Pair reads a certificate and its key, both PEM, as tls.LoadX509KeyPair does.
func Pair(certificatePath, keyPath string) (tls.Certificate, error) {
	certificate, _, err := Read(certificatePath, MaxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, _, err := Read(keyPath, MaxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certificate, key)
}

// Authorities reads the certificates of a PEM file, of which there must be at least one.
func Authorities(path string) (*x509.CertPool, error) {
	text, _, err := Read(path, MaxPEM)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", path)
	}
	return pool, nil
}
