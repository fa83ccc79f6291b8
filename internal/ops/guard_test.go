package ops_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

const token = "0123456789abcdef"

func away(context.Context) error { return errors.New("gateway zeebe:26500 away") }

func TestTheTokenGuardsMetricsAndReasonsAndNothingElse(t *testing.T) {
	o := options(away)
	o.Token = token
	url := "http://" + serve(t, o)
	for _, test := range []struct {
		path, authorization string
		status              int
		body                string // the beginning of it
	}{
		{"/metrics", "Bearer " + token, 200, "# HELP"},
		{"/metrics", "bearer " + token, 200, "# HELP"},
		{"/metrics", "", 401, "the bearer token is not that of RETRY_HTTP_TOKEN"},
		{"/metrics", "Bearer ", 401, "the bearer token"},
		{"/metrics", "Bearer " + token + "0", 401, "the bearer token"},
		{"/metrics", "Bearer " + token[1:], 401, "the bearer token"},
		{"/metrics", "Basic " + token, 401, "the bearer token"},
		{"/metrics", token, 401, "the bearer token"},
		{"/metrics?token=" + token, "", 401, "the bearer token"},
		{"/readyz", "Bearer " + token, 503, "not ready: gateway zeebe:26500 away\n"},
		{"/readyz", "", 503, "not ready\n"}, // from this host too: a proxy may stand here
		{"/readyz", "Bearer wrong", 503, "not ready\n"},
		{"/healthz", "", 200, "ok\n"},
	} {
		t.Run(test.path+" "+test.authorization, func(t *testing.T) {
			response := request(t, "GET", url+test.path, test.authorization)
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
	ask := func(address, host, path string) answer {
		request, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+path, nil)
		check.Must(t, err)
		request.Host = host
		response, err := client.Do(request)
		check.Must(t, err)
		text, err := io.ReadAll(response.Body)
		check.Must(t, errors.Join(err, response.Body.Close()))
		return answer{response, string(text)}
	}
	for host, answered := range map[string]bool{
		"localhost":              true,
		"LOCALHOST:8080":         true,
		"127.0.0.1":              true,
		"127.0.0.1:1":            true,
		"[::1]":                  true,
		"[::1]:8080":             true,
		"evil.example":           false,
		"evil.example:8080":      false,
		"localhost.evil.example": false,
		"10.0.0.1:8080":          false,
		"0.0.0.0:8080":           false,
	} {
		for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
			a := ask(loopback, host, path)
			refused := a.StatusCode == http.StatusMisdirectedRequest && strings.Contains(a.body, "RETRY_HTTP_ADDRESS")
			if refused == answered {
				t.Errorf("%s of %q on loopback: %d %q", path, host, a.StatusCode, a.body)
			}
			if a := ask("127.0.0.1:"+port, host, path); a.StatusCode == http.StatusMisdirectedRequest {
				t.Errorf("%s of %q on all addresses: %d %q", path, host, a.StatusCode, a.body)
			}
		}
	}
}
