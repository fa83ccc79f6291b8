package transporttest

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

// authority is a certificate authority.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newAuthority makes an authority, and returns the path of its certificate too.
func newAuthority(t *testing.T) (a *authority, ca string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.Must(t, err)
	a = &authority{template, key}
	return a, writePEM(t, "ca.pem", "CERTIFICATE", a.sign(t, template, &key.PublicKey))
}

// issue makes a certificate for 127.0.0.1, which servers and clients may use, and returns the paths of it and
// of its key.
func (a *authority) issue(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.Must(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	check.Must(t, err)
	der := a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, &private.PublicKey)
	return writePEM(t, "tls.crt", "CERTIFICATE", der), writePEM(t, "tls.key", "PRIVATE KEY", pkcs8)
}

func (a *authority) sign(t *testing.T, template *x509.Certificate, public *ecdsa.PublicKey) (der []byte) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, public, a.key)
	check.Must(t, err)
	return der
}

// writePEM writes a file that only its owner can read, and returns its path.
func writePEM(t *testing.T, name, kind string, der []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	check.Must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}
