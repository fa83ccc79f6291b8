package ops_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/testing/certtest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// withTLS returns options with a new certificate.
func withTLS(t *testing.T) ops.Options {
	t.Helper()
	o := options(always)
	o.CertificatePath, o.KeyPath = certtest.Files(t)
	return o
}

// shown returns the serial number of the certificate that a server shows.
func shown(address string) (serial int64, err error) {
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), nil
}

func TestACertificateIsRenewedWithoutARestart(t *testing.T) {
	o := withTLS(t)
	address := serve(t, o)
	want := func(serial int64, when string) {
		t.Helper()
		if got, err := shown(address); got != serial || err != nil {
			t.Errorf("%s the certificate is %d, error %v; want %d", when, got, err, serial)
		}
	}
	want(1, "at first")
	certificate, key := certtest.Pair(t, 2)
	certtest.Write(t, o.CertificatePath, certificate)
	want(1, "while only half of the new pair is there")
	certtest.Write(t, o.KeyPath, key)
	want(2, "once the new pair is there")
	check.Must(t, os.Remove(o.CertificatePath))
	want(2, "while the file is away")
}

func TestTLSIsServedAndPlaintextIsNot(t *testing.T) {
	o := withTLS(t)
	address := serve(t, o)
	trusting := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	if a, err := do(t.Context(), trusting, "GET", "https://"+address+"/metrics", ""); err != nil || a.StatusCode != 200 || !strings.Contains(a.body, "seen_total") {
		t.Errorf("TLS gets %d %q, %v", a.StatusCode, a.body, err)
	}
	if a := request(t, "GET", "http://"+address+"/metrics", ""); a.StatusCode != 400 || strings.Contains(a.body, "seen_total") {
		t.Errorf("plaintext gets %d %q", a.StatusCode, a.body)
	}
}
