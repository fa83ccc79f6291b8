// Package certtest issues certificates for tests.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/check"
)

// Authority is a certificate authority. The zero value signs each certificate with that certificate's own key.
type Authority struct {
	// PEM is the authority's own certificate.
	PEM []byte

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority returns an authority that is valid for a day.
func NewAuthority(t *testing.T) *Authority {
	t.Helper()
	a := &Authority{}
	a.PEM, a.certificate, a.key = a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// Issue returns a certificate for a host, which is a name or an IP address, and its key, both as PEM. Servers and clients
// may use it for an hour.
func (a *Authority) Issue(t *testing.T, serial int64, host string) (certificate, key []byte) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	certificate, _, private := a.sign(t, template)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	check.Must(t, err)
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// sign makes a key and its certificate.
func (a *Authority) sign(t *testing.T, template *x509.Certificate) ([]byte, *x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.Must(t, err)
	parent, by := a.certificate, a.key
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	check.Must(t, err)
	certificate, err := x509.ParseCertificate(der)
	check.Must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), certificate, key
}

// Pair returns a certificate for 127.0.0.1 that signs itself and is valid for an hour, and its key, both as PEM.
func Pair(t *testing.T, serial int64) (certificate, key []byte) {
	t.Helper()
	return (&Authority{}).Issue(t, serial, "127.0.0.1")
}

// Files puts such a pair, with serial number 1, into files that only their owner can read, and returns their paths.
func Files(t *testing.T) (certificate, key string) {
	t.Helper()
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	certificatePEM, keyPEM := Pair(t, 1)
	Write(t, certificate, certificatePEM)
	Write(t, key, keyPEM)
	return certificate, key
}

// Write puts a text into a file that only its owner can read.
func Write(t *testing.T, path string, content []byte) {
	t.Helper()
	check.Must(t, os.WriteFile(path, content, 0o600))
}
