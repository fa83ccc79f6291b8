package certtest_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/certtest"
)

func TestACertificateIsTrustedByItsAuthorityOnly(t *testing.T) {
	authority, self := certtest.NewAuthority(t), &certtest.Authority{}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM)
	for name, c := range map[string]struct {
		by       *certtest.Authority
		validFor time.Duration
		host     string
		trusted  bool
	}{
		"a name":              {authority, time.Hour, "gateway.example", true},
		"an address":          {authority, time.Hour, "127.0.0.1", true},
		"expired":             {authority, -time.Hour, "gateway.example", false},
		"another name":        {authority, time.Hour, "other.example", false},
		"signed by itself":    {self, time.Hour, "gateway.example", false},
		"another authority's": {certtest.NewAuthority(t), time.Hour, "gateway.example", false},
	} {
		certificate, key := c.by.Issue(t, 2, c.validFor, "gateway.example", "127.0.0.1")
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: c.host})
		if (err == nil) != c.trusted {
			t.Errorf("%s: %v", name, err)
		}
	}
}
