package ops_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

const token = "0123456789abcdef"

func away() error { return errors.New("gateway zeebe:26500 away\n  for 3 s") }

func TestEveryPathAnswersWhatItIsAskedFor(t *testing.T) {
	guarded := options(away)
	guarded.Token = token
	open, closed := "http://"+serve(t, options(away)), "http://"+serve(t, guarded)
	for _, test := range []struct {
		method, url, authorization string
		status                     int
		body                       string // the beginning of it
	}{
		{"GET", open + "/healthz", "", 200, "ok\n"}, // whatever the broker does
		{"GET", open + "/readyz", "", 503, "not ready: gateway zeebe:26500 away for 3 s\n"},
		{"GET", open + "/metrics", "", 200, "# HELP"},
		{"HEAD", open + "/healthz", "", 200, ""},
		{"POST", open + "/healthz", "", 405, ""},
		{"GET", open + "/admin", "", 404, ""},
		{"GET", closed + "/metrics", "Bearer " + token, 200, "# HELP"},
		{"GET", closed + "/metrics", "bearer " + token, 200, "# HELP"},
		{"GET", closed + "/metrics", "", 401, "the bearer token is not that of RETRY_HTTP_TOKEN"},
		{"GET", closed + "/metrics", "Bearer " + token + "0", 401, "the bearer token"},
		{"GET", closed + "/metrics", "Basic " + token, 401, "the bearer token"},
		{"GET", closed + "/metrics?token=" + token, "", 401, "the bearer token"},
		{"GET", closed + "/readyz", "Bearer " + token, 503, "not ready: gateway zeebe:26500 away for 3 s\n"},
		{"GET", closed + "/readyz", "", 503, "not ready\n"},
		{"GET", closed + "/healthz", "", 200, "ok\n"},
	} {
		t.Run(test.method+" "+test.url+" "+test.authorization, func(t *testing.T) {
			response := ask(t, test.method, test.url, map[string]string{"Authorization": test.authorization})
			if response.StatusCode != test.status || !strings.HasPrefix(response.body, test.body) {
				t.Errorf("got %d %q, want %d %q", response.StatusCode, response.body, test.status, test.body)
			}
			challenge := response.Header.Get("WWW-Authenticate")
			if want := `Bearer realm="analyze-retry"`; (response.StatusCode == 401) != (challenge == want) {
				t.Errorf("the challenge is %q", challenge)
			}
			if strings.Contains(response.body, token) {
				t.Error("the answer shows the token")
			}
		})
	}
}

// A page in a browser on this host may have led its own host's name here.
func TestOnLoopbackOnlyLoopbackNamesAreAnswered(t *testing.T) {
	everywhere := options(away)
	everywhere.Address = ":0"
	_, port, err := net.SplitHostPort(serve(t, everywhere))
	check.Must(t, err)
	loopback := serve(t, options(away))
	metricsOf := func(address, host string) answer {
		return ask(t, "GET", "http://"+address+"/metrics", map[string]string{"Host": host})
	}
	for host, answered := range map[string]bool{
		"localhost":              true,
		"LOCALHOST:8080":         true,
		"127.0.0.1:1":            true,
		"[::1]:8080":             true,
		"evil.example":           false,
		"localhost.evil.example": false,
		"0.0.0.0:8080":           false,
	} {
		a := metricsOf(loopback, host)
		refused := a.StatusCode == http.StatusMisdirectedRequest && strings.Contains(a.body, "RETRY_HTTP_ADDRESS")
		if refused == answered {
			t.Errorf("%q on loopback: %d %q", host, a.StatusCode, a.body)
		}
		if a := metricsOf("127.0.0.1:"+port, host); a.StatusCode == http.StatusMisdirectedRequest {
			t.Errorf("%q on all addresses: %d %q", host, a.StatusCode, a.body)
		}
	}
}
