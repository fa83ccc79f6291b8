package ops_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"hospital.example/analyze-retry/internal/ops"
)

// files are a certificate and its key on disk.
type files struct{ certificate, key string }

func newFiles(t *testing.T) files {
	t.Helper()
	dir := t.TempDir()
	return files{filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
}

// issue puts a new pair of this serial number into the files.
func (f files) issue(t *testing.T, serial int64) {
	t.Helper()
	certificate, key := pair(t, serial)
	f.write(t, f.certificate, certificate)
	f.write(t, f.key, key)
}

func (f files) write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// pair makes a certificate that signs itself, and its key.
func pair(t *testing.T, serial int64) (certificate, key []byte) {
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

// serveTLS serves with the certificate of these files and returns host:port and the log.
func serveTLS(t *testing.T, f files) (address string, logs *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	o := options("127.0.0.1:0", always)
	o.CertificatePath, o.KeyPath, o.Logger = f.certificate, f.key, zap.New(core)
	s, err := ops.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, s), logs
}

// shown is the serial number of the certificate that a server shows.
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
	f := newFiles(t)
	f.issue(t, 1)
	address, _ := serveTLS(t, f)
	want := func(serial int64, when string) {
		t.Helper()
		if got, err := shown(t, address, tls.VersionTLS13); got != serial || err != nil {
			t.Errorf("%s the certificate is %d, error %v; want %d", when, got, err, serial)
		}
	}
	want(1, "at first")
	certificate, key := pair(t, 2)
	f.write(t, f.certificate, certificate)
	want(1, "while only half of the new pair is there")
	f.write(t, f.key, key)
	want(2, "once the new pair is there")
	if err := os.Remove(f.certificate); err != nil {
		t.Fatal(err)
	}
	want(2, "while the file is away")
}

func TestTLSIsServedAndPlaintextIsNot(t *testing.T) {
	f := newFiles(t)
	f.issue(t, 1)
	address, _ := serveTLS(t, f)
	trusting := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	if a := get(t, trusting, "https://"+address+"/metrics", ""); a.StatusCode != 200 || !strings.Contains(a.body, "seen_total") {
		t.Errorf("TLS gets %d %q", a.StatusCode, a.body)
	}
	if a := get(t, client, "http://"+address+"/metrics", ""); a.StatusCode != 400 || strings.Contains(a.body, "seen_total") {
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
	f := newFiles(t)
	f.issue(t, 1)
	address, logs := serveTLS(t, f)
	for range 50 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte("this is no TLS at all\r\n\r\n"))
		_, _ = conn.Read(make([]byte, 100)) // until the server has given up
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := logs.Len(); n > 0 {
		t.Errorf("%d lines: %v", n, logs.All()[0])
	}
}

func TestAPanicInTheServerIsLogged(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	o := options("127.0.0.1:0", always)
	o.Metrics, o.Logger = nil, zap.New(core) // so that a scrape panics
	s, err := ops.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tryGet(t.Context(), client, "http://"+run(t, s)+"/metrics", ""); err == nil {
		t.Error("a scrape of nothing is answered")
	}
	if logs.FilterMessageSnippet("panic serving").Len() != 1 {
		t.Errorf("the log has %v", logs.All())
	}
}

func TestACertificateThatCannotBeUsedNamesItsSettings(t *testing.T) {
	f := newFiles(t)
	f.issue(t, 1)
	_, other := pair(t, 2)
	f.write(t, f.key, other)
	o := options("127.0.0.1:0", always)
	o.CertificatePath, o.KeyPath = f.certificate, f.key
	_, err := ops.New(o)
	if err == nil || !strings.Contains(err.Error(), "RETRY_HTTP_TLS_CERTIFICATE_PATH, RETRY_HTTP_TLS_KEY_PATH: ") {
		t.Errorf("error = %v", err)
	}
}
