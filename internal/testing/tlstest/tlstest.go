// Package tlstest makes certificates for tests.
package tlstest

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
)

// Pair makes a certificate for 127.0.0.1 that signs itself, and its key, both PEM.
func Pair(t *testing.T, serial int64) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "worker"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	privateDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: privateDER})
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
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
