package ops_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/testing/certtest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// withTLS returns options with a new certificate, and what they log.
func withTLS(t *testing.T) (o ops.Options, logs *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	o = options(always)
	o.CertificatePath, o.KeyPath = certtest.Files(t)
	o.Logger = zap.New(core)
	return o, logs
}

// shown returns the serial number of the certificate that a server shows.
func shown(t *testing.T, address string, most uint16) (serial int64, err error) {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: most})
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), nil
}

func TestACertificateIsRenewedWithoutARestart(t *testing.T) {
	o, _ := withTLS(t)
	address := serve(t, o)
	want := func(serial int64, when string) {
		t.Helper()
		if got, err := shown(t, address, tls.VersionTLS13); got != serial || err != nil {
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
	o, _ := withTLS(t)
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
	if _, err := shown(t, address, tls.VersionTLS11); err == nil {
		t.Error("TLS 1.1 is served")
	}
	if _, err := shown(t, address, tls.VersionTLS12); err != nil {
		t.Errorf("TLS 1.2 is not served: %v", err)
	}
}

func TestHandshakesThatFailDoNotFillTheLog(t *testing.T) {
	o, logs := withTLS(t)
	address := serve(t, o)
	for range 50 {
		conn, err := net.Dial("tcp", address)
		check.Must(t, err)
		_, _ = conn.Write([]byte("this is no TLS at all\r\n\r\n"))
		_, _ = conn.Read(make([]byte, 100)) // until the server has given up
		check.Must(t, conn.Close())
	}
	if n := logs.Len(); n > 0 {
		t.Errorf("%d lines: %v", n, logs.All()[0])
	}
}
