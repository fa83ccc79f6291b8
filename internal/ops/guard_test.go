package ops_test

import (
	"context"
	"errors"
	"strings"
	"testing"
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
		{"/metrics", "", 401, "the bearer token is missing or wrong"},
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
