package app_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/config"
)

// borrowed puts the certificate that httptest brings, and its key, into files.
func borrowed(t *testing.T) (certificate, key string) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	pair := s.TLS.Certificates[0]
	s.Close()
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for path, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

func TestMetricsAreServedByTLSAndForTheTokenWhereBothAreSet(t *testing.T) {
	_, address := gateway(t)
	cfg := settings(t, address)
	cfg.HTTPCertificate, cfg.HTTPKey = borrowed(t)
	cfg.HTTPToken = config.Secret("0123456789abcdef")
	r := start(t, cfg)
	trusting := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	for authorization, want := range map[string]int{"": http.StatusUnauthorized, "Bearer 0123456789abcdef": http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(r.url, "http:", "https:", 1)+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", authorization)
		response, err := trusting.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%q gets %d, want %d", authorization, response.StatusCode, want)
		}
	}
}
