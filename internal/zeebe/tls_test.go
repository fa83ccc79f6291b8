package zeebe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// authority issues the certificates of a test and keeps them in files.
type authority struct {
	t           *testing.T
	dir         string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = newKey(t)
	a.certificate = a.sign("ca", template, template, a.key, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue makes a certificate for a host name and returns the paths of it and of its key.
func (a *authority) issue(name string, validFor time.Duration) (certificate, key string) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(validFor),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	a.sign(name, template, a.certificate, newKey(a.t), a.key)
	return a.path(name), a.path(name + ".key")
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name+".pem") }

func (a *authority) sign(name string, template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) *x509.Certificate {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name, "CERTIFICATE", der)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name+".key", "PRIVATE KEY", keyDER)
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return certificate
}

func (a *authority) write(name, kind string, der []byte) {
	if err := os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// serveTLS starts a gateway that shows a certificate, and returns its address.
func serveTLS(t *testing.T, certificate, key string, change func(*tls.Config)) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}}
	if change != nil {
		change(config)
	}
	g := gatewaytest.New(grpc.Creds(credentials.NewTLS(config)))
	t.Cleanup(g.Close)
	address, err := g.Listen()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// reach asks a gateway for its topology.
func reach(t *testing.T, c Config) error {
	t.Helper()
	client, err := Dial(c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = client.Topology(ctx)
	return err
}

func TestOnlyTheRightGatewayIsTrusted(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	certificate, key := ours.issue("zeebe.example", time.Hour)
	old, oldKey := ours.issue("old.example", -time.Minute)
	good := serveTLS(t, certificate, key, nil)
	expired := serveTLS(t, old, oldKey, nil)
	obsolete := serveTLS(t, certificate, key, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11; c.MinVersion = tls.VersionTLS10 })
	for name, test := range map[string]struct {
		config Config
		refuse string // what the error says; empty where the gateway is to be trusted
	}{
		"custom authority and the certificate's name": {Config{Address: good, CACertPath: ours.path("ca"), OverrideAuthority: "zeebe.example"}, ""},
		"another name":       {Config{Address: good, CACertPath: ours.path("ca")}, "127.0.0.1"},
		"another authority":  {Config{Address: good, CACertPath: others.path("ca"), OverrideAuthority: "zeebe.example"}, "unknown authority"},
		"system authorities": {Config{Address: good, OverrideAuthority: "zeebe.example"}, "failed to verify certificate"}, // in the system's words
		"expired":            {Config{Address: expired, CACertPath: ours.path("ca"), OverrideAuthority: "old.example"}, "expired"},
		"TLS 1.1":            {Config{Address: obsolete, CACertPath: ours.path("ca"), OverrideAuthority: "zeebe.example"}, "protocol version"},
		"no TLS":             {Config{Address: good, Plaintext: true}, "Unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			err := reach(t, test.config)
			if test.refuse == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.refuse) {
				t.Errorf("error is %v, want %q", err, test.refuse)
			}
		})
	}
}

func TestAClientCertificateIsShownToWhoAsksForOne(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	certificate, key := ours.issue("zeebe.example", time.Hour)
	address := serveTLS(t, certificate, key, func(c *tls.Config) {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.ClientCAs = x509.NewCertPool()
		c.ClientCAs.AddCert(ours.certificate)
	})
	config := Config{Address: address, CACertPath: ours.path("ca"), OverrideAuthority: "zeebe.example"}

	if err := reach(t, config); err == nil {
		t.Error("reached without a certificate")
	}
	config.ClientCertPath, config.ClientKeyPath = ours.issue("worker.example", time.Hour)
	if err := reach(t, config); err != nil {
		t.Errorf("not reached with the right certificate: %v", err)
	}
	config.ClientCertPath, config.ClientKeyPath = others.issue("worker.example", time.Hour)
	if err := reach(t, config); err == nil {
		t.Error("reached with a certificate of another authority")
	}
}
