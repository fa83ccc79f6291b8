package app_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/certtest"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestMetricsAreServedByTLSAndForTheTokenWhereBothAreSet(t *testing.T) {
	_, address := gateway(t)
	cfg := settings(t, address)
	cfg.HTTPCertificate, cfg.HTTPKey = certtest.Files(t)
	cfg.HTTPToken = config.Secret("0123456789abcdef")
	r := start(t, cfg)
	trusting := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	for authorization, want := range map[string]int{"": http.StatusUnauthorized, "Bearer 0123456789abcdef": http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(r.url, "http:", "https:", 1)+"/metrics", nil)
		check.Must(t, err)
		request.Header.Set("Authorization", authorization)
		response, err := trusting.Do(request)
		check.Must(t, err)
		_ = response.Body.Close()
		check.Same(t, want, response.StatusCode, "status for %q", authorization)
	}
}
